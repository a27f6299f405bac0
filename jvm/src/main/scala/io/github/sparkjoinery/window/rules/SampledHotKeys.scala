package io.github.sparkjoinery.window.rules

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{ImperativeAggregate, TypedImperativeAggregate}
import org.apache.spark.sql.catalyst.trees.TernaryLike
import org.apache.spark.sql.joinery.JavaBytes
import org.apache.spark.sql.types.DataType

import io.github.sparkjoinery.execution.skew.Reservoir
import io.github.sparkjoinery.window.logical.{FrameReach, HotKey, SampledTime}

/**
 * Aggregate function that finds hot keys and their cuts from a sample of each task's rows.
 *
 * @param id
 *   the hash of a row's key, see [[SampledTime]]
 * @param nullTime
 *   the long for NULL
 * @param parts
 *   the most parts of a key
 * @param partitions
 *   the partitions of the shuffle
 */
private[window] case class SampledHotKeys(
    id: Expression,
    spread: Expression,
    time: Expression,
    nullTime: Long,
    parts: Int,
    reach: FrameReach,
    partitions: Int,
    override val mutableAggBufferOffset: Int = 0,
    override val inputAggBufferOffset: Int = 0)
  extends TypedImperativeAggregate[SampledHotKeys.Taken] with TernaryLike[Expression] {
  import SampledHotKeys._

  override def first: Expression = id
  override def second: Expression = spread
  override def third: Expression = time
  override def dataType: DataType = HotKey.ManyType
  override def nullable: Boolean = false

  override def createAggregationBuffer(): Taken = new Taken

  override def update(taken: Taken, row: InternalRow): Taken = {
    if (taken.own.wantsNext) {
      val at = time.eval(row)
      taken.own.keep(SampledTime(
        id.eval(row).asInstanceOf[Long],
        spread.eval(row).asInstanceOf[Int],
        if (at == null) nullTime else at.asInstanceOf[Long],
        weight = 1))
    } else taken.own.skip()
    taken
  }

  override def merge(taken: Taken, other: Taken): Taken = {
    taken.others ++= other.all
    taken
  }

  override def eval(taken: Taken): Any =
    HotKey.toValue(HotKey.find(taken.all, parts, reach, partitions, mostCopied = None, LeastPoints))

  override def serialize(taken: Taken): Array[Byte] = JavaBytes.write(taken.all.toArray)

  override def deserialize(bytes: Array[Byte]): Taken = {
    val taken = new Taken
    taken.others ++= JavaBytes.read[Array[SampledTime]](bytes)
    taken
  }

  override def withNewMutableAggBufferOffset(offset: Int): ImperativeAggregate = copy(mutableAggBufferOffset = offset)
  override def withNewInputAggBufferOffset(offset: Int): ImperativeAggregate = copy(inputAggBufferOffset = offset)

  override protected def withNewChildrenInternal(
      newFirst: Expression,
      newSecond: Expression,
      newThird: Expression): SampledHotKeys = copy(id = newFirst, spread = newSecond, time = newThird)
}

private[window] object SampledHotKeys {
  private val SizeOfTask = 4096

  /** An estimate from this many random points is hardly ever off by a half. */
  private val LeastPoints = 64

  /** A sample of a task's own rows, and the samples of other tasks. */
  final class Taken {
    val own = new Reservoir[SampledTime](SizeOfTask)
    val others = new mutable.ArrayBuffer[SampledTime]
    def all: Seq[SampledTime] = own.kept.map(_.copy(weight = own.rowsPerKept)) ++ others
  }
}

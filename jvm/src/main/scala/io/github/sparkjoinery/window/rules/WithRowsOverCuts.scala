package io.github.sparkjoinery.window.rules

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.DataType

import io.github.sparkjoinery.window.logical.{FrameReach, HotKey}

/**
 * Hot keys whose cuts have at least as many rows within `froms` and `tos` as ROWS frames hold over the cut. The
 * distance to these rows is exact to an eighth.
 *
 * @param counts
 *   an array of structs: a key's hash, the key, a bucket, and the number of its rows
 * @param numKeys
 *   the number of columns of a key
 */
private[window] case class WithRowsOverCuts(
    hotKeys: Expression,
    counts: Expression,
    numKeys: Int,
    reach: FrameReach)
  extends BinaryExpression with CodegenFallback {
  override def left: Expression = hotKeys
  override def right: Expression = counts
  override def dataType: DataType = HotKey.ManyType
  override def nullable: Boolean = false

  override def eval(input: InternalRow): Any = {
    val keys = HotKey.ofValue(hotKeys.eval(input))
    val rows = counts.eval(input).asInstanceOf[ArrayData]
    val counted = (0 until rows.numElements()).map(rows.getStruct(_, 4)).filterNot(_.isNullAt(2))
    val byId = counted.groupBy(_.getLong(0))
    // Several keys may have one hash. The key that needs the widest range decides.
    HotKey.toValue(keys.map { key =>
      val byRange = key.copy(froms = key.cuts.map(reach.from), tos = key.cuts.map(reach.to))
      byId.getOrElse(key.id, Nil).groupBy(_.getStruct(1, numKeys)).values.foldLeft(byRange)(widened)
    })
  }

  private def widened(key: HotKey, counted: Seq[InternalRow]): HotKey = {
    def count(distance: Long => Int): Map[Int, Seq[(Int, Long)]] =
      counted.filter(row => distance(row.getLong(2)) != Bucket.Uncounted).groupBy(row => Bucket.part(row.getLong(2)))
        .map { case (part, rows) =>
          part -> rows.map(row => distance(row.getLong(2)) -> row.getLong(3)).sortBy(_._1)
        }
    val (before, after) = (count(Bucket.before), count(Bucket.after))
    val last = key.cuts.length
    key.copy(
      froms = key.froms.indices.map { cut =>
        val nearest = (cut to 0 by -1).iterator.flatMap(part => before.getOrElse(part, Nil).map(part -> _))
        val from = reached(nearest, reach.rowsBefore).map { case (part, distance) =>
          (BigInt(key.cuts(part)) - Bucket.most(distance)).max(if (part == 0) Long.MinValue else key.cuts(part - 1))
        }
        if (reach.rowsBefore == 0) key.froms(cut) else key.froms(cut).min(from.fold(Long.MinValue)(_.toLong))
      }.toArray,
      tos = key.tos.indices.map { cut =>
        val nearest = (cut + 1 to last).iterator.flatMap(part => after.getOrElse(part, Nil).map(part -> _))
        val to = reached(nearest, reach.rowsAfter).map { case (part, distance) =>
          (BigInt(key.cuts(part - 1)) + Bucket.most(distance) - 1)
            .min(if (part == last) BigInt(Long.MaxValue) else BigInt(key.cuts(part)) - 1)
        }
        if (reach.rowsAfter == 0) key.tos(cut) else key.tos(cut).max(to.fold(Long.MaxValue)(_.toLong))
      }.toArray
    )
  }

  /** The first bucket up to which there are this many rows. */
  private def reached(nearest: Iterator[(Int, (Int, Long))], rows: Int): Option[(Int, Int)] = {
    var sum = 0L
    nearest.map { case (part, (distance, count)) => sum += count; (part, distance) }.find(_ => sum >= rows)
  }

  override protected def withNewChildrenInternal(newLeft: Expression, newRight: Expression): WithRowsOverCuts =
    copy(hotKeys = newLeft, counts = newRight)
}

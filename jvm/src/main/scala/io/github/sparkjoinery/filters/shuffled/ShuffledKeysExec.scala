package io.github.sparkjoinery.filters.shuffled

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types.{BinaryType, DataType, StructType}

import io.github.sparkjoinery.filters.built.KeyHashes

/**
 * The keys of rows that have been shuffled, as [[io.github.sparkjoinery.filters.built.KeySummary]] has them: one row of
 * one struct, whose only field is the filter. Each task sends its distinct hashes, and the driver brings them together.
 *
 * @param hash
 *   of a row's keys; NULL is left out, as it equals nothing
 * @param limit
 *   most keys that a filter is built for
 */
case class ShuffledKeysExec(hash: Expression, terms: Seq[Expression], limit: Int, child: SparkPlan) extends UnaryExecNode {
  override val output: Seq[Attribute] =
    Seq(AttributeReference("keys", new StructType().add("filter", BinaryType), nullable = false)())

  override def executeCollect(): Array[InternalRow] = {
    val all = KeyHashes(limit)
    val extremes = new Extremes(terms.map(_.dataType))
    summaries().collect().foreach { case (bytes, found) =>
      all.addAll(KeyHashes.ofBytes(bytes, limit))
      extremes.addAll(found)
    }
    Array(InternalRow(InternalRow.fromSeq(all.toFilter.orNull +: extremes.values.toSeq)))
  }

  private def summaries(): RDD[(Array[Byte], Array[Any])] = {
    val (bound, most) = (BindReferences.bindReferences(hash +: terms, child.output), limit)
    child.execute().mapPartitions { rows =>
      val project = UnsafeProjection.create(bound)
      val hashes = KeyHashes(most)
      val types = bound.tail.map(_.dataType)
      val extremes = new Extremes(types)
      rows.map(project).filterNot(_.isNullAt(0)).foreach { row =>
        hashes.add(row.getLong(0))
        extremes.add(row)
      }
      Iterator.single((hashes.toBytes, extremes.values))
    }
  }

  override protected def doExecute(): RDD[InternalRow] =
    throw new UnsupportedOperationException(s"$nodeName is collected")

  override protected def withNewChildInternal(newChild: SparkPlan): ShuffledKeysExec = copy(child = newChild)
}

private class Extremes(types: Seq[DataType]) {
  private val orders = types.map(TypeUtils.getInterpretedOrdering).toArray
  val values: Array[Any] = new Array(2 * types.length)

  def add(row: InternalRow): Unit = for (i <- orders.indices) if (!row.isNullAt(i + 1)) {
    val value = row.get(i + 1, types(i))
    take(2 * i, value, -1)
    take(2 * i + 1, value, 1)
  }

  def addAll(others: Array[Any]): Unit = for (i <- values.indices) if (others(i) != null) take(i, others(i), if (i % 2 == 0) -1 else 1)

  private def take(place: Int, value: Any, sign: Int): Unit =
    if (values(place) == null || orders(place / 2).compare(value, values(place)) * sign > 0) values(place) = value
}

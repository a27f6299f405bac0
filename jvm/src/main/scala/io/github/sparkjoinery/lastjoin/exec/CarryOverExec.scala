package io.github.sparkjoinery.lastjoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

import io.github.sparkjoinery.execution.skew.Cuts

/**
 * Computes [[io.github.sparkjoinery.lastjoin.logical.CarryOver]]. Each task carries over at most one row per part: the
 * last one among its own rows before the part. If several tasks carry a row into the same part, the join takes the last
 * of them, as always.
 *
 * @param order
 *   ORDER BY and tie-breaker
 */
case class CarryOverExec(
    part: Attribute,
    time: Expression,
    cuts: Expression,
    labels: Seq[Int],
    order: Seq[SortOrder],
    child: SparkPlan)
  extends UnaryExecNode {

  override def nodeName: String = "CarryOver"
  override def output: Seq[Attribute] = child.output :+ part
  override def producedAttributes: AttributeSet = AttributeSet(part)

  override lazy val metrics = Map(
    "splitParts" -> SQLMetrics.createMetric(sparkContext, "split parts"),
    "carriedRows" -> SQLMetrics.createMetric(sparkContext, "rows carried over a cut"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val boundaries = cuts.eval() match { case array: ArrayData => array.toLongArray(); case _ => Array.empty[Long] }
    longMetric("splitParts").set(boundaries.length + 1)
    val numOutputRows = longMetric("numOutputRows")
    val carriedRows = longMetric("carriedRows")
    val (columns, timeTerm, orderTerms, out, partLabels) = (child.output, time, order, output, labels.toArray)
    child.execute().mapPartitions { rows =>
      val timeOf = UnsafeProjection.create(Seq(timeTerm), columns)
      val ordering = RowOrdering.create(orderTerms, columns)
      val label = new GenericInternalRow(1)
      val joined = new JoinedRow
      val toUnsafe = UnsafeProjection.create(out, out)
      val last = new Array[InternalRow](boundaries.length + 1)

      def labelled(row: InternalRow, part: Int): InternalRow = {
        label.setInt(0, partLabels(part))
        numOutputRows += 1
        toUnsafe(joined(row, label))
      }
      val own = rows.flatMap { row =>
        val time = timeOf(row)
        if (time.isNullAt(0)) None
        else {
          val part = Cuts.partOf(time.getLong(0), boundaries)
          // no part follows the last one
          if (part < boundaries.length && (last(part) == null || ordering.compare(row, last(part)) > 0))
            last(part) = row.copy()
          Some(labelled(row, part))
        }
      }
      def carried: Iterator[InternalRow] = {
        var prevailing: InternalRow = null
        (1 to boundaries.length).iterator.flatMap { part =>
          if (last(part - 1) != null) prevailing = last(part - 1)
          Option(prevailing).map { row => carriedRows += 1; labelled(row, part) }
        }
      }
      own ++ carried
    }
  }

  override protected def stringArgs: Iterator[Any] = Iterator(part, time, cuts)
  override protected def withNewChildInternal(newChild: SparkPlan): CarryOverExec = copy(child = newChild)
}

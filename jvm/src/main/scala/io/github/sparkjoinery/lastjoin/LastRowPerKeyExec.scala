package io.github.sparkjoinery.lastjoin

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

import io.github.sparkjoinery.execution.rows.{RowGrouping, TaskRowsBuilder}

/**
 * Keeps the last row of each key within one partition. It only saves work for the operators above, so it may stop. If
 * memory runs short, it emits the rows that it holds and starts again. If most keys turn out to be distinct, it passes
 * the remaining rows through.
 *
 * @param keys
 *   the right side's join keys
 * @param order
 *   the join's ORDER BY and tie-breaker
 */
case class LastRowPerKeyExec(keys: Seq[Expression], order: Seq[SortOrder], child: SparkPlan) extends UnaryExecNode {

  override def nodeName: String = "LastRowPerKey"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics = Map(
    "numInputRows" -> SQLMetrics.createMetric(sparkContext, "number of input rows"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val terms = RowGrouping(
      BindReferences.bindReferences(keys, child.output),
      BindReferences.bindReferences(order, child.output),
      time = None,
      onlyLast = true,
      child.output.length)
    val (numInputRows, numOutputRows) = (longMetric("numInputRows"), longMetric("numOutputRows"))
    child.execute().mapPartitions(rows =>
      new LastRows(rows, terms, numInputRows).map { row => numOutputRows += 1; row })
  }

  override protected def withNewChildInternal(newChild: SparkPlan): LastRowPerKeyExec = copy(child = newChild)
}

/** @param rows the rows of one partition */
private[lastjoin] class LastRows(rows: Iterator[InternalRow], terms: RowGrouping, read: SQLMetric)
  extends Iterator[InternalRow] {
  private var builder: TaskRowsBuilder = _
  private var refused: InternalRow = _
  private var letThrough = false
  private var reduced: Iterator[InternalRow] = Iterator.empty

  override def hasNext: Boolean = {
    while (!reduced.hasNext && !letThrough && (refused != null || rows.hasNext)) reduced = reduce()
    reduced.hasNext || refused != null || rows.hasNext
  }

  override def next(): InternalRow =
    if (!hasNext) Iterator.empty.next()
    else if (reduced.hasNext) reduced.next()
    else if (refused != null) { val row = refused; refused = null; row }
    else { read += 1; rows.next() }

  /** Reduces rows until the input ends, memory runs out, or too few keys repeat. */
  private def reduce(): Iterator[InternalRow] = {
    if (builder == null) builder = new TaskRowsBuilder(terms) else builder.begin()
    if (refused != null && !builder.add(refused.asInstanceOf[UnsafeRow])) {
      letThrough = true // not even one row fits
      return Iterator.empty
    }
    refused = null
    var count = 0
    while (refused == null && !letThrough && rows.hasNext) {
      val row = rows.next()
      count += 1
      if (!builder.add(row.asInstanceOf[UnsafeRow])) refused = row
      letThrough = count == LastRows.Sample && builder.numKeys > count * LastRows.WorthIt
    }
    read += count
    builder.drain()
  }
}

private object LastRows {
  val Sample: Int = 1 << 16

  /** The share of distinct keys beyond which the reduction costs more than it saves. */
  val WorthIt = 0.6
}

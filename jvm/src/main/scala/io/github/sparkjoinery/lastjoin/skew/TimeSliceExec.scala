package io.github.sparkjoinery.lastjoin.skew

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import io.github.sparkjoinery.execution.rows.{RowGrouping, TaskRowsBuilder}
import io.github.sparkjoinery.execution.skew.{Cuts, ShuffleReads}

/**
 * Reads each skewed partition as often as it has parts, and of each reading lets pass the rows of one part: a slice of
 * time. Of a right side, also the prevailing row of each key at the beginning of the slice, carried over from before,
 * so that the left rows of the slice find all that they could find in the whole.
 *
 * @param time
 *   a long over the child's output; rows in which it is NULL match nothing. Left ones are in the last part, where the
 *   last row of each key is, because their bound may fail and a candidate say whether that is an error
 * @param slices
 *   common to both sides
 * @param carry
 *   terms of the right side, for the right side
 * @param reads
 *   what each task reads of the shuffle, as the child said it last
 */
case class TimeSliceExec(
    time: Expression,
    slices: TimeSlices,
    carry: Option[RowGrouping],
    child: SparkPlan,
    reads: Option[Seq[ShufflePartitionSpec]] = None)
  extends UnaryExecNode {

  override def nodeName: String = "TimeSlice"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics = Map(
    "splitParts" -> SQLMetrics.createMetric(sparkContext, "split parts"),
    "storedCuts" -> SQLMetrics.createMetric(sparkContext, "partitions cut by a stored distribution"),
    "carriedRows" -> SQLMetrics.createMetric(sparkContext, "rows carried over a cut"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val rdd = child.execute()
    val slice = partsOfTasks(rdd.getNumPartitions) // by task
    val bound = BindReferences.bindReference(time, child.output)
    val (terms, parts, carried, numOutputRows) =
      (carry, longMetric("splitParts"), longMetric("carriedRows"), longMetric("numOutputRows"))
    rdd.mapPartitionsWithIndex { (task, rows) =>
      val passed = slice(task).fold(rows) { case (part, cuts) =>
        parts += 1
        new Slice(rows, UnsafeProjection.create(Seq(bound)), part, cuts, terms, carried)
      }
      passed.map { row => numOutputRows += 1; row }
    }
  }

  /**
   * Of each task, its part and the cuts, fewer than parts where all times are the same or NULL; None if its partition
   * is whole.
   */
  private def partsOfTasks(count: Int): Array[Option[(Int, Array[Long])]] = {
    val specs =
      ShuffleReads.ofTasks("A LAST JOIN", child, reads, count, "spark.joinery.lastJoin.skewSplit.enabled")
    val readings = specs.groupBy(identity).collect {
      case (CoalescedPartitionSpec(i, _, _), same) if same.length > 1 => i -> same.length
    }
    val cuts = slices.of(readings)
    longMetric("storedCuts").set(slices.storedAmong(readings.keys))
    SQLMetrics.postDriverMetricUpdates(
      sparkContext,
      sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY),
      Seq(longMetric("storedCuts")))
    specs.zipWithIndex.map { case (spec, i) =>
      val part = i - specs.indexOf(spec) // readings of one partition stand together
      spec match {
        case CoalescedPartitionSpec(partition, end, _) if end == partition + 1 => cuts.get(partition).map((part, _))
        case _ => None
      }
    }.toArray
  }

  override protected def stringArgs: Iterator[Any] = Iterator(time, slices)
  override protected def withNewChildInternal(newChild: SparkPlan): TimeSliceExec =
    copy(child = newChild, reads = ShuffleReads.remembered(newChild, child, reads))
}

/** The rows of one part; then, where terms are given, what is carried over into it. */
private class Slice(
    rows: Iterator[InternalRow],
    timeOf: UnsafeProjection,
    part: Int,
    cuts: Array[Long],
    carry: Option[RowGrouping],
    carried: SQLMetric)
  extends Iterator[InternalRow] {

  // Only the last row of each key matters. What finds no memory is let through, which does no harm.
  private lazy val before = carry.map(terms => new TaskRowsBuilder(terms.copy(onlyLast = true)))
  private var next_ : InternalRow = _
  private var rest: Iterator[InternalRow] = _

  override def hasNext: Boolean = {
    while (next_ == null && rows.hasNext) {
      val row = rows.next()
      val time = timeOf(row)
      val at = if (time.isNullAt(0)) { if (carry.isEmpty) cuts.length else Slice.Nowhere }
      else Cuts.partOf(time.getLong(0), cuts)
      if (at == part) next_ = row
      else if (at < part && at != Slice.Nowhere && before.exists(!_.add(row.asInstanceOf[UnsafeRow]))) next_ = row
    }
    if (next_ == null && rest == null) {
      rest = before.fold(Iterator.empty[InternalRow])(_.drain().map { row => carried += 1; row })
    }
    next_ != null || rest.hasNext
  }

  override def next(): InternalRow = {
    if (!hasNext) Iterator.empty.next()
    else if (next_ != null) { val row = next_; next_ = null; row }
    else rest.next()
  }
}

private object Slice {
  val Nowhere: Int = -1
}

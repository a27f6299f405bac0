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
 * Splits a skewed partition among several tasks by time. All of them read the whole partition; task i keeps the rows of
 * the i-th time slice. A right side also keeps, per key, the last row before the slice. Left rows of the slice then
 * find the same match as in the whole partition.
 *
 * @param time
 *   a long over the child's output. Rows with a NULL time match nothing. NULL times of the left side are in the last
 *   part.
 * @param slices
 *   shared by both sides
 * @param carry
 *   keys and order of the right side; None on the left side
 * @param reads
 *   the partition spec of each task that the child reported last
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
   * Returns the part and the cuts of each task; None if it reads a whole partition. There may be fewer cuts than parts,
   * if many times are equal or NULL.
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
      val part = i - specs.indexOf(spec) // tasks that read the same partition are adjacent
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

/** Iterates over the rows of one part, then over the rows carried into it if `carry` is given. */
private class Slice(
    rows: Iterator[InternalRow],
    timeOf: UnsafeProjection,
    part: Int,
    cuts: Array[Long],
    carry: Option[RowGrouping],
    carried: SQLMetric)
  extends Iterator[InternalRow] {

  // The last earlier row of each key. Rows that find no memory are passed on, which is safe: they are only too many.
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

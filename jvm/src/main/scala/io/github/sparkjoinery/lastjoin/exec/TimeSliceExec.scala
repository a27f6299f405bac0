package io.github.sparkjoinery.lastjoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.metric.SQLMetrics

import io.github.sparkjoinery.execution.rows.RowGrouping
import io.github.sparkjoinery.execution.skew.ShuffleReads
import io.github.sparkjoinery.lastjoin.runtime.PartRowIterator

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
        new PartRowIterator(rows, UnsafeProjection.create(Seq(bound)), part, cuts, terms, carried)
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
    val cuts = slices.cutsOf(readings)
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

package io.github.sparkjoinery.filters.built

import java.util.UUID
import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.memory.SparkOutOfMemoryError
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{BaseSubqueryExec, SQLExecution, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.joinery.{BuildThreads, JoineryConf}
import org.apache.spark.sql.types.{NullType, StructType}

import io.github.sparkjoinery.expressions.{AbsentFilter, KeyFilter}

/**
 * The subquery that builds a filter. Unlike a subquery of Spark, it delays a query by at most
 * `spark.joinery.runtimeFilter.buildTimeout`, and does not fail it. If the build is late or fails, its jobs are
 * cancelled, and the query runs without a filter.
 *
 * @param name
 *   the name in EXPLAIN
 * @param source
 *   the source of the keys
 * @param child
 *   a plan of one row, see [[KeySummary]]
 */
case class KeySubqueryExec(name: String, source: String, child: SparkPlan) extends BaseSubqueryExec with UnaryExecNode {
  import KeySubqueryExec._

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "keys" -> SQLMetrics.createMetric(sparkContext, "number of keys"),
    "filterBytes" -> SQLMetrics.createSizeMetric(sparkContext, "filter size"),
    "buildTime" -> SQLMetrics.createTimingMetric(sparkContext, "time to build"),
    "rowsTested" -> SQLMetrics.createMetric(sparkContext, "rows tested"),
    "rowsDropped" -> SQLMetrics.createMetric(sparkContext, "rows dropped"),
    "tasksUnfiltered" -> SQLMetrics.createMetric(sparkContext, "tasks that stopped testing: most rows passed"),
    Late -> SQLMetrics.createMetric(sparkContext, "not built: late"),
    TooManyKeys -> SQLMetrics.createMetric(sparkContext, "not built: too many keys"),
    Changed -> SQLMetrics.createMetric(sparkContext, "not built: table changed"),
    Failure -> SQLMetrics.createMetric(sparkContext, "not built: failed")
  )

  private val timeoutMs = JoineryConf.runtimeFilterBuildTimeoutMs
  private val maxKeys = JoineryConf.runtimeFilterMaxKeys

  @volatile private var missing: Option[String] = None // the reason why there is no filter, once it is known

  @transient private lazy val executionId = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)

  @transient private lazy val tag = s"$TagPrefix${UUID.randomUUID()}"

  // Starts when the plan that needs the filter is prepared.
  @transient private lazy val building: CompletableFuture[Outcome] = {
    val id = executionId
    SQLExecution.withThreadLocalCaptured[Outcome](session, BuildThreads.executor) {
      SQLExecution.withExecutionId(session, id) {
        // The build of another filter may wait for this one, and be late. Cancelling it must not cancel this build, so
        // its tag is removed.
        sparkContext.getJobTags().filter(_.startsWith(TagPrefix)).foreach(sparkContext.removeJobTag)
        sparkContext.addJobTag(tag)
        try build()
        finally sparkContext.removeJobTag(tag)
      }
    }
  }

  // Completes when the build ends, or when the time is up.
  @transient private lazy val outcome: CompletableFuture[Outcome] = {
    val late = Missing(Late, s"it was not built within spark.joinery.runtimeFilter.buildTimeout ($timeoutMs ms)")
    val decided = building.handle[Outcome] { (result, failure) => if (failure == null) result else failed(failure) }
      .completeOnTimeout(late, timeoutMs, TimeUnit.MILLISECONDS)
    decided.thenApply { (result: Outcome) =>
      if (result eq late) cancel()
      result match {
        case Missing(metric, reason) => isMissing(metric, reason)
        case Found(_, None) if child.schema.head.name == FilterKeys.OfOtherVersion =>
          isMissing(Changed, "a table that its keys are of was changed while the query was planned")
        case Found(_, None) if isOfKeys =>
          isMissing(
            TooManyKeys,
            s"its keys are more than spark.joinery.runtimeFilter.maxKeys ($maxKeys), or more than a task has memory " +
              "for; their bounds are used all the same"
          )
        case _ =>
      }
      result
    }
  }

  private def isMissing(metric: String, reason: String): Unit = {
    missing = Some(reason)
    longMetric(metric) += 1
    SQLMetrics.postDriverMetricUpdates(sparkContext, executionId, Seq(longMetric(metric)))
    logWarning(s"No filter by $source: $reason")
  }

  /** True if a filter is wanted, and not only bounds. */
  private def isOfKeys: Boolean = rowType.head.dataType != NullType

  private def rowType: StructType = child.schema.head.dataType.asInstanceOf[StructType]

  /**
   * Cancels the jobs again and again until the build has ended. The build may be about to start a job that cannot be
   * cancelled yet.
   */
  private def cancel(): Unit = if (!building.isDone && !sparkContext.isStopped) {
    sparkContext.cancelJobsWithTag(tag)
    CompletableFuture.delayedExecutor(CancelAgainMs, TimeUnit.MILLISECONDS, BuildThreads.executor)
      .execute(() => cancel())
  }

  private def build(): Outcome = {
    val start = System.nanoTime()
    val row = child.executeCollect().head.getStruct(0, rowType.length)
    val found = KeySummary.filterOf(row, source)
    longMetric("buildTime") += TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start)
    found.foreach { case (keys, filter) =>
      longMetric("keys") += keys
      longMetric("filterBytes") += filter.blocks * 32L
    }
    SQLMetrics.postDriverMetricUpdates(
      sparkContext,
      executionId,
      Seq("keys", "filterBytes", "buildTime").map(longMetric))
    val tested = found.map { case (_, filter) =>
      new MeteredFilter(filter, longMetric("rowsTested"), longMetric("rowsDropped"), longMetric("tasksUnfiltered"))
    }
    Found(row, tested)
  }

  private def failed(failure: Throwable): Outcome = {
    val causes = Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).take(20).toSeq
    // A cancelled job stops the query, unless this class has cancelled it, for example a job that two filters share.
    val isStopped = causes.exists {
      case cancelled: SparkThrowable =>
        cancelled.getCondition == "SPARK_JOB_CANCELLED" && !cancelled.getMessage.contains(TagPrefix)
      case _ => false
    }
    if (isStopped || causes.exists(isFatal)) Failed(causes.last)
    else Missing(Failure, s"building it failed: ${causes.last.getMessage}")
  }

  /**
   * True for fatal errors. A task without enough memory throws an OutOfMemoryError, too, but the query may have enough.
   */
  private def isFatal(cause: Throwable): Boolean = !NonFatal(cause) && !cause.isInstanceOf[SparkOutOfMemoryError]

  private def await(): Outcome =
    try outcome.get()
    catch {
      case failure: InterruptedException =>
        cancel() // the query is being stopped
        throw failure
    }

  override protected def doPrepare(): Unit = outcome

  /** The row of [[KeySummary]], or no row if there is no filter. */
  override def executeCollect(): Array[InternalRow] = await() match {
    case Found(row, _) => Array(InternalRow(row))
    case _: Missing => Array.empty
    case Failed(cause) => throw cause
  }

  /** The filter. Every key passes if it was not built. */
  def filter: KeyFilter = await() match {
    case Found(_, Some(filter)) => filter
    case _ => AbsentFilter(source)
  }

  override protected def doCanonicalize(): SparkPlan = KeySubqueryExec("", "", child.canonicalized)

  override protected def doExecute(): RDD[InternalRow] =
    throw new UnsupportedOperationException(s"$nodeName is collected")

  override protected def stringArgs: Iterator[Any] =
    Iterator(name, source) ++ missing.map(reason => s"not used: $reason")

  override protected def withNewChildInternal(newChild: SparkPlan): KeySubqueryExec = copy(child = newChild)
}

private object KeySubqueryExec {
  private val TagPrefix = "joinery-filter-"
  private val CancelAgainMs = 50L

  // metrics that say why there is no filter
  private val Late = "late"
  private val TooManyKeys = "tooManyKeys"
  private val Changed = "changed"
  private val Failure = "failed"

  sealed trait Outcome
  case class Found(row: InternalRow, filter: Option[KeyFilter]) extends Outcome
  case class Missing(metric: String, reason: String) extends Outcome
  case class Failed(cause: Throwable) extends Outcome
}

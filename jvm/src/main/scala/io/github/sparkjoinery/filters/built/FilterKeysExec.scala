package io.github.sparkjoinery.filters.built

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.adaptive.{AdaptiveExecutionContext, InsertAdaptiveSparkPlan}
import org.apache.spark.sql.execution.{LeafExecNode, QueryExecution, SparkPlan}

/**
 * Plans the build of a filter when the build starts, while the query's first stages run. Planning it with the query
 * would delay the query by as long as planning a small query takes.
 *
 * @param keys
 *   the plan of one row, see [[FilterKeys]]
 * @param context
 *   the context of the query's adaptive execution. A filter that this build needs is then reused if the query has it,
 *   too.
 */
case class FilterKeysExec(@transient keys: LogicalPlan, @transient context: Option[AdaptiveExecutionContext] = None)
  extends LeafExecNode {
  override val output: Seq[Attribute] = keys.output

  @transient @volatile private var made: Option[SparkPlan] = None

  @transient private lazy val planned: SparkPlan = {
    val plan = context.fold(QueryExecution.prepareExecutedPlan(session, keys))(
      InsertAdaptiveSparkPlan(_).compileSubquery(keys))
    made = Some(plan)
    plan
  }

  /** The plan that ran; None until it is needed. */
  def built: Option[SparkPlan] = made

  override def nodeName: String = "FilterKeys"
  override def innerChildren: Seq[QueryPlan[_]] = Seq(made.getOrElse(keys))
  override protected def stringArgs: Iterator[Any] = Iterator(output)

  override def executeCollect(): Array[InternalRow] = planned.executeCollect()
  override protected def doExecute(): RDD[InternalRow] = planned.execute()

  override protected def doCanonicalize(): SparkPlan = FilterKeysExec(keys.canonicalized)
}

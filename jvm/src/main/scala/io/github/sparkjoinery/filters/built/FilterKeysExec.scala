package io.github.sparkjoinery.filters.built

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.adaptive.{AdaptiveExecutionContext, InsertAdaptiveSparkPlan}
import org.apache.spark.sql.execution.{LeafExecNode, QueryExecution, SparkPlan}

/**
 * What a filter is built of, planned when it is: beside the query's first stages, and not before them. As a part of the
 * query's plan it would take as long to plan as a small query of its own.
 *
 * @param keys
 *   one row, see [[FilterKeys]]
 * @param context
 *   of the query's adaptive execution, so that what a filter of this one needs is found where the query has it, too
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

  /** What ran; None until it is needed. */
  def built: Option[SparkPlan] = made

  override def nodeName: String = "FilterKeys"
  override def innerChildren: Seq[QueryPlan[_]] = Seq(made.getOrElse(keys))
  override protected def stringArgs: Iterator[Any] = Iterator(output)

  override def executeCollect(): Array[InternalRow] = planned.executeCollect()
  override protected def doExecute(): RDD[InternalRow] = planned.execute()

  override protected def doCanonicalize(): SparkPlan = FilterKeysExec(keys.canonicalized)
}

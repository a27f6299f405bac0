package io.github.sparkjoinery.planning

import scala.collection.mutable

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec

import io.github.sparkjoinery.expressions.TimePart

/**
 * Has all places with the same cuts take them from one execution of their subquery. Both sides of a join by parts are
 * cut at quantiles, which depend on the order that rows come in; if each side had its own, rows would miss their
 * matches.
 *
 * Adaptive execution compiles one subquery for all places of an expression id. Without it Spark compiles one for each,
 * and later reuses only those that it can tell are equal: not where the scan of another system's table compares by
 * identity, nor without `spark.sql.execution.reuseSubquery`.
 */
object OneExecutionOfCuts extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = {
    val cuts = if (plan.containsPattern(PLAN_EXPRESSION)) cutsOf(plan) else Set.empty[ExprId]
    if (cuts.isEmpty) plan else share(cuts, plan)
  }

  /** What else holds cuts has those of a [[TimePart]] of the other side. */
  private def cutsOf(plan: SparkPlan): Set[ExprId] = {
    val parts = plan.flatMap(_.expressions.flatMap(_.collect { case part: TimePart => part }))
    parts.flatMap(_.cuts.collect { case subquery: ScalarSubquery => subquery.exprId }).toSet
  }

  private def share(cuts: Set[ExprId], plan: SparkPlan): SparkPlan = {
    val first = mutable.Map.empty[ExprId, SharedSubqueryExec]
    plan.transformAllExpressionsWithPruning(_.containsPattern(PLAN_EXPRESSION)) {
      case ScalarSubquery(own: SubqueryExec, id) if cuts.contains(id) && !isAdaptive(own) =>
        ScalarSubquery(first.getOrElseUpdate(id, SharedSubqueryExec(own.name, own, new FirstRows)), id)
    }
  }

  private def isAdaptive(subquery: SubqueryExec): Boolean = subquery.child.isInstanceOf[AdaptiveSparkPlanExec]

  /** The only hook for plans that are not adaptive; it also gets each stage of those that are. */
  object WithoutAdaptiveExecution extends ColumnarRule {
    override def preColumnarTransitions: Rule[SparkPlan] = OneExecutionOfCuts
  }
}

/**
 * A subquery with one result for all places where it is used. It would not be enough that they have one plan: Spark's
 * rule that reuses exchanges comes later, and may make a copy of it for each place.
 *
 * @param first
 *   what all copies share
 */
case class SharedSubqueryExec(name: String, child: SparkPlan, first: FirstRows)
  extends BaseSubqueryExec with UnaryExecNode {

  override def executeCollect(): Array[InternalRow] = first.orElse(child.executeCollect())

  override protected def doExecute(): RDD[InternalRow] =
    throw new IllegalStateException(s"$name is collected, not executed")

  // It has the same rows as any subquery with that plan, so that Spark may use one for the other.
  override protected def doCanonicalize(): SparkPlan = child.canonicalized

  override protected def stringArgs: Iterator[Any] = Iterator(name, s"[id=#$id]")
  override protected def withNewChildInternal(newChild: SparkPlan): SharedSubqueryExec = copy(child = newChild)
}

/**
 * The rows of whichever copy of a subquery is the first to have them. Plans go along with tasks, which need no rows.
 */
class FirstRows extends Serializable {
  @transient private var rows: Array[InternalRow] = _

  def orElse(execute: => Array[InternalRow]): Array[InternalRow] = synchronized {
    if (rows == null) rows = execute
    rows
  }
}

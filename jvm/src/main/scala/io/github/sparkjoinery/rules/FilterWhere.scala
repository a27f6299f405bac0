package io.github.sparkjoinery.rules

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.RuleExecutor
import org.apache.spark.sql.catalyst.trees.TreePattern.{CURRENT_LIKE, PLAN_EXPRESSION}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.CommandExecutionMode
import org.apache.spark.sql.types.TimestampType

import io.github.sparkjoinery.artifacts.SourceRelation

/**
 * The `where` of a filter, against a query's predicates: a filter over some rows of a relation serves a query that reads no others.
 * Both are brought to one form by Spark's own rules; what they cannot see to be the same counts as different.
 */
object FilterWhere extends PredicateHelper {

  /** Why not every condition of the text is among the predicates. */
  def unmet(text: String, source: SourceRelation, predicates: Seq[Expression], session: SparkSession): Option[String] = try {
    val condition = resolved(session.sessionState.sqlParser.parseExpression(text), source.leaf, session)
    if (dependsOnSession(condition)) Some(s"what its `where` ($text) means depends on the session or the time")
    else if (condition.references.exists(column => source.partitionColumns(column.name))) {
      Some(s"its `where` ($text) is about partition columns, which are no part of any file")
    } else {
      val known = (predicates.flatMap(normalized(_, source.leaf)) ++ predicates).map(_.canonicalized).toSet
      normalized(condition, source.leaf).find(conjunct => !known(conjunct.canonicalized))
        .map(conjunct => s"the query does not imply its `where`: ${conjunct.sql}")
    }
  } catch { case NonFatal(failure) => Some(s"its `where` ($text) cannot be resolved: ${failure.getMessage.linesIterator.nextOption().getOrElse("")}") }

  private def resolved(condition: Expression, relation: LogicalPlan, session: SparkSession): Expression =
    session.sessionState.executePlan(Filter(condition, relation), CommandExecutionMode.SKIP).analyzed.collectFirst {
      case Filter(resolved, _) => resolved
    }.get

  /** Time zone, clock, user and the like: they were others when the filter was built. */
  private def dependsOnSession(condition: Expression): Boolean =
    !condition.deterministic || condition.containsAnyPattern(CURRENT_LIKE, PLAN_EXPRESSION) || condition.exists {
      case cast: Cast => Cast.needsTimeZone(cast.child.dataType, cast.dataType)
      case _: TimeZoneAwareExpression | _: UserDefinedExpression => true
      case Literal(_, TimestampType) => true
      case _ => false
    }

  private def normalized(condition: Expression, relation: LogicalPlan): Seq[Expression] =
    Simplify.execute(Filter(condition, relation)).collectFirst { case Filter(simple, _) => simple }
      .fold(Seq.empty[Expression])(splitConjunctivePredicates)

  private object Simplify extends RuleExecutor[LogicalPlan] {
    override protected def batches: Seq[Batch] = Seq(
      Batch("Finish", Once, ReplaceExpressions, RewriteWithExpression),
      Batch("Simplify", FixedPoint(20), ConstantFolding, NullPropagation, OptimizeIn, BooleanSimplification, SimplifyConditionals,
        SimplifyBinaryComparison, SimplifyCasts, UnwrapCastInBinaryComparison, LikeSimplification))
  }
}

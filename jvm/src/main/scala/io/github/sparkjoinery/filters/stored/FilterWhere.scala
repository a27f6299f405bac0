package io.github.sparkjoinery.filters.stored

import java.util.Locale

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.{FunctionRegistry, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.RuleExecutor
import org.apache.spark.sql.catalyst.trees.TreePattern.{CURRENT_LIKE, PLAN_EXPRESSION}
import org.apache.spark.sql.execution.CommandExecutionMode
import org.apache.spark.sql.joinery.SparkSession
import org.apache.spark.sql.types._

import io.github.sparkjoinery.artifacts.{ArtifactVersion, ReadingSettings, SourceRelation, StoreAccess}
import io.github.sparkjoinery.planning.plans.ParsedText
import io.github.sparkjoinery.planning.plans.RulesSince40
import io.github.sparkjoinery.planning.terms.SessionVariables

/**
 * Checks that a query's predicates imply the `where` of a filter. A filter over some rows of a relation serves only
 * queries that read no other rows. Spark's own rules normalize both conditions; two that still differ count as
 * different.
 */
object FilterWhere extends PredicateHelper {

  /** Returns the reason why the predicates do not imply every conjunct of the text. */
  def unmet(
      text: String,
      version: ArtifactVersion,
      source: SourceRelation,
      predicates: Seq[Expression],
      session: SparkSession): Option[String] =
    try {
      if (text.length > WhereText.MaxLength)
        Some(s"its `where` has ${text.length} characters, more than ${WhereText.MaxLength}")
      else {
        val parsed = session.sessionState.sqlParser.parseExpression(text)
        lazy val condition = resolved(parsed, source.leaf, session)
        def read = condition.references.toSeq
        if (WhereText.changes(text) || usesOwnFunctions(parsed, session) || dependsOnSession(condition)) {
          Some(s"what its `where` ($text) means depends on the session or the time")
        } else if (read.exists(column => source.partitionColumns(source.nameOf(column)))) {
          Some(s"its `where` ($text) is about partition columns, which are no part of any file")
        } else if (read.exists(column => source.files.exists(ParsedText.isCorruptRecord(_, column.name)))) {
          Some(
            s"its `where` ($text) is about corrupt records: which rows have one depends on the columns that are read")
        } else {
          source.clockOf(read).map(clock =>
            s"its `where` ($text) is about timestamps, which are read by $clock")
            .orElse(ReadingSettings.ofCondition(version, isPlain(condition), session))
            .orElse {
              val known = (predicates.flatMap(normalized(_, source.leaf)) ++ predicates).map(_.canonicalized).toSet
              normalized(condition, source.leaf).find(conjunct => !known(conjunct.canonicalized))
                .map(conjunct => s"the query does not imply its `where`: ${conjunct.sql}")
            }
        }
      }
    } catch {
      case _: StackOverflowError => Some(s"its `where` (${text.take(200)}...) is nested too deeply")
      case NonFatal(failure) =>
        Some(s"its `where` (${text.take(200)}) cannot be resolved: ${StoreAccess.reason(failure)}")
    }

  private def resolved(condition: Expression, relation: LogicalPlan, session: SparkSession): Expression =
    session.sessionState.executePlan(Filter(condition, relation), CommandExecutionMode.SKIP).analyzed.collectFirst {
      case Filter(resolved, _) => resolved
    }.get

  /**
   * True if the text uses functions that are not built into Spark, or that may hide a built-in one. Their definitions
   * may have changed since the filter was built.
   */
  private def usesOwnFunctions(parsed: Expression, session: SparkSession): Boolean = {
    lazy val maybeHidden =
      session.conf.getOption("spark.sql.functionResolution.sessionOrder").exists(_.equalsIgnoreCase("first"))
    parsed.exists {
      case function: UnresolvedFunction => maybeHidden || function.nameParts.length != 1 ||
        FunctionRegistry.builtin.lookupFunction(
          FunctionIdentifier(function.nameParts.head.toLowerCase(Locale.ROOT))).isEmpty
      case _ => false
    }
  }

  /**
   * True if the condition depends on the time zone, clock, user, variables or the like. These may have been others when
   * the filter was built.
   */
  private def dependsOnSession(condition: Expression): Boolean =
    !condition.deterministic || condition.containsAnyPattern(CURRENT_LIKE, PLAN_EXPRESSION) || condition.exists {
      case cast: Cast => Cast.needsTimeZone(cast.child.dataType, cast.dataType) || isSpecialDay(cast)
      case _: TimeZoneAwareExpression | _: UserDefinedExpression => true
      case other if SessionVariables.isOne(other) => true
      case Literal(_, TimestampType) => true
      case _ => false
    }

  /**
   * True if a string that is cast may name a special day, such as 'today', which Spark's optimizer replaces by the date
   * of the query.
   */
  private def isSpecialDay(cast: Cast): Boolean = cast.child.foldable && cast.child.dataType.isInstanceOf[StringType] &&
    Set[DataType](DateType, TimestampType, TimestampNTZType)(cast.dataType) &&
    Option(cast.child.eval()).exists(text => !text.toString.matches("(?s)\\s*[0-9+-].*"))

  /**
   * True if the condition only compares columns with literals. Its meaning then depends on no setting for types or
   * functions.
   */
  private def isPlain(condition: Expression): Boolean = condition match {
    case _: Attribute | _: Literal => true
    case cast: Cast => cast.child.isInstanceOf[Literal] && cast.child.dataType.isInstanceOf[NumericType] &&
      cast.dataType.isInstanceOf[NumericType] && Cast.canUpCast(cast.child.dataType, cast.dataType)
    case _: And | _: Or | _: Not | _: IsNull | _: IsNotNull | _: In | _: InSet | _: BinaryComparison | _: StringPredicate |
        _: StringRegexExpression => condition.children.forall(isPlain)
    case _ => false
  }

  private def normalized(condition: Expression, relation: LogicalPlan): Seq[Expression] =
    Simplify.execute(Filter(condition, relation)).collectFirst { case Filter(simple, _) => simple }
      .fold(Seq.empty[Expression])(splitConjunctivePredicates)

  private object Simplify extends RuleExecutor[LogicalPlan] {
    override protected def batches: Seq[Batch] = Seq(
      Batch("Finish", Once, ReplaceExpressions +: RulesSince40.common: _*),
      Batch(
        "Simplify",
        FixedPoint(20),
        ConstantFolding,
        NullPropagation,
        OptimizeIn,
        BooleanSimplification,
        SimplifyConditionals,
        SimplifyBinaryComparison,
        SimplifyCasts,
        UnwrapCastInBinaryComparison,
        LikeSimplification
      )
    )
  }
}

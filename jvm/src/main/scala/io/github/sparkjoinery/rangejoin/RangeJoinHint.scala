package io.github.sparkjoinery.rangejoin

import scala.collection.mutable

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.{NumericType, StringType}

import io.github.sparkjoinery.planning.JoineryException

/**
 * What a side of a join carries that a hint `RANGE_JOIN` names: it insists on a range join.
 *
 * @param strategy
 *   a hint of Spark's on the same side
 */
class RangeJoinHint(strategy: Option[JoinStrategyHint]) extends HintInfo(strategy) {
  override def merge(other: HintInfo, handler: HintErrorHandler): HintInfo =
    new RangeJoinHint(super.merge(other, handler).strategy)
  // Not the same as a hint without it, or Spark would keep that one.
  override def canEqual(that: Any): Boolean = that.isInstanceOf[RangeJoinHint]
  override def equals(that: Any): Boolean = canEqual(that) && super.equals(that)
  override def hashCode(): Int = super.hashCode() + 1
  override def toString: String = (RangeJoinHint.Name +: strategy.map(_.displayName).toSeq).mkString(", ")
}

object RangeJoinHint {
  val Name = "RANGE_JOIN"

  def isOn(hint: JoinHint): Boolean = (hint.leftHint ++ hint.rightHint).exists(_.isInstanceOf[RangeJoinHint])
}

/**
 * Reads the hint `RANGE_JOIN(t)` of a SELECT, and puts it on the relation `t`; without a name, as of
 * `frame.hint("range_join")`, on all that it stands over. Databricks' form `RANGE_JOIN(t, 10)` has a size of bins,
 * which an index does not need.
 */
object ResolveRangeJoinHint extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case hint @ UnresolvedHint(name, arguments, child) if name.equalsIgnoreCase(RangeJoinHint.Name) =>
      val names = relations(hint, arguments)
      if (names.isEmpty) hinted(child) // as DataFrames have it
      else {
        val found = mutable.Set.empty[Seq[String]]
        val placed = place(child, names, found)
        names.filterNot(found).foreach(missing =>
          conf.hintErrorHandler.hintRelationsNotFound(RangeJoinHint.Name, arguments, Set(missing)))
        placed
      }
  }

  private def relations(hint: UnresolvedHint, arguments: Seq[Any]): Seq[Seq[String]] = {
    val isSize = arguments.lastOption.exists {
      case size: Literal => size.dataType.isInstanceOf[NumericType]
      case _ => false
    }
    val names = (if (isSize) arguments.init else arguments).map {
      case Literal(name, StringType) => UnresolvedAttribute.parseAttributeName(name.toString)
      case name: UnresolvedAttribute => name.nameParts
      case _ => Nil
    }
    if (names.contains(Nil)) throw new JoineryException(
      "INVALID_HINT",
      s"The hint ${RangeJoinHint.Name} takes the names or aliases of relations, and then, if you like, the size of a bin, a number " +
        s"that is not used: /*+ ${RangeJoinHint.Name}(t) */. It has ${if (arguments.isEmpty) "none"
          else shown(arguments)}.",
      hint.origin,
      RangeJoinHint.Name
    )
    names
  }

  private def shown(arguments: Seq[Any]): String = arguments.map {
    case argument: Expression => argument.sql
    case argument => argument.toString
  }.mkString(", ")

  /** As Spark places its own hints: a name is the tail of a relation's; views and subqueries are not looked into. */
  private def place(plan: LogicalPlan, names: Seq[Seq[String]], found: mutable.Set[Seq[String]]): LogicalPlan = {
    def isNamed(identifier: Seq[String]): Boolean = {
      val matching = names.filter { name =>
        name.length <= identifier.length &&
        name.zip(identifier.takeRight(name.length)).forall { case (a, b) => conf.resolver(a, b) }
      }
      found ++= matching
      matching.nonEmpty
    }
    plan match {
      case relation: UnresolvedRelation if isNamed(relation.multipartIdentifier) => hinted(relation)
      case alias: SubqueryAlias if isNamed(alias.identifier.qualifier :+ alias.identifier.name) => hinted(alias)
      case ResolvedHint(child, hint) =>
        place(child, names, found) match {
          case ResolvedHint(relation, _: RangeJoinHint) => ResolvedHint(relation, new RangeJoinHint(hint.strategy))
          case other => ResolvedHint(other, hint)
        }
      case _: SubqueryAlias | _: View | _: UnresolvedWith => plan
      case _ => plan.mapChildren(place(_, names, found))
    }
  }

  private def hinted(relation: LogicalPlan): LogicalPlan = ResolvedHint(relation, new RangeJoinHint(None))
}

package io.github.sparkjoinery.planning

import scala.collection.mutable

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.UNRESOLVED_HINT
import org.apache.spark.sql.types.{NumericType, StringType}

/**
 * What a side of a join carries that hints of ours name.
 *
 * @param names
 *   of the hints
 * @param strategy
 *   a hint of Spark's on the same side
 */
class JoineryHint(val names: Set[String], strategy: Option[JoinStrategyHint]) extends HintInfo(strategy) {
  override def merge(other: HintInfo, handler: HintErrorHandler): HintInfo =
    new JoineryHint(names ++ JoineryHint.namesOf(other), super.merge(other, handler).strategy)
  // Not the same as a hint without it, or Spark would keep that one.
  override def canEqual(that: Any): Boolean = that.isInstanceOf[JoineryHint]
  override def equals(that: Any): Boolean = that match {
    case hint: JoineryHint => hint.names == names && super.equals(that)
    case _ => false
  }
  override def hashCode(): Int = super.hashCode() + names.hashCode
  override def toString: String = (names.toSeq.sorted ++ strategy.map(_.displayName)).mkString(", ")
}

object JoineryHint {
  private def namesOf(hint: HintInfo): Set[String] = hint match {
    case hint: JoineryHint => hint.names
    case _ => Set.empty
  }

  /** Whether one side of a join has a hint. */
  def isOn(name: String, side: Option[HintInfo]): Boolean = side.exists(namesOf(_).contains(name))
}

/**
 * Reads a hint `NAME(t)` of a SELECT, and puts it on the relation `t`; without a name, as of `frame.hint("name")`, on
 * all that it stands over.
 *
 * @param name
 *   of the hint
 * @param takesNumber
 *   whether a number may follow the relations; it is not used
 * @param usage
 *   what the hint takes, for the error
 */
class ResolveJoineryHint(name: String, takesNumber: Boolean, usage: String) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUpWithPruning(
    _.containsPattern(UNRESOLVED_HINT)) {
    case hint @ UnresolvedHint(found, arguments, child) if found.equalsIgnoreCase(name) =>
      val names = relations(hint, arguments)
      if (names.isEmpty) hinted(child) // as DataFrames have it
      else {
        val found = mutable.Set.empty[Seq[String]]
        val placed = place(child, names, found)
        names.filterNot(found).foreach(missing =>
          conf.hintErrorHandler.hintRelationsNotFound(name, arguments, Set(missing)))
        placed
      }
  }

  private def relations(hint: UnresolvedHint, arguments: Seq[Any]): Seq[Seq[String]] = {
    val isNumber = takesNumber && arguments.lastOption.exists {
      case number: Literal => number.dataType.isInstanceOf[NumericType]
      case _ => false
    }
    val names = (if (isNumber) arguments.init else arguments).map {
      case Literal(name, StringType) => UnresolvedAttribute.parseAttributeName(name.toString)
      case name: UnresolvedAttribute => name.nameParts
      case _ => Nil
    }
    if (names.contains(Nil)) throw new JoineryException(
      "INVALID_HINT",
      s"The hint $name takes $usage: /*+ $name(t) */. It has ${if (arguments.isEmpty) "none" else shown(arguments)}.",
      hint.origin,
      name
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
          case ResolvedHint(relation, _: JoineryHint) => ResolvedHint(relation, merged(hint))
          case other => ResolvedHint(other, hint)
        }
      case _: SubqueryAlias | _: View | _: UnresolvedWith => plan
      case _ => plan.mapChildren(place(_, names, found))
    }
  }

  private def merged(hint: HintInfo): HintInfo = hint match {
    case hint: JoineryHint => new JoineryHint(hint.names + name, hint.strategy)
    case hint => new JoineryHint(Set(name), hint.strategy)
  }

  private def hinted(relation: LogicalPlan): LogicalPlan = ResolvedHint(relation, new JoineryHint(Set(name), None))
}

package io.github.sparkjoinery.planning.plans

import scala.collection.mutable

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.UNRESOLVED_HINT
import org.apache.spark.sql.types.{NumericType, StringType}

import io.github.sparkjoinery.planning.JoineryException

/**
 * Resolves a hint `NAME(t)` of a SELECT, and puts it on the relation `t`. Without a relation, as in
 * `frame.hint("name")`, it puts the hint on the child plan.
 *
 * @param name
 *   the name of the hint
 * @param takesNumber
 *   true if a number may follow the relations; it is ignored
 * @param usage
 *   the arguments of the hint, for the error message
 */
class ResolveJoineryHint(name: String, takesNumber: Boolean, usage: String) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUpWithPruning(
    _.containsPattern(UNRESOLVED_HINT)) {
    case hint @ UnresolvedHint(found, given, child) if found.equalsIgnoreCase(name) =>
      val arguments =
        given.map { case term: Expression => term; case value => Literal(value) } // Spark 3.5: from a DataFrame
      val names = relations(hint, arguments)
      if (names.isEmpty) hinted(child) // from a DataFrame
      else {
        val found = mutable.Set.empty[Seq[String]]
        val placed = place(child, names, found)
        names.filterNot(found).foreach(missing =>
          conf.hintErrorHandler.hintRelationsNotFound(name, arguments, Set(missing)))
        placed
      }
  }

  private def relations(hint: UnresolvedHint, arguments: Seq[Expression]): Seq[Seq[String]] = {
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
      s"The hint $name takes $usage: /*+ $name(t) */. It has ${if (arguments.isEmpty) "none"
        else arguments.map(_.sql).mkString(", ")}.",
      hint.origin,
      name
    )
    names
  }

  /**
   * Places the hint like Spark's own hints. A name matches the tail of a relation's name. Views and subqueries are not
   * searched.
   */
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

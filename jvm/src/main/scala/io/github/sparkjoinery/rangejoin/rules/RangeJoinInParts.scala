package io.github.sparkjoinery.rangejoin.rules

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{Count, First, Max}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.joinery.ReplacedRows
import org.apache.spark.sql.types.BooleanType

import io.github.sparkjoinery.planning.plans.{PartsByQuantiles, Repeatable}

/**
 * Rewrites a range join as a join on the parts of the range.
 * {{{
 *   Join p.x BETWEEN r.lo AND r.hi        Project
 *   :- points                             +- Join p.part = r.part AND p.x BETWEEN r.lo AND r.hi
 *   +- ranges                    ==>         :- Project p.*, part of x AS part
 *                                            +- Project r.*, label of i AS part
 *                                               +- Generate explode(sequence(part of lo, part of hi)) AS i
 *                                                  +- ranges
 * }}}
 * Two intervals that share several parts are emitted in the first of these, where one of the two begins.
 *
 * A copy of a row cannot tell if another copy has a match. If the join preserves a side whose rows are copied, a second
 * shuffle groups the copies again. LEFT SEMI, LEFT ANTI and EXISTS test each copy, and then combine the copies of a
 * row. An outer join is the union of its pairs and of the rows without a match in any copy:
 * {{{
 *   Union
 *   :- the inner join in parts, or the outer one that keeps the side whose rows have one part
 *   +- Project r.*, NULL AS p.*
 *      +- Aggregate by row: as many copies as there are
 *         +- Join LEFT ANTI r.part = p.part AND p.x BETWEEN r.lo AND r.hi
 * }}}
 *
 * @param join
 *   a join without an equality
 */
private[rangejoin] class RangeJoinInParts(join: Join, left: SideToCut, right: SideToCut) extends SQLConfHelper {
  import RangeJoinInParts._

  private val parts = PartsByQuantiles(conf.numShufflePartitions)
  private val cuts = {
    val even = if (right.isPoint && !left.isPoint) right else left
    val read = Seq(even, left, right).find(mayBeReadForCuts).get
    parts.cuts(read.longs.head, read.relation)
  }

  def plan: LogicalPlan = join.joinType match {
    case LeftSemi | LeftAnti | _: ExistenceJoin if keepsCopies(join.joinType, left, isLeft = true) =>
      together(left, right, join.hint, join.joinType)
    case joinType =>
      val ofLeft = if (keepsCopies(joinType, left, isLeft = true)) Some(unmatched(left, right, join.hint)) else None
      val ofRight =
        if (keepsCopies(joinType, right, isLeft = false))
          Some(unmatched(right, left, JoinHint(join.hint.rightHint, join.hint.leftHint)))
        else None
      if (ofLeft.isEmpty && ofRight.isEmpty) pairs(join.output)
      else {
        val all = Union(Seq(pairs(once)) ++ ofLeft ++ ofRight)
        if (once.length == join.output.length) all else Project(join.output, all)
      }
  }

  /** The output columns, each once. A side of the join may have a column twice, but a union may not. */
  private lazy val once = join.output.distinct

  /** The pairs, each once, and the unmatched rows of a preserved side of points. */
  private def pairs(output: Seq[Attribute]): LogicalPlan = {
    val (leftParts, rightParts) = (left.inParts(cuts, parts), right.inParts(cuts, parts))
    val givenOnce = for (a <- leftParts.isFirst; b <- rightParts.isFirst) yield Or(a, b)
    val condition = (EqualTo(leftParts.part, rightParts.part) +: join.condition.toSeq) ++ givenOnce
    val joinType =
      if (!isOuter(join.joinType)) join.joinType
      else outer(
        keeps(join.joinType, isLeft = true) && left.isPoint,
        keeps(join.joinType, isLeft = false) && right.isPoint)
    val inParts =
      join.copy(leftParts.relation, rightParts.relation, joinType, condition = condition.reduceOption(And))
    inParts.copyTagsFrom(join) // which hold earlier decisions about the join
    Project(output, inParts)
  }

  private def outer(keepsLeft: Boolean, keepsRight: Boolean): JoinType =
    if (keepsLeft && keepsRight) FullOuter else if (keepsLeft) LeftOuter else if (keepsRight) RightOuter else Inner

  /** The rows of a side without a match in any copy, with NULLs for the other side. */
  private def unmatched(side: SideToCut, other: SideToCut, hint: JoinHint): LogicalPlan = {
    val rows = together(side, other, hint, LeftAnti)
    Project(
      once.map(column =>
        if (rows.outputSet.contains(column)) column
        else Alias(Literal.create(null, column.dataType), column.name)(column.exprId)),
      rows)
  }

  /** The result of a semi, anti or existence join for the rows of a side, combined from all parts. */
  private def together(side: SideToCut, other: SideToCut, hint: JoinHint, asked: JoinType): LogicalPlan = {
    val (copies, others) = (side.numbered(cuts, parts), other.inParts(cuts, parts))
    val ofCopies = join.condition.map(_.transform { case column: Attribute =>
      copies.columns.getOrElse(column, column)
    })
    val condition = (EqualTo(copies.part, others.part) +: ofCopies.toSeq).reduce[Expression](And)
    val exists = AttributeReference("exists", BooleanType, nullable = false)()
    val ofCopy = asked match { case _: ExistenceJoin => ExistenceJoin(exists); case other => other }
    val inParts = Join(copies.relation, others.relation, ofCopy, Some(condition), hint)
    def first(column: Attribute): Expression = First(column, ignoreNulls = false).toAggregateExpression()
    val columns = side.relation.output.map(column => named(first(copies.columns(column)), column))
    asked match {
      case LeftAnti =>
        val (all, found) =
          (Alias(first(copies.copies), "all")(), Alias(Count(Literal(1)).toAggregateExpression(), "found")())
        val rows = Aggregate(Seq(copies.row), columns ++ Seq(all, found), inParts)
        val isWhole = EqualTo(found.toAttribute, Cast(all.toAttribute, found.dataType))
        Project(columns.map(_.toAttribute), Filter(isWhole, rows))
      case ExistenceJoin(flag) =>
        Aggregate(Seq(copies.row), columns :+ named(Max(exists).toAggregateExpression(), flag), inParts)
      case _ => Aggregate(Seq(copies.row), columns, inParts)
    }
  }

  /** A value with the name and id of a column. */
  private def named(value: Expression, column: Attribute): Alias =
    Alias(if (column.nullable) value else KnownNotNull(value), column.name)(
      column.exprId,
      column.qualifier,
      Some(column.metadata))
}

private[rangejoin] object RangeJoinInParts {

  /** The reason why the two sides cannot be read as the rewrite needs; None if they can. */
  def unreadable(joinType: JoinType, left: SideToCut, right: SideToCut): Option[String] = {
    val copied = Seq(left -> true, right -> false)
      .collect { case (side, isLeft) if keepsCopies(joinType, side, isLeft) => side.relation }
    val isReadTwice = copied.nonEmpty && isOuter(joinType)
    if (isReadTwice && !Seq(left, right).forall(side => Repeatable(side.relation)))
      Some("it keeps rows that are copied, so that both sides are read twice, and one may have other rows by then")
    else if (!Seq(left, right).exists(mayBeReadForCuts))
      Some("both sides read the table that the statement changes")
    else if (!copied.forall(Repeatable.inOrder))
      Some("it keeps rows that are copied, and a task that runs again may have them in another order")
    else None
  }

  private def mayBeReadForCuts(side: SideToCut): Boolean = !ReplacedRows.areIn(side.relation)

  private def isOuter(joinType: JoinType): Boolean = joinType match {
    case LeftOuter | RightOuter | FullOuter => true
    case _ => false
  }

  /** True if the copies of a side's rows have to be grouped again, because the join preserves the side. */
  private def keepsCopies(joinType: JoinType, side: SideToCut, isLeft: Boolean): Boolean =
    keeps(joinType, isLeft) && !side.isPoint

  private def keeps(joinType: JoinType, isLeft: Boolean): Boolean = joinType match {
    case LeftOuter | LeftSemi | LeftAnti | _: ExistenceJoin => isLeft
    case RightOuter => !isLeft
    case FullOuter => true
    case _ => false
  }
}

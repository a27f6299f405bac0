package io.github.sparkjoinery.rangejoin.rules

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types.{ArrayType, IntegerType}

import io.github.sparkjoinery.expressions.TimePart
import io.github.sparkjoinery.planning.plans.PartsByQuantiles

/**
 * A side of a range join, whose rows are assigned to the parts of the range. Each row is a point, or lies between two
 * numbers in either order.
 *
 * @param longs
 *   the two numbers, which are the same for a point; a row with a NULL matches nothing
 * @param isPoint
 *   true if each row has one part, and the join can decide about the row alone
 */
private[rangejoin] case class SideToCut(
    relation: LogicalPlan,
    longs: Seq[Expression],
    isPoint: Boolean) extends SQLConfHelper {
  import SideToCut._

  /**
   * The rows with their parts. A point has one part. Other rows are copied to each part that they touch, or dropped if
   * a number is NULL.
   */
  def inParts(cuts: Expression, parts: PartsByQuantiles): CutSide =
    if (isPoint) {
      val part = Alias(TimePart(longs.head, cuts, parts.labels), "part")()
      CutSide(Project(relation.output :+ part, relation), part.toAttribute, None)
    } else {
      val (rows, first, _, i) = copied(Filter(isWhole, relation), cuts, parts, ofOthers = Literal(0))
      val (part, isFirst) = (label(i, parts), Alias(EqualTo(i, first), "isFirst")())
      CutSide(Project(relation.output ++ Seq(part, isFirst), rows), part.toAttribute, Some(isFirst.toAttribute))
    }

  /** All rows with their parts. The copies of a row share a number, by which they can be grouped again. */
  def numbered(cuts: Expression, parts: PartsByQuantiles): NumberedCopies = {
    val row = Alias(MonotonicallyIncreasingID(), "row")()
    val numbered = Project(relation.output :+ row, relation)
    val anywhere = Cast(Pmod(row.toAttribute, Literal(parts.parts.toLong)), IntegerType)
    val (rows, first, last, i) = copied(numbered, cuts, parts, anywhere)
    val (part, copies) = (label(i, parts), Alias(Add(Subtract(last, first), Literal(1)), "copies")())
    // The copies get columns of their own, so that the aggregate over the copies can emit the side's columns. The names
    // differ as well, or the optimizer would undo the aliases.
    val columns = relation.output.map(column => column -> Alias(column, "copied")())
    NumberedCopies(
      Project(columns.map(_._2) ++ Seq(part, row.toAttribute, copies), rows),
      part.toAttribute,
      AttributeMap(columns.map { case (column, copy) => column -> copy.toAttribute }),
      row.toAttribute,
      copies.toAttribute
    )
  }

  private def isWhole: Expression = longs.map(IsNotNull(_)).reduce[Expression](And)

  /**
   * The rows of the side, once for each part. Also returns the number of a row's first part, of its last part, and of
   * the copy's part.
   *
   * @param ofOthers
   *   the part of rows that match nothing
   */
  private def copied(
      rows: LogicalPlan,
      cuts: Expression,
      parts: PartsByQuantiles,
      ofOthers: Expression): (LogicalPlan, Attribute, Attribute, Attribute) = {
    val numbers = 0 until parts.parts
    def number(end: Expression): Expression = If(isWhole, TimePart(end, cuts, numbers), ofOthers)
    val first = Alias(number(Least(longs)), "first")()
    val last = Alias(number(Greatest(longs)), "last")()
    val i = AttributeReference("i", IntegerType, nullable = false)()
    val copies = Generate(
      Explode(Sequence(first.toAttribute, last.toAttribute, None, Some(conf.sessionLocalTimeZone))),
      unrequiredChildIndex = Nil,
      outer = false,
      qualifier = None,
      generatorOutput = Seq(i),
      child = Project(rows.output ++ Seq(first, last), rows)
    )
    (copies, first.toAttribute, last.toAttribute, i)
  }

  private def label(i: Attribute, parts: PartsByQuantiles): Alias = {
    val labels = Literal.create(parts.labels.toArray, ArrayType(IntegerType, containsNull = false))
    Alias(GetArrayItem(labels, i), "part")()
  }
}

private[rangejoin] object SideToCut {

  /**
   * A side with its parts.
   *
   * @param isFirst
   *   true if a row is the first of its copies; None if rows are not copied
   */
  case class CutSide(relation: LogicalPlan, part: Attribute, isFirst: Option[Attribute])

  /**
   * A side whose rows are copied to their parts and numbered.
   *
   * @param columns
   *   the side's columns -> the columns of the copies
   * @param row
   *   a number that the copies of a row share
   * @param copies
   *   the number of copies of a row
   */
  case class NumberedCopies(
      relation: LogicalPlan,
      part: Attribute,
      columns: AttributeMap[Attribute],
      row: Attribute,
      copies: Attribute)
}

package io.github.sparkjoinery.lastjoin.search

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.ConstraintHelper

import io.github.sparkjoinery.execution.rows.GroupedRowsReader
import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms

/**
 * Decides if an error in ON is an error of the query. LAST JOIN evaluates parts of ON earlier than an ordinary join,
 * and in another order. For example, it evaluates the as-of bound once per left row, and the tolerance before a
 * residual condition. An error counts only on a pair of rows for which no other part of ON is false: an ordinary join
 * throws it in any order. A part of ON that throws is never true, so a pair whose error is ignored is no match.
 *
 * @param left
 *   columns of the left rows, at least those in conditions
 */
class Failures(terms: LastJoinTerms, left: Seq[Attribute], right: Seq[Attribute])
  extends PredicateHelper with ConstraintHelper with Serializable {

  // Everything is lazy, because errors are rare.
  @transient private lazy val conditions = (terms.within ++ terms.residual).toSeq.flatMap(splitConjunctivePredicates)
  @transient private lazy val (leftConditions, pairConditions) =
    conditions.partition(_.references.subsetOf(AttributeSet(left)))
  @transient private lazy val leftParts = BindReferences.bindReferences(leftConditions, left)
  @transient private lazy val pairParts = BindReferences.bindReferences(pairConditions ++ notNull, left ++ right)

  /**
   * IS NOT NULL for right columns that the conditions need. Spark drops right rows with such a NULL before the join, so
   * their pairs throw nothing.
   */
  private def notNull: Seq[Expression] =
    constructIsNotNullConstraints(ExpressionSet(conditions), right).toSeq.filter(
      _.references.subsetOf(AttributeSet(right)))

  /** Called if the as-of bound of a left row throws and its key has candidates. */
  def ofBound(error: Throwable, leftRow: InternalRow, reader: GroupedRowsReader, group: Int): Unit =
    if (mayMatch(leftRow)) {
      var place = reader.last(group)
      // a tolerance that is false for the last row is false for all
      val first = if (terms.residual.isEmpty) place else reader.first(group)
      while (place >= first) {
        ofPair(error, leftRow, reader.row(place))
        place -= 1
      }
    }

  /**
   * Called if the as-of bound of the left row throws, or a condition throws on the pair. Throws the error if it is one
   * of the query.
   *
   * @return
   *   true if other candidates may still match
   */
  def ofPair(error: Throwable, leftRow: InternalRow, candidate: InternalRow): Boolean = {
    val pair = new JoinedRow(leftRow, candidate)
    val goOn = mayMatch(leftRow)
    if (!NonFatal(error) || goOn && pairParts.forall(mayHold(_, pair))) throw error
    goOn
  }

  /** True if no condition over left columns alone is false, so that some candidate may match. */
  def mayMatch(leftRow: InternalRow): Boolean = leftParts.forall(mayHold(_, leftRow))

  private def mayHold(condition: Expression, row: InternalRow): Boolean =
    try condition.eval(row) == true
    catch { case NonFatal(_) => true }
}

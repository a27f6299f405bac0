package io.github.sparkjoinery.lastjoin.search

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.ConstraintHelper

import io.github.sparkjoinery.execution.rows.GroupedRowsReader
import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms

/**
 * What becomes of an error in ON. Parts of ON are computed earlier here than in an ordinary join, and in another order:
 * the as-of bound once for a left row, the tolerance before a residual condition. So an error is one of the query only
 * if it is met with a pair of rows of which no other part of ON is false: then an ordinary join meets it in any order.
 * A part of ON that fails is never true, so a pair that is forgiven its error is no match.
 *
 * @param left
 *   columns of the left rows, at least those of the conditions
 */
class Failures(terms: LastJoinTerms, left: Seq[Attribute], right: Seq[Attribute])
  extends PredicateHelper with ConstraintHelper with Serializable {

  // Nothing is made ready before the first error, as there hardly ever is one.
  @transient private lazy val conditions = (terms.within ++ terms.residual).toSeq.flatMap(splitConjunctivePredicates)
  @transient private lazy val (leftConditions, pairConditions) =
    conditions.partition(_.references.subsetOf(AttributeSet(left)))
  @transient private lazy val leftParts = BindReferences.bindReferences(leftConditions, left)
  @transient private lazy val pairParts = BindReferences.bindReferences(pairConditions ++ notNull, left ++ right)

  /** Spark does not join right rows that have NULL in such columns, so their pairs meet no error. */
  private def notNull: Seq[Expression] =
    constructIsNotNullConstraints(ExpressionSet(conditions), right).toSeq.filter(
      _.references.subsetOf(AttributeSet(right)))

  /** The as-of bound of a left row fails, which has candidates in a group of right rows. */
  def ofBound(error: Throwable, leftRow: InternalRow, reader: GroupedRowsReader, group: Int): Unit =
    if (mayMatch(leftRow)) {
      var place = reader.last(group)
      // a tolerance that the last one does not keep to is kept to by none
      val first = if (terms.residual.isEmpty) place else reader.first(group)
      while (place >= first) {
        ofPair(error, leftRow, reader.row(place))
        place -= 1
      }
    }

  /**
   * The as-of bound of the left row fails, or a condition does on the pair.
   *
   * @return
   *   whether there is any point in trying other candidates
   */
  def ofPair(error: Throwable, leftRow: InternalRow, candidate: InternalRow): Boolean = {
    val pair = new JoinedRow(leftRow, candidate)
    val goOn = mayMatch(leftRow)
    if (!NonFatal(error) || goOn && pairParts.forall(mayHold(_, pair))) throw error
    goOn
  }

  /** Whether there may be any candidate of which no part of ON is false. */
  def mayMatch(leftRow: InternalRow): Boolean = leftParts.forall(mayHold(_, leftRow))

  private def mayHold(condition: Expression, row: InternalRow): Boolean =
    try condition.eval(row) == true
    catch { case NonFatal(_) => true }
}

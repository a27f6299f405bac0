package io.github.sparkjoinery.lastjoin.search

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.IntegerType

import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms

/** Which errors of a pair of rows are raised: those that a left join meets in whatever order it tests ON. */
class FailuresSuite extends AnyFunSuite {

  private val a = AttributeReference("a", IntegerType)()
  private val b = AttributeReference("b", IntegerType)()
  private val fails: Expression = Add(a, Literal(Int.MaxValue), EvalMode.ANSI)
  private val error = new ArithmeticException("the first")

  private def isRaised(left: Any, right: Any, within: Option[Expression], residual: Option[Expression]): Boolean = {
    val terms = LastJoinTerms(Nil, Nil, Nil, Some(fails), Some(b), strict = false, within, residual)
    try {
      new Failures(terms, Seq(a), Seq(b)).ofPair(error, InternalRow(left), InternalRow(right))
      false
    } catch { case raised: ArithmeticException => raised eq error }
  }

  test("nothing else in ON, or all of it true")(assert(
    isRaised(5, 5, None, None) && isRaised(5, 5, Some(GreaterThanOrEqual(b, a)), Some(LessThan(a, Literal(6))))))

  for (condition <- Seq(
      LessThan(a, Literal(3)),
      LessThan(b, a),
      And(EqualTo(a, b), IsNull(b)),
      LessThan(b, Literal(null, IntegerType))))
    test(s"not where $condition is false or NULL") {
      assert(!isRaised(5, 5, Some(condition), None) && !isRaised(5, 5, None, Some(condition)))
      assert(!isRaised(5, 5, Some(EqualTo(fails, b)), Some(condition)))
    }

  test("where all else fails, too")(assert(isRaised(5, 5, None, Some(LessThan(fails, b)))))

  test("not where the left row alone is no match, whatever fails of the pair")(assert(
    !isRaised(5, 5, None, Some(And(LessThan(fails, b), IsNull(a))))))

  test("not with a right row that Spark filters, for a NULL that makes ON no match")(assert(
    !isRaised(5, null, None, Some(LessThan(fails, b))) && isRaised(5, null, None, Some(EqualNullSafe(fails, b)))))

  test("what is no failure of an expression is raised")(intercept[InterruptedException] {
    val terms = LastJoinTerms(Nil, Nil, Nil, None, None, strict = false, None, Some(IsNull(a)))
    new Failures(terms, Seq(a), Seq(b)).ofPair(new InterruptedException, InternalRow(1), InternalRow(1))
  })
}

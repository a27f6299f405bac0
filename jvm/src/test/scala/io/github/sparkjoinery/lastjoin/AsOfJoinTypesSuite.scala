package io.github.sparkjoinery.lastjoin

import org.apache.spark.sql.types.DoubleType

import io.github.sparkjoinery.lastjoin.exec.LastJoinExec
import io.github.sparkjoinery.{Answers, AsOfJoinChecks}

/**
 * ASOF JOIN between two types. The condition compares values of one type, to which Spark casts; right rows are ordered
 * by the operand as written.
 */
class AsOfJoinTypesSuite extends AsOfJoinChecks {

  private val Zone = "spark.sql.session.timeZone"
  private val NewYork = "America/New_York"

  /** The right rows found for one left value, by each form of the operator and by Spark, which all agree. */
  private def found(left: String, right: Seq[String], operands: (String, String), op: String): Seq[String] = {
    views(
      "l" -> s"SELECT $left AS at",
      "r" -> s"SELECT * FROM VALUES ${right.zipWithIndex.map { case (v, i) => s"($i, $v)" }.mkString(", ")} AS t(n, ts)")
    def query(hint: String) =
      s"SELECT /*+ $hint(r) */ n FROM l ASOF JOIN r MATCH_CONDITION (${operands._1} $op ${operands._2})"
    val answers = Operators.map { case (hint, operator) =>
      val joined = sql(query(hint))
      assert(operators(joined).contains(operator), plan(joined))
      Answers.rows(joined)
    }
    assert(answers.distinct.size == 1, s"$left $op $right")
    if (sparkHasAsOfJoin) {
      assert(onSparkAsOf(Answers.rows(sql(query("MERGE")))) == answers.head, s"$left $op $right")
    }
    answers.head.map(_.filter(_.isDigit)).map(i => right(i.toInt))
  }

  private def check(
      title: String,
      left: String,
      right: Seq[String],
      answers: Seq[(String, Seq[String])],
      operands: (String, String) = ("l.at", "r.ts")): Unit = test(title) {
    withConf(Zone -> NewYork) {
      for ((op, expected) <- answers) assert(found(left, right, operands, op) == expected, op)
    }
  }

  private val Gap = "TIMESTAMP_NTZ'2024-03-10 02:30:00'" // no such local time: the instant of 03:30
  private val After = "TIMESTAMP_NTZ'2024-03-10 03:15:00'"

  for ((op, at, expected) <- Seq(
      (">=", "07:40", After),
      (">", "07:40", After),
      ("<=", "05:40", Gap),
      ("<", "05:40", Gap))) {
    check(
      s"a TIMESTAMP_NTZ on the right of $op, where clocks are set forward",
      s"TIMESTAMP'2024-03-10 $at:00Z'",
      Seq(Gap, After),
      Seq(op -> Seq(expected)))
  }
  check(
    "a cast that the statement has is part of the operand",
    "TIMESTAMP'2024-03-10 07:40:00Z'",
    Seq(Gap, After),
    Seq(">=" -> Seq(Gap)),
    operands = ("l.at", "CAST(r.ts AS TIMESTAMP)")
  )
  check(
    "operands the other way round",
    "TIMESTAMP'2024-03-10 07:40:00Z'",
    Seq(Gap, After),
    Seq("<=" -> Seq(After)),
    operands = ("r.ts", "l.at"))

  private val Early = "TIMESTAMP'2024-11-03 05:30:00Z'" // 01:30 of local time
  private val Late = "TIMESTAMP'2024-11-03 06:10:00Z'" // 01:10 of local time

  check(
    "a TIMESTAMP on the right, where clocks are set back",
    "TIMESTAMP_NTZ'2024-11-03 03:00:00'",
    Seq(Early, Late),
    Seq(">=" -> Seq(Late), ">" -> Seq(Late), "<=" -> Nil)
  )
  check(
    "a DATE on the right of a TIMESTAMP",
    "TIMESTAMP'2024-03-10 12:00:00'",
    Seq("DATE'2024-03-09'", "DATE'2024-03-10'", "DATE'2024-03-11'"),
    Seq(">=" -> Seq("DATE'2024-03-10'"), "<=" -> Seq("DATE'2024-03-11'"))
  )
  check(
    "a TIMESTAMP on the right of a DATE",
    "DATE'2024-11-03'",
    Seq("TIMESTAMP'2024-11-03 00:00:00'", Early),
    Seq(">=" -> Seq("TIMESTAMP'2024-11-03 00:00:00'"), "<" -> Seq(Early))
  )
  check("strings by a number: in the order of strings", "100", Seq("'9'", "'10'"), Seq(">=" -> Seq("'9'")))
  check("numbers by a string: in the order of numbers", "'100'", Seq("9", "10"), Seq(">=" -> Seq("10")))

  private val Even = "9007199254740992"
  private val Odd = "9007199254740993" // as a double it is the even one
  for (kind <- Seq("BD", "L")) {
    check(
      s"numbers that are one as doubles, $kind",
      s"${Odd}D",
      Seq(s"$Even$kind", s"$Odd$kind"),
      Seq(">=" -> Seq(s"$Odd$kind"), "<=" -> Seq(s"$Even$kind"), ">" -> Nil))
  }
  check("both sides cast", "16777217L", Seq("16777216F", "16777218F"), Seq(">" -> Seq("16777216F")))

  test("a cast that keeps the order of all values is an as-of comparison to the operator") {
    def terms(left: String, right: String): LastJoinExec = {
      views("l" -> s"SELECT $left AS at FROM range(3)", "r" -> s"SELECT $right AS ts FROM range(3)")
      withConf("spark.sql.adaptive.enabled" -> "false") {
        val joined = sql("SELECT /*+ MERGE(r) */ * FROM l ASOF JOIN r MATCH_CONDITION (l.at >= r.ts)")
        collect(plan(joined)) { case join: LastJoinExec => join }.head
      }
    }
    val ntz = "timestamp_ntz'2024-01-01' + make_dt_interval(int(id))"
    val instant = "timestamp'2024-01-01' + make_dt_interval(int(id))"
    assert(terms(instant, ntz).terms.onePass)
    assert(terms(ntz, instant).terms.onePass)
    withConf(Zone -> NewYork)(assert(!terms(instant, ntz).terms.onePass))
    val decimals = terms("double(id)", "CAST(id AS DECIMAL(15, 2))").terms
    assert(decimals.onePass && decimals.asOf.exists(_.dataType == DoubleType))
    assert(!terms("double(id)", "CAST(id AS DECIMAL(38, 2))").terms.onePass)
  }
}

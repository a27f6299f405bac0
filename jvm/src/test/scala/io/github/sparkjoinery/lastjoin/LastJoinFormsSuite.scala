package io.github.sparkjoinery.lastjoin

import org.apache.spark.sql.execution.{InputAdapter, SparkPlan, WholeStageCodegenExec}

import io.github.sparkjoinery.{Answers, LastJoinChecks, LastJoinQuery, OrderTerm}

/**
 * Each form, with and without generated code, over types that forms treat differently: times and keys that are a long,
 * or are not.
 */
class LastJoinFormsSuite extends LastJoinChecks {

  private val Settings = Seq("spark.sql.adaptive.enabled" -> "false", "spark.sql.shuffle.partitions" -> "2")

  private val Generated =
    Seq("spark.sql.codegen.wholeStage" -> "true", "spark.sql.codegen.factoryMode" -> "CODEGEN_ONLY")

  private val Integers = "0, 3, 5, 7, 9, 12"
  private val Doubles = "double('NaN'), -0.0D, 0.0D, double('-Infinity'), 1.5D, double('Infinity')"
  private val Decimals = "CAST('-1e30' AS DECIMAL(38, 4)), 0BD, 0.0001BD, 1.5BD, 2BD, CAST('1e30' AS DECIMAL(38, 4))"
  private val Strings = "'', 'a', 'B', 'ä', 'aa', '\uD83D\uDE00'"
  private val Timestamps = (0 to 5).map(hour => s"TIMESTAMP'2024-03-31 0$hour:30:00'").mkString(", ")

  /** Rows with six values, each of them often, and NULL. */
  private def side(rows: Int, seed: Int, keys: String, times: String): String =
    s"""SELECT int(id) AS id, try_element_at(array($keys), int(pmod(hash(id, $seed), 7)) + 1) AS k,
       |try_element_at(array($times), int(pmod(hash(id, $seed + 1), 7)) + 1) AS o, int(id % 3) AS v FROM range(0, $rows, 1, 2)""".stripMargin

  private def check(
      name: String,
      on: String,
      order: String = "ASC",
      keys: String = Integers,
      times: String = Integers): Unit = test(name) {
    for ((name, query) <- Seq("l" -> side(40, 1, keys, times), "r" -> side(70, 5, keys, times))) {
      val rows = sql(query) // here and now, so that each query below has little to compile but the join
      spark.createDataFrame(rows.collectAsList(), rows.schema).createOrReplaceTempView(name)
    }
    val query = LastJoinQuery(Seq(OrderTerm("r.o", order), OrderTerm("r.id")), on)
    val answer = asOracle(Answers.rows(sql(query.candidates)))
    assert(answer.size == 40 && answer.distinct.size == 40)
    for ((hint, operator) <- LastJoinForms; generated <- Seq(true, false))
      withConf(Settings ++ (if (generated) Generated else Interpreted): _*) {
        val joined = sql(query.sql(hint))
        val shown = s"$operator, generated code: $generated\n${plan(joined)}"
        assert(Answers.rows(joined) == answer, shown)
        assert(operators(joined).count(_ == operator) == 1, shown)
        assert(inGeneratedCode(plan(joined)).exists(_.nodeName == operator) == generated, shown)
      }
  }

  /** The operators inside the stages of generated code. */
  private def inGeneratedCode(plan: SparkPlan): Seq[SparkPlan] = {
    def fused(node: SparkPlan): Seq[SparkPlan] = node match {
      case _: InputAdapter => Nil
      case other => other +: other.children.flatMap(fused)
    }
    collect(plan) { case stage: WholeStageCodegenExec => fused(stage.child) }.flatten
  }

  check("as of", "l.k = r.k AND r.o <= l.o")
  check("as of, descending", "l.k = r.k AND l.o <= r.o", "DESC")
  check("as of, descending, NULLs first", "l.k = r.k AND l.o <= r.o", "DESC NULLS FIRST")
  check("as of, NULLs last", "l.k = r.k AND r.o <= l.o", "ASC NULLS LAST")
  check("strictly as of", "l.k = r.k AND r.o < l.o")
  check("strictly as of, descending", "l.k = r.k AND r.o > l.o", "DESC")
  check(
    "strictly as of the ends of a long",
    "l.k = r.k AND r.o < l.o",
    times = "-9223372036854775808L, -9223372036854775807L, -1L, 0L, 9223372036854775806L, 9223372036854775807L"
  )
  check(
    "strictly as of the ends of a long, descending",
    "l.k = r.k AND r.o > l.o",
    "DESC",
    times = "-9223372036854775808L, -9223372036854775807L, -1L, 0L, 9223372036854775806L, 9223372036854775807L"
  )
  check("within a tolerance", "l.k = r.k AND r.o <= l.o AND r.o >= l.o - 3")
  check("within a tolerance, descending", "l.k = r.k AND r.o >= l.o AND r.o <= l.o + 3", "DESC")
  check("within a tolerance that subtracts", "l.k = r.k AND r.o <= l.o AND l.o - r.o < 3")
  check("within a tolerance of time", "l.k = r.k AND r.o < l.o AND l.o - r.o <= INTERVAL '2' HOUR", times = Timestamps)
  check("within a tolerance, with a residual condition", "l.k = r.k AND r.o <= l.o AND r.o >= l.o - 5 AND r.v <> l.v")
  check("a lower bound alone", "l.k = r.k AND r.o >= l.o - 3")
  check("a lower bound alone, NULLs last", "l.k = r.k AND r.o >= l.o - 3", "ASC NULLS LAST")
  check("as of with a residual condition", "l.k = r.k AND r.o <= l.o AND r.v <> l.v")
  check("a residual condition alone, which is NULL for some", "l.k = r.k AND (r.v > l.v OR r.o = 5)")
  check("the last of each key", "l.k = r.k")
  check("the last of each key, descending", "l.k = r.k", "DESC")
  check("a string key", "l.k = r.k AND r.o <= l.o", keys = Strings)
  check("a string key, the last of each", "l.k = r.k", keys = Strings)
  check("a double key", "l.k = r.k AND r.o <= l.o", keys = Doubles)
  check("a key of a decimal too large for a long", "l.k = r.k AND r.o <= l.o", keys = Decimals)
  check("a key of two columns, one long", "l.k = r.k AND l.v = r.v AND r.o <= l.o")
  check("a key of two columns, longer than a long", "l.k = r.k AND l.v = r.v AND r.o <= l.o", keys = Strings)
  check("a NULL-safe key", "l.k <=> r.k AND r.o <= l.o")
  for ((comparison, order) <- Seq("r.o <= l.o" -> "ASC", "r.o > l.o" -> "DESC")) {
    check(s"as of a string: $comparison", s"l.k = r.k AND $comparison", order, times = Strings)
    check(s"as of a decimal too large for a long: $comparison", s"l.k = r.k AND $comparison", order, times = Decimals)
    check(s"as of a double with NaN and -0.0: $comparison", s"l.k = r.k AND $comparison", order, times = Doubles)
  }
}

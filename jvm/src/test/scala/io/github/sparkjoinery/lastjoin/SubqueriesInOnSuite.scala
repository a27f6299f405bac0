package io.github.sparkjoinery.lastjoin

import org.apache.spark.sql.AnalysisException

import io.github.sparkjoinery.{Answers, AsOfJoinChecks, Pairwise}

/**
 * IN and EXISTS in ON: LAST JOIN takes them where LEFT JOIN does, and ASOF JOIN where Spark's does. The oracle has them
 * in WHERE: in ON of a LEFT JOIN, Spark takes NULL NOT IN (...) of a left column for true.
 */
class SubqueriesInOnSuite extends AsOfJoinChecks {

  private val OverOneSide = Seq(
    "r.v IN (SELECT v FROM x)",
    "l.v IN (SELECT v FROM x)",
    "r.v NOT IN (SELECT v FROM x)",
    "l.v NOT IN (SELECT v FROM x)",
    "r.v NOT IN (SELECT v FROM x WHERE v IS NOT NULL)",
    "(r.v IN (SELECT v FROM x WHERE id < 4) OR l.v = 3)",
    "(l.v NOT IN (SELECT v FROM x WHERE id < 4) OR r.v = 3)",
    "CASE WHEN r.v IN (SELECT 1) THEN l.v > 1 ELSE true END",
    "(r.v, r.k) IN (SELECT v, k FROM x)",
    "EXISTS (SELECT 1 FROM x WHERE id < 0)",
    "NOT EXISTS (SELECT 1 FROM x WHERE id < 0)"
  )
  private val Correlated = Seq(
    "r.v IN (SELECT v FROM x WHERE x.k = r.k)",
    "l.v NOT IN (SELECT v FROM x WHERE x.k = l.k)",
    "EXISTS (SELECT 1 FROM x WHERE x.k = r.k AND x.id < 5)",
    "NOT EXISTS (SELECT 1 FROM x WHERE x.k = l.k AND x.v = l.v)",
    "(EXISTS (SELECT 1 FROM x WHERE x.v = r.v) OR l.id > 4)"
  )
  private val OverBoth = Seq("l.v + r.v IN (SELECT v FROM x)", "l.v + r.v NOT IN (SELECT v FROM x WHERE v > 1)")

  override protected def beforeAll(): Unit = {
    def rows(n: Int, seed: Int): String =
      s"""SELECT int(id) AS id, if(id % 5 = 4, NULL, int(id % 3)) AS k,
         |  if(id % 6 = 5, NULL, int(pmod(hash(id, $seed), 6))) AS v, int((id * 7 + $seed) % 31) AS o
         |FROM range($n)""".stripMargin
    super.beforeAll()
    computedViews("l" -> rows(20, 1), "r" -> rows(30, 2), "x" -> rows(9, 3))
  }

  private val modes =
    for (adaptive <- Seq(true, false); code <- Seq(true, false)) yield Seq(
      "spark.sql.adaptive.enabled" -> s"$adaptive",
      "spark.sql.codegen.wholeStage" -> s"$code")

  /** Each of some conditions by one operator, in one of the modes; in soak by each, in all. */
  private def each(conditions: Seq[String])(check: (String, String, String) => Unit): Unit =
    for ((condition, i) <- conditions.zipWithIndex; ((hint, operator), j) <- LastJoinForms.zipWithIndex;
      (mode, k) <- modes.zipWithIndex
      if Pairwise.isSoak || i % LastJoinForms.length == j && i % modes.length == k)
      withConf(mode: _*)(check(condition, hint, operator))

  private def checkOn(on: String, hint: String, operator: String): Unit = {
    val last = "max_by(struct(r.id, r.v), struct(r.o, r.id))"
    checkLastJoin(
      s"SELECT /*+ $hint(r) */ l.id, l.v, r.id AS rid, r.v AS rv FROM l l LAST JOIN r ORDER BY r.o, r.id ON $on",
      s"SELECT l.id, l.v, m.id AS rid, m.v AS rv FROM l LEFT JOIN (SELECT l.id, $last AS m FROM l, r WHERE $on GROUP BY l.id) p ON l.id = p.id",
      operator
    )
  }

  test("over columns of one side") {
    each(OverOneSide ++ Correlated) { (condition, hint, operator) =>
      checkOn(s"l.k = r.k AND r.o <= l.o AND $condition", hint, operator)
    }
  }

  test("beside equalities alone, and alone") {
    for (condition <- Seq(OverOneSide.head, Correlated(1)); on <- Seq(s"l.k = r.k AND $condition", condition))
      checkOn(on, "MERGE", "SortMergeLastJoin")
  }

  test("over columns of both sides, which LEFT JOIN refuses") {
    each(OverBoth) { (condition, hint, operator) =>
      checkOn(s"l.k = r.k AND r.o <= l.o AND $condition", hint, operator)
    }
  }

  test("several values over columns of both sides are refused") {
    val in = "(l.v, r.k) NOT IN (SELECT v, k FROM x WHERE id < 5)"
    for ((query, condition) <- Seq(
        s"SELECT * FROM l l LAST JOIN r ORDER BY r.o ON l.k = r.k AND $in" -> "JOINERY_LAST_JOIN.SUBQUERY_ON",
        s"SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.o >= r.o) ON l.k = r.k AND $in" -> "JOINERY_ASOF_JOIN.ON"
      ))
      assert(intercept[AnalysisException](sql(query)).getMessage.contains(condition))
  }

  test("of an ASOF JOIN") {
    assume(sparkHasAsOfJoin)
    each(OverOneSide ++ OverBoth) { (condition, hint, operator) =>
      for (kind <- Seq("INNER", "LEFT") if Pairwise.isSoak || (kind == "LEFT") == condition.contains("l.")) {
        val query =
          s"SELECT /*+ $hint(r) */ l.id, r.id AS rid FROM l $kind ASOF JOIN r MATCH_CONDITION (l.o >= r.o) ON l.k = r.k AND $condition"
        val answer = sql(query)
        assert(Answers.rows(answer) == onSparkAsOf(Answers.rows(sql(query))), query)
        assert(operators(answer).contains(operator), s"$query\n${plan(answer)}")
      }
    }
  }

  test("correlated, of an ASOF JOIN, which Spark's own fails to run") {
    each(Correlated) { (condition, hint, operator) =>
      val on = s"l.k = r.k AND $condition"
      val query =
        s"SELECT /*+ $hint(r) */ l.id, r.id AS rid FROM l LEFT ASOF JOIN r MATCH_CONDITION (l.o >= r.o) ON $on"
      val last =
        s"SELECT l.id, r.id AS rid FROM l l LAST JOIN r ORDER BY r.o ON r.o <= l.o AND $on" // which is tested above
      assert(Answers.rows(sql(query)) == Answers.rows(sql(last)), query)
      assert(operators(sql(query)).contains(operator))
    }
  }

  test("in a subquery with columns of an outer query") {
    val tested =
      "(SELECT count(r.id) FROM l l LAST JOIN r ORDER BY r.o, r.id ON l.k = r.k AND r.o <= q.o AND r.v IN (SELECT v FROM x))"
    val matches =
      "SELECT DISTINCT q.id, l.id AS lid FROM x q, l, r WHERE l.k = r.k AND r.o <= q.o AND r.v IN (SELECT v FROM x)"
    val expected = s"SELECT q.id, count(lid) FROM x q LEFT JOIN ($matches) m ON q.id = m.id GROUP BY q.id"
    assert(Answers.rows(sql(s"SELECT q.id, $tested FROM x q")) == onStockSpark(asOracle(Answers.rows(sql(expected)))))
  }

  test("on a side that ends in LIMIT, whose rows stay the same") {
    for {
      (condition, limit) <- Seq(
        "l.v IN (SELECT v FROM x)" -> "LIMIT 7",
        "l.v NOT IN (SELECT v FROM x WHERE v > 1)" -> "LIMIT 7",
        "EXISTS (SELECT 1 FROM x WHERE x.k = l.k AND x.id < 5)" -> "LIMIT 9",
        "(l.v, l.k) IN (SELECT v, k FROM x)" -> "LIMIT 5"
      )
      on = s"l.k = r.k AND r.o <= l.o AND $condition"
    } withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1", "spark.sql.shuffle.partitions" -> "5") {
      val (limited, columns) = (s"(SELECT * FROM l ORDER BY o, id $limit) l", "l.id, r.id AS rid")
      val last = s"SELECT $columns FROM $limited LAST JOIN r ORDER BY r.o, r.id ON $on"
      computedViews("few" -> s"SELECT * FROM l ORDER BY o, id $limit")
      val expected = last.replace(limited, "few l")
      assert(Answers.rows(sql(last)) == Answers.rows(sql(expected)), last)
    }
  }
}

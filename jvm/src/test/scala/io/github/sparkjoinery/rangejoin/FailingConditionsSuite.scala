package io.github.sparkjoinery.rangejoin

import org.apache.spark.SparkException

import io.github.sparkjoinery.rangejoin.exec.RangeJoinExec
import io.github.sparkjoinery.rangejoin.runtime.{FirstError, MatchedRows}
import io.github.sparkjoinery.{OnDefaultLine, Pairwise}

/** Conditions that fail for some rows or pairs: no error where stock Spark has rows. */
class FailingConditionsSuite extends EventsAndSpans {

  test("differences that overflow are found, or fail, as in Spark") {
    val ints = IntsWithEnds
    val longs = Seq("-9223372036854775808", "-9223372036854775807", "-5", "0", "5", "9223372036854775807")
      .map(n => s"(bigint('$n'))").mkString(", ")
    val (values, codes) =
      (Map("ints" -> ints, "longs" -> longs), Map("generated" -> Generated, "interpreted" -> Interpreted))
    for (chosen <- Pairwise.cases(
        "values" -> values.keys.toSeq.sorted,
        "code" -> codes.keys.toSeq.sorted,
        "spark.sql.ansi.enabled" -> Seq("false", "true"),
        "hint" -> Seq("BROADCAST(a)", "BROADCAST(b)"),
        "condition" -> Seq(
          "a.x - b.x BETWEEN -20 AND 20",
          "abs(a.x - b.x) < 10",
          "a.x - b.x > 100",
          "b.x - a.x <= -2147483000",
          "abs(a.x - b.x) <= -1",
          "a.x - b.x < 2147483647 AND a.x - b.x >= -2147483648"
        )
      )) withConf(codes(chosen("code")) :+ ("spark.sql.ansi.enabled" -> chosen("spark.sql.ansi.enabled")): _*) {
      val side = values(chosen("values"))
      checkRangeJoin(
        s"SELECT /*+ ${chosen("hint")} */ * FROM VALUES $side AS a(x) JOIN VALUES $side AS b(x) ON ${chosen("condition")}")
    }
    // The index may be too large. One side has an interval of two terms instead of a point.
    for {
      maxBroadcast <- Seq("1", "1GB")
      hint <- Seq("BROADCAST(a)", "BROADCAST(b)")
      condition <- Seq("a.x - b.x < 100 AND a.y - b.x > -100", "b.x - a.x < 100 AND b.x >= a.y")
    } withConf("spark.joinery.rangeJoin.maxBroadcast" -> maxBroadcast, "spark.sql.ansi.enabled" -> "false")(
      checkRangeJoin(
        s"SELECT /*+ $hint */ * FROM (SELECT l.x, r.x AS y FROM VALUES $ints AS l(x), VALUES $ints AS r(x)) a LEFT JOIN VALUES $ints AS b(x) ON $condition"))
  }

  test("a bound that fails is an error where the join of stock Spark has one") {
    val overflow =
      "SELECT e.id, s.id AS sid FROM (SELECT id, if(id = 3, 2147483647, x) AS x FROM events) e JOIN spans s ON "
    for (ansi <- Seq("true", "false"); conf <- Seq(Generated, Interpreted))
      withConf(conf :+ ("spark.sql.ansi.enabled" -> ansi): _*) {
        checkRangeJoin(overflow + "e.x + 1 BETWEEN s.lo AND s.hi")
        checkRangeJoin(overflow + "e.id <> 3 AND e.x + 1 BETWEEN s.lo AND s.hi")
        checkRangeJoin(overflow + "s.lo < e.x AND s.id <> 39 AND e.x < s.hi * 100000000")
      }
  }

  test("a key that fails is not computed beside an index without rows, as in Spark") {
    for {
      conf <- Seq(Generated, Interpreted)
      join <- Seq("JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
    } withConf(conf ++ Seq("spark.sql.ansi.enabled" -> "true", "spark.sql.adaptive.enabled" -> "false"): _*) {
      checkRangeJoin(s"""SELECT /*+ BROADCAST(s) */ e.id FROM events e $join (SELECT * FROM spans WHERE id < 0) s
        |ON coalesce(1 / (e.id % 3), 0) = s.k AND e.x BETWEEN s.lo AND s.hi""".stripMargin)
    }
  }

  test("where one match is enough, another row's error counts only without one, as in Spark, which ends at the first") {
    for {
      conf <- Seq(Generated, Interpreted)
      (limit, operator) <- Seq("1g" -> Broadcast, "1" -> Shuffled)
      select <- Seq(
        "SELECT /*+ RANGE_JOIN(b) */ a.x FROM a LEFT SEMI JOIN b ON",
        "SELECT /*+ RANGE_JOIN(b) */ a.x FROM a LEFT ANTI JOIN b ON")
      // the first row is a match in each order in which Spark may read the rows of the key
      others <- Seq("(1, 5), (1, -2147483648), (1, 6)", "(1, 500), (1, -2147483648), (1, 600)")
    } withConf(conf :+ ("spark.joinery.rangeJoin.maxBroadcast" -> limit) :+ ("spark.sql.ansi.enabled" -> "true"): _*) {
      checkRangeJoin(
        s"WITH a AS (SELECT * FROM VALUES (1, 1) AS a(k, x)), b AS (SELECT * FROM VALUES $others AS b(k, x)) " +
          s"$select a.k = b.k AND abs(b.x - a.x) < 10",
        operator
      )
    }
  }

  test("so it is where the rows that are kept are the indexed ones", OnDefaultLine) {
    for {
      code <- Seq(Generated, Interpreted)
      operator <- Seq(Broadcast, Shuffled)
      indexed <- Seq("a", "b")
      chosen <- Pairwise.cases(
        "query" -> Seq(
          "SELECT @ a.x FROM a LEFT SEMI JOIN b ON #",
          "SELECT @ a.x FROM a LEFT ANTI JOIN b ON #",
          "SELECT @ a.x FROM a WHERE a.x = 0 OR EXISTS (SELECT * FROM b WHERE #)"
        ),
        // rows of the first and the last of three partitions; the pairs of the one between fail
        "matches" -> Seq("(1, 5), (1, 6)", "(1, 500), (1, 600)", "(1, 500), (1, 5)")
      )
    } withConf(
      code ++ Seq(
        "spark.joinery.rangeJoin.maxBroadcast" -> (if (operator == Broadcast) "1g" else "1"),
        "spark.sql.leafNodeDefaultParallelism" -> "3",
        "spark.sql.ansi.enabled" -> "true"
      ): _*) {
      val others = chosen("matches")
      val more = Seq.fill(8)("(2, 0)").mkString(", ") // the other side is the larger one
      val (left, right) = if (indexed == "a") ("", s", $more") else (s"$more, ", "")
      val hint = if (operator == Broadcast) s"BROADCAST($indexed)" else s"RANGE_JOIN($indexed)"
      val (query, _) = checkedRangeJoin(
        s"WITH a AS (SELECT * FROM VALUES $left(1, 1), (1, 2) AS a(k, x)), " +
          s"b AS (SELECT * FROM VALUES $others$right, (1, -2147483648), (1, -2147483648)$right, $others$right AS b(k, x)) " +
          chosen("query").replace("@", s"/*+ $hint */").replace("#", "a.k = b.k AND abs(b.x - a.x) < 10"),
        operator
      )
      val side = if (indexed == "a") "BuildLeft" else "BuildRight"
      assert(planned(query).exists(_.toString.contains(s"$side indexed")), s"$indexed: ${query.queryExecution}")
    }
  }

  test("so it is where an index is built in parts, and the match is in a later one", OnDefaultLine) {
    // the rows of key 1 of the indexed side are in several parts; the other side is large enough not to be indexed
    val sides = Map(
      "a" -> ("range(400)", "id % 1 + 1", "range(0, 2000, 1, 1)", "if(id % 300 = 0, 1, 2)", "900"),
      "b" -> ("range(200)", "id % 100", "range(0, 500, 1, 1)", "id % 1 + 1", "400")
    )
    for {
      (code, i) <- Seq(Generated, Interpreted).zipWithIndex
      (operator, j) <- Seq(Broadcast, Shuffled).zipWithIndex
      (indexed, k) <- Seq("a", "b").zipWithIndex
      (select, l) <- Seq(
        "SELECT @ a.x FROM a LEFT SEMI JOIN b ON #",
        "SELECT @ a.x FROM a LEFT ANTI JOIN b ON #",
        "SELECT @ a.x FROM a WHERE a.x = 0 OR EXISTS (SELECT * FROM b WHERE #)"
      ).zipWithIndex
      if l < 2 || operator == Shuffled && indexed == "a" // no hint is about a subquery
      other <- if ((i + j + k + l) % 2 == 0 || Pairwise.isSoak) Seq("5", "500") else Seq("5") // a match, or none
    } withConf(
      code ++ Seq(
        "spark.joinery.rangeJoin.maxBroadcast" -> "1",
        "spark.joinery.rangeJoin.maxIndexPart" -> "1",
        "spark.sql.ansi.enabled" -> "true"): _*) {
      val (ofA, keyOfA, ofB, keyOfB, failing) = sides(indexed)
      val hint = if (operator == Broadcast) s"BROADCAST($indexed)" else s"RANGE_JOIN($indexed)"
      val text =
        s"WITH a AS (SELECT int($keyOfA) AS k, int(id % 1) AS x FROM $ofA), " +
          s"b AS (SELECT int($keyOfB) AS k, if(id < $failing, -2147483648, $other) AS x FROM $ofB) " +
          select.replace("@", s"/*+ $hint */").replace("#", "a.k = b.k AND abs(b.x - a.x) < 10")
      val (query, _) = checkedRangeJoin(text, operator)
      val side = if (indexed == "a") "BuildLeft" else "BuildRight"
      assert(planned(query).exists(_.toString.contains(s"$side indexed")), plan(query))
      if (other == "5") {
        query.collect()
        val metrics = collectFirst(plan(query)) { case join: RangeJoinExec => join }.get.metrics
        assert(metrics("indexParts").value > 2, plan(query))
      }
    }
  }

  test("an error of a row counts until the row has a match") {
    val rows = new MatchedRows
    rows.raise()
    rows.fail(2, new ArithmeticException("first"))
    rows.fail(3, new ArithmeticException("second"))
    rows.add(2)
    rows.raise(1)
    assert(intercept[ArithmeticException](rows.raise(3)).getMessage == "first")
    assert(intercept[ArithmeticException](rows.raise()).getMessage == "first")
    rows.add(3)
    rows.raise()
  }

  test("an error of one task counts unless another task finds a match") {
    spark.range(1).count() // with a serializer of the session
    val (one, other) = (new MatchedRows, new MatchedRows)
    val error = new ArithmeticException("not to be sent") { val own = new Object }
    one.fail(7, error)
    assert(intercept[SparkException](MatchedRows.ofTasks(Iterator(one.toBytes))).getMessage == error.toString)
    other.add(7)
    assert(MatchedRows.ofTasks(Iterator(one.toBytes, other.toBytes)).contains(7))
    one.add(7)
    assert(MatchedRows.ofTasks(Iterator(one.toBytes)).contains(7))
  }

  test("a row whose own bound fails is not tried with all rows that it could meet") {
    val errors = new FirstError
    val first = new ArithmeticException("first")
    errors.add(first)
    for (_ <- 1 to 998) errors.add(new ArithmeticException("another"))
    assert(intercept[ArithmeticException](errors.add(new ArithmeticException("last"))) eq first)
    errors.clear()
    errors.raise()
  }
}

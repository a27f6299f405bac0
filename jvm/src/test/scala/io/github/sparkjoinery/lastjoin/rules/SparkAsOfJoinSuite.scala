package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.joinery.SparkAsOf

import io.github.sparkjoinery.planning.explain.PlanReport
import io.github.sparkjoinery.{Answers, AsOfJoinChecks}

/** Spark's own as-of join of DataFrames, run by Joinery's operators. The oracle is Spark. */
class SparkAsOfJoinSuite extends AsOfJoinChecks {

  private val Values = "id % 7 = 0, NULL, id * 37 % 50"

  override protected def beforeAll(): Unit = views(
    "l" -> s"SELECT int(id) AS id, id % 3 AS k, int(if($Values)) AS t, double(if($Values)) AS d, date'2024-01-01' + int(id) AS day FROM range(30)",
    "r" -> s"SELECT int(id) AS rid, id % 3 AS k, int(if($Values)) + 1 AS t, double(if($Values)) AS d, date'2024-01-01' + int(id * 2) AS day FROM range(20)"
  )

  private def left: DataFrame = spark.table("l")
  private def right: DataFrame = spark.table("r")

  /** Each join has only one right answer, because values differ within a key. */
  private def check(name: String)(join: => DataFrame): Unit = test(name) {
    val joined = join
    val answer = Answers.rows(joined)
    withConf("spark.joinery.asofJoin.enabled" -> "false") {
      val theirs = join
      assert(answer == Answers.rows(theirs))
      assert(joined.schema == theirs.schema)
      assert(!operators(theirs).exists(_.endsWith("LastJoin")))
    }
    assert(answer.nonEmpty)
    assert(operators(joined).contains("BroadcastLastJoin"), plan(joined))
  }

  for (direction <- Seq("backward", "forward"); how <- Seq("inner", "left"); exact <- Seq(true, false)) {
    check(s"$direction, $how, exact matches $exact") {
      SparkAsOf.join(
        left,
        right,
        left("t"),
        right("t"),
        Seq("k"),
        how,
        allowExactMatches = exact,
        direction = direction)
    }
    check(s"$direction, $how, exact matches $exact, within a tolerance") {
      SparkAsOf.join(left, right, left("t"), right("t"), Seq("k"), how, lit(12), exact, direction)
    }
    check(s"$direction, $how, exact matches $exact, operands of two types") {
      SparkAsOf.join(left, right, left("t"), right("d"), Seq("k"), how, lit(12), exact, direction)
    }
  }
  check("dates")(SparkAsOf.join(left, right, left("day"), right("day"), Seq("k")))
  check("a date and a timestamp")(SparkAsOf.join(
    left,
    right,
    left("day"),
    right("day").cast("timestamp"),
    Seq("k"),
    "left"))
  check("no key")(SparkAsOf.join(left, right, left("d"), right("d") + 0.25, Nil))
  check("itself")(SparkAsOf.join(
    left.as("a"),
    left.as("b"),
    col("a.day"),
    col("b.day"),
    Nil,
    allowExactMatches = false))
  check("columns chosen and a filter above") {
    SparkAsOf.join(left, right, left("t"), right("t"), Seq("k"), "left").where("rid > 3").select("id", "rid")
  }

  if (sparkHasAsOfJoin) {
    test("a statement that Spark's own parser has read") {
      for (op <- Seq(">=", ">", "<=", "<"); kind <- Seq("INNER", "LEFT");
        on <- Seq("USING (k)", "ON l.k = r.k AND r.rid > 3")) {
        val query = s"SELECT l.id, r.rid FROM l $kind ASOF JOIN r MATCH_CONDITION (r.t $op l.t) $on"
        val joined = onSparkAsOf(sql(query))
        assert(operators(joined).contains("BroadcastLastJoin"), plan(joined))
        assert(Answers.rows(joined) == onSparkAsOf(Answers.rows(sql(query))), query)
      }
    }
  }

  test("a hint of either form") {
    for ((hint, operator) <- Operators) {
      val joined = SparkAsOf.join(left, right.hint(hint), left("t"), right("t"), Seq("k"))
      assert(operators(joined).contains(operator))
    }
  }

  private def declined(name: String, reason: String)(join: => DataFrame): Unit = test(s"left to Spark: $name") {
    for (adaptive <- Seq("true", "false")) withConf("spark.sql.adaptive.enabled" -> adaptive) {
      val joined = join.select("id", "rid").where("rid IS NOT NULL")
      def report = PlanReport.readFrom(plan(joined)).filter(_.reason.contains(reason))
      assert(report.size == 1 && !report.head.joinery && report.head.kind == "join", plan(joined))
      val answer = Answers.rows(joined)
      assert(report.size == 1)
      withConf("spark.joinery.asofJoin.enabled" -> "false") {
        assert(Answers.rows(join.select("id", "rid").where("rid IS NOT NULL")) == answer)
      }
      assert(!operators(joined).exists(_.endsWith("LastJoin")))
    }
  }

  for (how <- Seq("inner", "left")) {
    declined(s"nearest, $how", "direction nearest") {
      SparkAsOf.join(left, right, left("d"), right("d") + 0.25, Seq("k"), how, direction = "nearest")
    }
  }
  declined("nearest within a tolerance", "direction nearest") {
    SparkAsOf.join(left, right, left("d"), right("d") + 0.25, Seq("k"), tolerance = lit(3.0), direction = "nearest")
  }
  test("left to Spark: timestamps where clocks are set back, because it compares local times") {
    views(
      "late" -> "SELECT 1 AS id, TIMESTAMP'2024-11-03T06:30:00Z' AS t",
      "early" -> """SELECT * FROM VALUES (1, TIMESTAMP'2024-11-03T05:30:00Z'), (2, TIMESTAMP'2024-11-03T06:10:00Z')
                   |AS t(rid, t)""".stripMargin
    )
    def join: DataFrame = {
      val (l, r) = (spark.table("late"), spark.table("early"))
      SparkAsOf.join(l, r, l("t"), r("t"), Nil).select("id", "rid")
    }
    val statement = "SELECT l.id, r.rid FROM late l ASOF JOIN early r MATCH_CONDITION (l.t >= r.t)"
    for ((zone, theirs) <- Seq("America/New_York" -> "(1, 1)", "UTC" -> "(1, 2)", "+8:00" -> "(1, 2)")) {
      withConf("spark.sql.session.timeZone" -> zone) {
        assert(withConf("spark.joinery.asofJoin.enabled" -> "false")(Answers.rows(join)) == Seq(theirs), zone)
        assert(Answers.rows(join) == Seq(theirs), zone)
        assert(operators(join).contains("BroadcastLastJoin") == (zone != "America/New_York"), zone)
        // the syntax means instants everywhere, as docs/reference/asof-join.md says
        assert(Answers.rows(sql(statement)) == Seq("(1, 2)"), zone)
        if (sparkHasAsOfJoin) {
          withConf("spark.joinery.asofJoin.enabled" -> "false", "spark.sql.join.asofJoin.enabled" -> "true") {
            assert(Answers.rows(sql(statement)) == Seq("(1, 2)"), zone)
          }
        }
      }
    }
  }

  test("timestamps are compared as in the time zone in which the join was analyzed") {
    views(
      "late" -> "SELECT 1 AS id, TIMESTAMP'2024-11-03T06:30:00Z' AS t",
      "early" -> """SELECT * FROM VALUES (1, TIMESTAMP'2024-11-03T05:30:00Z'), (2, TIMESTAMP'2024-11-03T06:10:00Z')
                   |AS t(rid, t)""".stripMargin
    )
    def analyzed(zone: String): DataFrame = withConf("spark.sql.session.timeZone" -> zone) {
      val (l, r) = (spark.table("late"), spark.table("early"))
      SparkAsOf.join(l, r, l("t"), r("t"), Nil).select("id", "rid")
    }
    for ((before, after) <- Seq("America/New_York" -> "UTC", "UTC" -> "America/New_York")) {
      def answer: Seq[String] = {
        val joined = analyzed(before)
        withConf("spark.sql.session.timeZone" -> after)(Answers.rows(joined))
      }
      val theirs = withConf("spark.joinery.asofJoin.enabled" -> "false")(answer)
      assert(theirs == Seq(if (before == "UTC") "(1, 2)" else "(1, 1)"))
      assert(answer == theirs, s"$before, then $after")
      val joined = analyzed(before)
      val chosen = withConf("spark.sql.session.timeZone" -> after)(operators(joined))
      assert(chosen.contains("BroadcastLastJoin") == (before == "UTC"), chosen)
    }
  }

  test("left to Spark: a TIMESTAMP and a TIMESTAMP_NTZ where clocks are set, because it compares local times") {
    views(
      "instants" -> """SELECT * FROM VALUES (1, TIMESTAMP'2024-03-10T07:40:00Z'), (2, TIMESTAMP'2024-03-10T05:40:00Z'),
                      |(3, TIMESTAMP'2024-11-03T05:30:00Z'), (4, TIMESTAMP'2024-11-03T06:10:00Z') AS t(id, t)""".stripMargin,
      "locals" -> """SELECT * FROM VALUES (1, TIMESTAMP_NTZ'2024-03-10 02:30'), (2, TIMESTAMP_NTZ'2024-03-10 03:15'),
                    |(3, TIMESTAMP_NTZ'2024-11-03 01:15'), (4, TIMESTAMP_NTZ'2024-11-03 03:00') AS t(rid, t)""".stripMargin
    )
    for ((a, b) <- Seq("instants" -> "locals", "locals" -> "instants"); direction <- Seq("backward", "forward");
      zone <- Seq("America/New_York", "UTC")) withConf("spark.sql.session.timeZone" -> zone) {
      def join: DataFrame = {
        val (l, r) = (spark.table(a), spark.table(b))
        SparkAsOf.join(l, r, l("t"), r("t"), Nil, "left", direction = direction).select("id", "rid")
      }
      val joined = join
      val theirs = withConf("spark.joinery.asofJoin.enabled" -> "false")(Answers.rows(join))
      assert(Answers.rows(joined) == theirs, s"$a, $b, $direction, $zone")
      assert(operators(joined).contains("BroadcastLastJoin") == (zone == "UTC"), zone)
    }
  }

  test("left to Spark: strings, which it takes by the difference of their numbers") {
    withConf("spark.sql.ansi.enabled" -> "false") {
      val joined = SparkAsOf.join(left, right, left("t").cast("string"), right("t").cast("string"), Seq("k"))
      assert(PlanReport.readFrom(plan(joined)).exists(_.reason.contains("not a number or time")))
      assert(!operators(joined).exists(_.endsWith("LastJoin")))
    }
  }
}

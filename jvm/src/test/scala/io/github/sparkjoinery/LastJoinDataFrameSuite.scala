package io.github.sparkjoinery

import java.sql.Timestamp

import org.apache.spark.sql.functions
import org.apache.spark.sql.functions.{window => _, _}
import org.apache.spark.sql.{AnalysisException, Column, DataFrame, Observation}

import io.github.sparkjoinery.implicits._
import io.github.sparkjoinery.planning.explain.PlanReport

/** `left.lastJoin(...)`, and the marks that it and Python's last_join() put on the sides. */
class LastJoinDataFrameSuite extends LastJoinChecks {

  override protected def beforeAll(): Unit = views(
    "flights" -> "SELECT * FROM VALUES (1, 'EWR', 10), (2, 'EWR', 20), (3, 'JFK', 5), (4, NULL, 10) AS t(flight, origin, departs)",
    "weather" -> "SELECT * FROM VALUES ('EWR', 10), ('EWR', 15), ('EWR', 25), ('EWR', NULL), ('JFK', 7) AS t(origin, observed)"
  )

  private def flights: DataFrame = spark.table("flights")
  private def weather: DataFrame = spark.table("weather")

  private def check(name: String, expected: (Int, Any)*)(joined: => DataFrame): Unit = test(name) {
    val rows = joined.select("flight", "observed")
    assert(Answers.rows(rows) == expected.map { case (flight, observed) =>
      s"($flight, ${Answers.text(observed)})"
    }.sorted)
    assert(operators(rows).exists(_.endsWith("LastJoin")))
  }

  check("names", 1 -> 25, 2 -> 25, 3 -> 7, 4 -> null)(flights.lastJoin(weather, Seq("origin"), col("observed")))

  check("a condition", 1 -> 10, 2 -> 15, 3 -> null, 4 -> null) {
    val (f, w) = (flights, weather)
    f.lastJoin(w, f("origin") === w("origin") && w("observed") <= f("departs"), w("observed"))
  }

  check("as of, by names", 1 -> 10, 2 -> 15, 3 -> null, 4 -> null)(
    flights.lastJoin(weather, Seq("origin"), AsOf(col("departs")), col("observed")))

  check("as of, by a condition, within a tolerance", 1 -> 10, 2 -> null, 3 -> null, 4 -> null)(
    flights.as("f").lastJoin(
      weather.as("w"),
      col("f.origin") === col("w.origin"),
      AsOf(col("departs"), lit(4)),
      col("observed")))

  check("as of, forwards", 1 -> 10, 2 -> 25, 3 -> 7, 4 -> null)(
    flights.lastJoin(weather, Seq("origin"), AsOf(col("departs"), lit(5)), col("observed").desc))

  test("the right side's rows are observed, also where none of its columns is used") {
    val observation = Observation("right")
    val observed = weather.observe(observation, count(lit(1)).as("rows"))
    flights.lastJoin(observed, Seq("origin"), col("observed")).select("flight").collect()
    assert(observation.get == Map("rows" -> 5))
  }

  test("as of a time window, of which Spark makes a column", SinceSpark40) {
    val asOf = AsOf(functions.window(timestamp_seconds(col("departs")), "1 hour")("start"))
    for (joined <- Seq(
        () => flights.lastJoin(weather, Seq("origin"), asOf, col("observed")),
        () =>
          flights.lastJoin(
            weather,
            Seq("origin"),
            functions.window(timestamp_seconds(col("observed")), "1 hour")("start")),
        () => flights.lastJoin(weather, Seq("origin"), window_time(col("w"))),
        () => flights.lastJoin(weather, Seq("origin"), AsOf(window_time(col("w"))), col("observed"))
      ))
      assert(intercept[AnalysisException](joined()).getMessage.startsWith("[JOINERY_LAST_JOIN.TIME_WINDOW]"))
  }

  check("as of, typed", 1 -> 10, 2 -> 15, 3 -> null, 4 -> null) {
    val session = spark
    import session.implicits._
    flights.as[(Int, String, Int)].lastJoin(
      weather.as[(String, Option[Int])],
      Seq("origin"),
      AsOf(col("departs")),
      col("observed"))
  }

  test("the examples of docs/reference/last-join.md") {
    val session = spark
    import session.implicits._
    val flights = Seq((1, "JFK", Timestamp.valueOf("2013-01-01 10:30:00"))).toDF("flight_id", "origin", "departs_at")
    val weather = Seq(
      ("JFK", Timestamp.valueOf("2013-01-01 09:00:00"), 3.9),
      ("JFK", Timestamp.valueOf("2013-01-01 11:00:00"), 5.0))
      .toDF("origin", "observed_at", "temperature")
    val found = Seq(
      flights.lastJoin(weather, Seq("origin"), $"temperature".desc_nulls_first, $"observed_at"),
      flights.lastJoin(weather, Seq("origin"), AsOf($"departs_at", expr("INTERVAL 2 HOURS")), $"observed_at"),
      flights.lastJoin(weather, flights("origin") === weather("origin"), AsOf($"departs_at"), $"observed_at")
    )
    assert(found.map(_.select("temperature").as[Double].collect().toSeq) == Seq.fill(3)(Seq(3.9)))
  }

  test("without order any one match") {
    assert(flights.lastJoin(weather, Seq("origin")).where("observed IS NOT NULL OR flight = 4").count() >= 2)
    assert(flights.lastJoin(weather, Seq("origin")).count() == 4)
  }

  test("names are in the result once, and come first") {
    assert(flights.lastJoin(weather, Seq("origin"), AsOf(col("departs")), col("observed")).columns.toSeq ==
      Seq("origin", "flight", "departs", "observed"))
  }

  test("as of is the comparison that one would write, once") {
    val (f, w) = (flights, weather)
    def condition(joined: DataFrame): (Option[String], Option[String], Boolean, Option[String]) = {
      val terms = plan(joined).collectFirst { case join: lastjoin.exec.LastJoinExec => join.terms }.get
      (terms.asOf.map(_.sql), terms.asOfTerm.map(_.sql), terms.strict, terms.residual.map(_.sql))
    }
    val written = f.lastJoin(w, f("origin") === w("origin") && w("observed") <= f("departs"), w("observed"))
    assert(condition(f.lastJoin(w, Seq("origin"), AsOf(col("departs")), col("observed"))) == condition(written))
    assert(condition(written)._1.isDefined && condition(written)._4.isEmpty)
  }

  test("a tolerance beside dates stops at the ends of the type") {
    def days(values: Int*): DataFrame =
      sql(s"SELECT date_from_unix_date(day) AS day FROM VALUES ${values.mkString("(", "), (", ")")} AS t(day)")
    val (times, seen) =
      (days(Int.MinValue + 1, 100, Int.MaxValue - 1), days(Int.MinValue, 95, Int.MaxValue).toDF("seen"))
    def found(order: Column): Seq[String] = Answers.rows(
      times.lastJoin(seen, lit(true), AsOf(col("day"), expr("INTERVAL 7 DAYS")), order)
        .selectExpr("unix_date(day)", "unix_date(seen)"))
    assert(found(col("seen")) == Seq("(-2147483647, -2147483648)", "(100, 95)", "(2147483646, NULL)"))
    assert(found(col("seen").desc_nulls_first) == Seq("(-2147483647, NULL)", "(100, NULL)", "(2147483646, 2147483647)"))
  }

  for ((hint, operator) <- LastJoinForms.map { case (hint, operator) => (hint.toLowerCase, operator) }) {
    val order = call_function("joinery_last_join_order", col("observed"))
    for ((place, right) <- Seq[(String, () => DataFrame)](
        "below the mark" -> (() => weather.hint(hint).filter(order)),
        "above the mark" -> (() => weather.filter(order).hint(hint)),
        "on an alias, below" -> (() => weather.as("w").hint(hint).filter(order)),
        "on both sides of the mark" -> (() => weather.hint(hint).filter(order).hint(hint))
      )) {
      test(s"the hint $hint $place") {
        val joined = flights.join(right(), Seq("origin"), "left")
        joined.collect()
        assert(operators(joined).contains(operator))
        assert(PlanReport.readFrom(plan(joined)).map(_.reason) == Seq("hint"))
      }
    }
  }

  private val asOf = call_function("joinery_last_join_as_of", col("departs"))
  private val order = call_function("joinery_last_join_order", col("observed"))

  private def refused(name: String, condition: String)(query: => DataFrame): Unit = test(s"refused: $name") {
    val error = intercept[AnalysisException](query.collect())
    assert(error.getMessage.startsWith(s"[$condition"), error)
  }

  refused("as of without a join", "JOINERY_LAST_JOIN.MISPLACED_AS_OF")(flights.filter(asOf))
  refused("as of on the left of an ordinary join", "JOINERY_LAST_JOIN.MISPLACED_AS_OF")(
    flights.filter(asOf).join(weather, Seq("origin"), "left"))
  refused("as of beside another predicate", "JOINERY_LAST_JOIN.MISPLACED_AS_OF")(
    flights.filter(asOf && col("flight") > 1).join(weather.filter(order), Seq("origin"), "left"))
  refused("as of below another filter", "JOINERY_LAST_JOIN.MISPLACED_AS_OF")(
    flights.filter(asOf).filter("flight > 1").join(weather.filter(order), Seq("origin"), "left"))
  refused("as of without an order", "JOINERY_LAST_JOIN.AS_OF_WITHOUT_ORDER")(
    flights.lastJoin(weather, Seq("origin"), AsOf(col("departs"))))
  refused("a tolerance that is no distance", "JOINERY_LAST_JOIN.TOLERANCE_TYPE")(
    flights.lastJoin(weather, Seq("origin"), AsOf(col("departs"), expr("INTERVAL 1 DAY")), col("observed")))
  refused("a time that does not compare", "DATATYPE_MISMATCH")(
    flights.lastJoin(weather, Seq("origin"), AsOf(array(col("departs"))), col("observed")))
}

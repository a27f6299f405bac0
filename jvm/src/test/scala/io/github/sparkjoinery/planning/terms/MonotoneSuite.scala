package io.github.sparkjoinery.planning.terms

import scala.util.Try

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{ConstantFolding, ReplaceExpressions}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.types.{Decimal, StructType}

import io.github.sparkjoinery.JoinerySession

/**
 * Expressions that rise or fall with the ORDER BY term `t`. `u` is another column of its side, `x` one of the other
 * side.
 */
class MonotoneSuite extends JoinerySession {

  private val Up = Some(1)
  private val Down = Some(-1)
  private val Constant = Some(0)

  /** Values of t in ascending order, the awkward ones among them. */
  private val samples: Map[String, Seq[String]] = Map(
    "int" -> Seq("-2147483648", "-1", "0", "1", "2147483647"),
    "bigint" -> Seq("-9223372036854775807L", "-1L", "0L", "1L", "9223372036854775807L"),
    "smallint" -> Seq("-32768S", "-1S", "0S", "32767S"),
    "float" -> Seq("float('-Infinity')", "0F", "1.5F", "float('NaN')"),
    "double" -> Seq("double('-Infinity')", "-1D", "0D", "1.5D", "double('Infinity')", "double('NaN')"),
    "decimal(10,2)" -> Seq("-99999999.99BD", "0BD", "0.01BD", "99999999.99BD"),
    "string" -> Seq("''", "'10'", "'9'"),
    "date" -> Seq("DATE'2024-03-09'", "DATE'2024-03-10'", "DATE'2024-11-03'", "DATE'2024-11-04'"),
    // clocks of New York are set forward on 10 March, back on 3 November
    "timestamp" -> Seq(
      "2024-03-10T06:59:59Z",
      "2024-03-10T07:00:00Z",
      "2024-11-02T05:30:00Z",
      "2024-11-03T05:00:00Z",
      "2024-11-03T05:30:00Z",
      "2024-11-03T06:00:00Z",
      "2024-11-03T06:30:00Z",
      "2024-11-04T06:00:00Z"
    ).map(t => s"TIMESTAMP'$t'"),
    "timestamp_ntz" -> Seq("2024-03-10 02:30:00", "2024-03-10 03:00:00", "2024-11-03 01:30:00").map(t =>
      s"TIMESTAMP_NTZ'$t'"),
    "interval day to second" -> Seq("-1", "0", "1").map(seconds => s"INTERVAL '$seconds' SECOND")
  )

  private case class Terms(expression: Expression, output: Seq[Attribute]) {
    val monotone = new Monotone(output.head, AttributeSet(output.take(2)))
  }

  private def resolve(term: String, text: String, other: String): Terms = {
    val schema = StructType.fromDDL(s"t $term, u $term, x $other")
    val columns = spark.createDataFrame(new java.util.ArrayList[Row](), schema)
    ConstantFolding(ReplaceExpressions(columns.selectExpr(text).queryExecution.analyzed)) match {
      case Project(Seq(named), child) => Terms(named match { case Alias(e, _) => e; case e => e }, child.output)
      case other => fail(s"not a single column: $other")
    }
  }

  private def literal(text: String): Any = sql(s"SELECT $text AS v").queryExecution.executedPlan.executeCollect().head
    .get(0, sql(s"SELECT $text AS v").schema.head.dataType)

  /** An expression rises or falls as its direction says. Values that it fails on are left out. */
  private def checkValues(terms: Terms, of: String, direction: Int): Unit = {
    val order =
      RowOrdering.create(Seq(SortOrder(BoundReference(0, terms.expression.dataType, nullable = true), Ascending)), Nil)
    val bound = BindReferences.bindReference(terms.expression, terms.output)
    val middle = samples.get(of).map(values => literal(values(values.size / 2)))
    val values = samples(of).map(literal).flatMap(t => Try(bound.eval(InternalRow(t, null, middle.orNull))).toOption)
    values.zip(values.drop(1)).foreach { case (a, b) =>
      assert(order.compare(InternalRow(a), InternalRow(b)) * direction <= 0, s"${terms.expression}: $a, then $b")
    }
  }

  /** @param rows expression, type of t, direction */
  private def table(name: String, settings: (String, String)*)(rows: (String, String, Option[Int])*): Unit =
    test(name) {
      withConf(settings: _*) {
        rows.foreach { case (text, of, direction) =>
          val terms = resolve(of, text, of)
          assert(terms.monotone.direction(terms.expression) == direction, s"$text of $of: ${terms.expression}")
          direction.foreach(checkValues(terms, of, _))
        }
      }
    }

  table("the term itself and other columns")(
    ("t", "int", Up),
    ("x", "int", Constant),
    ("u", "int", None),
    ("1", "int", Constant),
    ("x + 1", "int", Constant),
    ("t", "string", Up),
    ("t", "double", Up),
    ("abs(t)", "int", None),
    ("coalesce(t, x)", "int", None),
    ("if(x > 0, t, u)", "int", None)
  )

  table("integer arithmetic that fails on overflow", "spark.sql.ansi.enabled" -> "true")(
    ("t + 1", "int", Up),
    ("1 - t", "int", Down),
    ("t - x", "bigint", Up),
    ("x - t", "bigint", Down),
    ("x - (1 - t)", "int", Up),
    ("-t", "int", Down),
    ("t + t", "int", Up),
    ("t - t", "int", None),
    ("t + u", "int", None),
    ("t * 2", "int", None),
    ("t % 2", "int", None),
    ("t + 1S", "smallint", Up)
  )

  table("integer arithmetic that wraps around", "spark.sql.ansi.enabled" -> "false")(
    ("t", "int", Up),
    ("t + 1", "int", None),
    ("1 - t", "int", None),
    ("x - t", "bigint", None),
    ("-t", "int", None),
    ("t + 1S", "smallint", None))

  for (ansi <- Seq("true", "false"))
    table(s"floating-point arithmetic, which has NaN, ANSI $ansi", "spark.sql.ansi.enabled" -> ansi)(
      ("t + 1D", "double", None),
      ("x - t", "double", None),
      ("-t", "double", None),
      ("t - x", "float", None),
      ("CAST(t AS double) + 1D", "int", None))

  table("decimal arithmetic", "spark.sql.ansi.enabled" -> "true")(
    ("t + 1.5BD", "decimal(10,2)", Up),
    ("x - t", "decimal(10,2)", Down),
    ("-t", "decimal(10,2)", Down),
    ("t * 2BD", "decimal(10,2)", None))

  table("casts")(
    ("CAST(t AS bigint)", "int", Up),
    ("CAST(t AS int)", "bigint", None),
    ("CAST(t AS smallint)", "int", None),
    ("CAST(t AS double)", "int", Up),
    ("CAST(t AS double)", "bigint", Up),
    ("CAST(t AS float)", "int", Up),
    ("CAST(t AS double)", "float", Up),
    ("CAST(t AS float)", "double", None),
    ("CAST(t AS decimal(12,2))", "int", Up),
    ("CAST(t AS decimal(11,2))", "int", None),
    ("CAST(t AS decimal(20,0))", "bigint", Up),
    ("CAST(t AS decimal(12,4))", "decimal(10,2)", Up),
    ("CAST(t AS decimal(12,1))", "decimal(10,2)", None),
    ("CAST(t AS string)", "int", None),
    ("CAST(t AS int)", "string", None),
    ("CAST(t AS timestamp)", "date", Up),
    ("CAST(t AS timestamp_ntz)", "date", Up),
    ("CAST(t AS date)", "timestamp_ntz", Up)
  )

  for (zone <- Seq("UTC", "America/New_York"); even = zone == "UTC") {
    def ifEven(direction: Option[Int]): Option[Int] = if (even) direction else None

    table(s"times in $zone", "spark.sql.session.timeZone" -> zone)(
      ("t + INTERVAL '1' HOUR", "timestamp", Up),
      ("t - INTERVAL '1' HOUR", "timestamp", Up),
      ("t + INTERVAL '-23' HOUR", "timestamp", Up),
      ("t + INTERVAL '24' HOUR", "timestamp", ifEven(Up)),
      ("t - INTERVAL '2' DAY", "timestamp", ifEven(Up)),
      ("t + INTERVAL '1' MONTH", "timestamp", None),
      ("x - t", "timestamp", ifEven(Down)),
      ("t - x", "timestamp", ifEven(Up)),
      ("CAST(t AS timestamp)", "date", Up),
      ("CAST(t AS date)", "timestamp", ifEven(Up)),
      ("CAST(t AS timestamp)", "timestamp_ntz", ifEven(Up)),
      ("CAST(t AS timestamp_ntz)", "timestamp", ifEven(Up)),
      ("t + INTERVAL '2' DAY", "timestamp_ntz", Up),
      ("x - t", "timestamp_ntz", Down),
      ("t + INTERVAL '1' MONTH", "timestamp_ntz", None)
    )
  }

  table("dates and intervals")(
    ("date_add(t, 3)", "date", None),
    ("date_sub(t, 3)", "date", None),
    ("t + 3", "date", None),
    ("t + INTERVAL '3' DAY", "date", None),
    ("datediff(x, t)", "date", None),
    ("datediff(t, x)", "date", None),
    ("date_add(x, 3)", "date", Constant),
    ("datediff(x, x)", "date", Constant),
    ("t - x", "date", Up),
    ("x - t", "date", Down),
    ("add_months(t, 1)", "date", None),
    ("t + INTERVAL '1' MONTH", "date", None),
    ("t + INTERVAL '1' SECOND", "interval day to second", Up),
    ("x - t", "interval day to second", Down),
    ("-t", "interval day to second", Down)
  )

  private val Day = 86400000000L
  private val longs =
    Seq(Long.MinValue, Long.MinValue + 1, -Day - 1, -1L, 0L, 1L, Day, Long.MaxValue - 1, Long.MaxValue)
  private val ints = Seq(Int.MinValue, Int.MinValue + 1, -3, -1, 0, 1, 3, Int.MaxValue - 1, Int.MaxValue)
  private val dates = (ints ++ Seq(-106751992, -106751991, 15339, 15340, 106751991, 106751992)).sorted
  // times at which clocks of New York or Apia are set back, or forward by an hour or a whole day
  private val clocksSet = Seq(1325239200000000L, 1325242800000000L, 1333281600000000L, 1710053999000000L,
    1710054000000000L, 1730610000000000L, 1730611800000000L, 1730613600000000L, 1730617200000000L)
  private val times = (longs ++ clocksSet :+ (Long.MinValue + Day)).sorted
  private val nines = "9" * 36

  private val arithmetic = Seq(
    "t + 1",
    "1 - t",
    "t - x",
    "x - t",
    "t + x",
    "-t",
    "t + t",
    "x - (1 - t)",
    "-(-t)",
    "CAST(t AS double)",
    "CAST(t AS decimal(20,0))",
    "CAST(t AS bigint) + 1",
    "CAST(t AS float)"
  )
  private val decimalArithmetic = Seq(
    "t + 0.01BD",
    "t - x",
    "x - t",
    "-t",
    "t + t",
    "CAST(t AS decimal(12,4))",
    "CAST(t AS decimal(38,4))",
    "CAST(t AS double)")
  private val leastInterval = "INTERVAL '-106751991 04:00:54.775808' DAY TO SECOND"
  private val timeArithmetic = Seq(
    "t + INTERVAL '1' HOUR",
    "t - INTERVAL '1' HOUR",
    "t + INTERVAL '1' DAY",
    "t + INTERVAL '-23:59:59.999999' HOUR TO SECOND",
    "t - INTERVAL '400' DAY",
    s"t + $leastInterval",
    "t - INTERVAL '106751991' DAY",
    "t - x",
    "x - t",
    "(x - t) + INTERVAL '1' SECOND",
    "CAST(t AS date)",
    "CAST(t AS timestamp)",
    "CAST(t AS timestamp_ntz)",
    "timestampadd(DAY, 1, t)",
    "timestampdiff(HOUR, x, t)"
  )
  private val dateArithmetic = Seq(
    "date_add(t, 3)",
    "date_add(t, -3)",
    "date_sub(t, 3)",
    "t + 1",
    "t - 1",
    "datediff(t, x)",
    "datediff(x, t)",
    "x - t",
    "t - x",
    "t + INTERVAL '3' DAY",
    "t - INTERVAL '106751991' DAY",
    "CAST(t AS timestamp)",
    "CAST(t AS timestamp_ntz)",
    "CAST(t AS timestamp) + INTERVAL '1' HOUR",
    "CAST(t AS timestamp_ntz) - INTERVAL '5' DAY",
    "t + INTERVAL '1' YEAR",
    "unix_date(t)"
  )
  private val intervalArithmetic = Seq("-t", "t + x", "t - x", "x - t", "t + t", "t * 2")

  /** Values at both ends of each type, in ascending order, and expressions over them. */
  private val ends: Seq[(String, Seq[Any], Seq[String])] = Seq(
    ("tinyint", Seq[Any](Byte.MinValue, -1.toByte, 0.toByte, 1.toByte, Byte.MaxValue), arithmetic :+ "t + 1Y"),
    ("smallint", Seq[Any](Short.MinValue, -1.toShort, 0.toShort, Short.MaxValue), arithmetic :+ "t + 1S"),
    ("int", ints, arithmetic),
    ("bigint", longs, arithmetic),
    ("float", Seq(Float.NegativeInfinity, -0.0f, 0.0f, Float.MaxValue, Float.PositiveInfinity, Float.NaN), arithmetic),
    ("double", Seq(Double.NegativeInfinity, -0.0, 0.0, 1e300, Double.PositiveInfinity, Double.NaN), arithmetic),
    ("decimal(10,2)", Seq("-99999999.99", "-0.01", "0.00", "0.01", "99999999.99").map(Decimal(_)), decimalArithmetic),
    ("decimal(38,2)", Seq(s"-$nines.99", "0.00", s"$nines.99").map(Decimal(_)), decimalArithmetic),
    ("date", dates, dateArithmetic),
    ("timestamp", times, timeArithmetic),
    ("timestamp_ntz", times, timeArithmetic),
    ("interval day to second", longs, intervalArithmetic ++ Seq("t + INTERVAL '1' DAY", s"t + $leastInterval")),
    ("interval year to month", ints, intervalArithmetic :+ "t + INTERVAL '1' YEAR")
  )

  /** The expression keeps its direction for each value of another column. Values that it fails on are left out. */
  private def checkEnds(of: String, values: Seq[Any], text: String): Unit = {
    val terms = resolve(of, text, of)
    terms.monotone.direction(terms.expression).foreach { direction =>
      val result = BoundReference(0, terms.expression.dataType, nullable = true)
      val order = RowOrdering.create(Seq(SortOrder(result, Ascending)), Nil)
      val bound = BindReferences.bindReference(terms.expression, terms.output)
      for (x <- values) {
        val results = values.flatMap(t => Try(bound.eval(InternalRow(t, null, x))).toOption.map(t -> _))
        results.zip(results.drop(1)).foreach { case ((t, a), (u, b)) =>
          assert(order.compare(InternalRow(a), InternalRow(b)) * direction <= 0, s"$text of $of: $t, $u; x is $x")
        }
      }
    }
  }

  for (ansi <- Seq("true", "false"); zone <- Seq("UTC", "America/New_York", "Pacific/Apia")) {
    test(s"what is said to rise or fall does so to the ends of each type; ANSI $ansi, $zone") {
      withConf("spark.sql.ansi.enabled" -> ansi, "spark.sql.session.timeZone" -> zone) {
        for ((of, values, texts) <- ends; text <- texts) checkEnds(of, values, text)
      }
    }
  }

  test("days that are a column move a date by no fixed distance either") {
    val terms = resolve("date", "date_add(t, x)", "int")
    assert(terms.monotone.direction(terms.expression).isEmpty)
  }

  test("a comparison that stays false backwards") {
    for ((text, whereAscending, whereDescending) <- Seq(
        ("t >= x", true, false),
        ("t > x - 5", true, false),
        ("x <= t", true, false),
        ("x - t <= 5", true, false),
        ("5 > x - t", true, false),
        ("t <= x", false, true),
        ("t < x + 5", false, true),
        ("t - x <= 5", false, true),
        ("x >= t", false, true),
        ("t = x", false, false),
        ("t <> x", false, false),
        ("NOT (t < x)", false, false),
        ("u >= x", false, false),
        ("t * 2 >= x", false, false),
        ("x > 3", false, false),
        ("t >= x OR x > 3", false, false),
        ("t >= 3 - t", true, false)
      )) {
      withConf("spark.sql.ansi.enabled" -> "true") {
        val terms = resolve("int", text, "int")
        for ((ascending, expected) <- Seq(true -> whereAscending, false -> whereDescending)) {
          assert(
            terms.monotone.staysFalseBackwards(terms.expression, ascending) == expected,
            s"$text, ascending $ascending")
        }
      }
    }
  }
}

package io.github.sparkjoinery.lastjoin

import scala.jdk.CollectionConverters._

import org.scalacheck.Gen
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._

import io.github.sparkjoinery.lastjoin.exec.LastJoinExec
import io.github.sparkjoinery.{Answers, AsOfJoinChecks}

/**
 * The meaning of ASOF JOIN, by both operators, over generated data. The oracle keeps all nearest matches of an ordinary
 * join.
 */
class AsOfJoinSuite extends AsOfJoinChecks with ScalaCheckPropertyChecks {

  override implicit val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 10)

  private case class Data(k: Option[Int], o: Option[Double], i: Option[Int], v: Int)

  private val data = for {
    k <- Gen.frequency(1 -> Gen.const(None), 8 -> Gen.choose(0, 2).map(Some(_)))
    o <- Gen.option(Gen.oneOf(-0.0, 0.0, 1.5, 2, 3, 4, Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity))
    i <- Gen.option(Gen.choose(-3, 3))
    v <- Gen.choose(0, 3)
  } yield Data(k, o, i, v)
  private val side =
    Gen.frequency(1 -> Gen.const(Nil), 1 -> data.map(List(_)), 10 -> Gen.choose(10, 40).flatMap(Gen.listOfN(_, data)))

  // Both sides of a comparison: columns of one type, of two types, expressions, with NULLs that turn into values.
  private val operands = Gen.oneOf(
    "l.o" -> "r.o",
    "l.i" -> "r.i",
    "l.i" -> "r.o",
    "l.o" -> "r.i",
    "l.i + 1L" -> "abs(r.i)",
    "l.i" -> "coalesce(r.i, 0)",
    "CAST(l.i AS STRING)" -> "CAST(r.i AS STRING)",
    "DATE'2024-01-01' + l.i" -> "TIMESTAMP'2024-01-01' + make_interval(0, 0, 0, r.i)"
  )
  private val query = for {
    (left, right) <- operands
    op <- Gen.oneOf(">=", ">", "<=", "<")
    swapped <- Gen.oneOf(true, false)
    on <- Gen.oneOf(
      "l.k = r.k",
      "l.k <=> r.k",
      "l.k = r.k AND r.v <> l.v",
      "true",
      "r.v <= l.v",
      "l.k = r.k AND r.v > 1 AND l.v < 3")
    kind <- Gen.oneOf("INNER", "LEFT")
  } yield Query(left, right, op, swapped, on, kind)

  private case class Query(left: String, right: String, op: String, swapped: Boolean, on: String, kind: String) {
    private val mirrored = Map(">=" -> "<=", ">" -> "<", "<=" -> ">=", "<" -> ">")
    private val columns = "l.id, l.k, l.o, l.i, r.id AS rid, r.k AS rk, r.o AS ro, r.i AS ri, r.v AS rv"

    def sql(hint: String): String = {
      val comparison = if (swapped) s"$right ${mirrored(op)} $left" else s"$left $op $right"
      s"SELECT /*+ $hint(r) */ $columns FROM l $kind ASOF JOIN r MATCH_CONDITION ($comparison) ON $on"
    }

    /** For each left row the rows that the join may give. */
    def candidates: String = {
      val order = if (op.startsWith(">")) s"$right DESC" else right
      s"""SELECT * EXCEPT (place) FROM (
         |  SELECT $columns, rank() OVER (PARTITION BY l.id ORDER BY $order) AS place
         |  FROM l $kind JOIN r ON $left $op $right AND ($on)) WHERE place = 1""".stripMargin
    }
  }

  private def view(name: String, rows: Seq[Data]): Unit = {
    val schema = StructType.fromDDL("id INT, k INT, o DOUBLE, i INT, v INT")
    val values = rows.zipWithIndex.map { case (row, id) => Row(id, row.k.orNull, row.o.orNull, row.i.orNull, row.v) }
    spark.createDataFrame(values.asJava, schema).repartition(2).createOrReplaceTempView(name)
  }

  private def check(query: Query): Unit = {
    val candidates = asOracle(Answers.rowsById(sql(query.candidates)))
    for ((hint, operator) <- Operators) {
      val joined = sql(query.sql(hint))
      val rows = Answers.rowsById(joined)
      assert(rows.keySet == candidates.keySet, query.sql(hint))
      rows.foreach { case (id, found) =>
        assert(
          found.size == 1 && candidates(id).contains(found.head),
          s"${query.sql(hint)}: $found of ${candidates(id)}")
      }
      val operators = this.operators(joined)
      assert(operators.contains(operator) || operators == Seq("LocalTableScan"), query.sql(hint)) // an empty left side
    }
  }

  test("the nearest right row of each left row, or one of the nearest") {
    forAll(Gen.zip(side, side, query)) { case (left, right, query) =>
      view("l", left)
      view("r", right)
      check(query)
      if (sparkHasAsOfJoin) {
        // Spark's operator gives the same rows as ours, if only one row is right. Infinite left values are left out:
        // Spark takes the distance between equal infinities, which is NaN, for the greatest of all.
        val finite = left.indices.filterNot(id => left(id).o.exists(_.isInfinite)).toSet
        val certain = asOracle(Answers.rowsById(sql(query.candidates))).filter { case (id, rows) =>
          rows.size == 1 && finite(id.asInstanceOf[Int])
        }
        def only(rows: scala.collection.Map[Any, Seq[String]]) = rows.filter { case (id, _) => certain.contains(id) }
        val theirs = onSparkAsOf(Answers.rowsById(sql(query.sql("MERGE"))))
        assert(only(theirs) == only(Answers.rowsById(sql(query.sql("MERGE")))), query.toString)
      }
    }
  }

  test("empty sides, one row, NULLs only") {
    val one = Seq(Data(Some(1), Some(1), Some(1), 1))
    val nulls = Seq.fill(3)(Data(None, None, None, 0))
    for ((left, right) <-
        Seq(Nil -> one, one -> Nil, Nil -> Nil, one -> one, nulls -> nulls, one -> nulls, nulls -> one)) {
      view("l", left)
      view("r", right)
      for ((op, kind, right) <- Seq(
          (">=", "INNER", "r.o"),
          ("<", "LEFT", "r.o"),
          ("<=", "INNER", "coalesce(r.o, 0D)"),
          (">", "LEFT", "r.i + 1"))) {
        check(Query("l.o", right, op, swapped = false, "l.k = r.k", kind))
      }
    }
  }

  test("ties: one row of each") {
    view("l", Seq.tabulate(6)(i => Data(Some(i % 2), Some(5), Some(i), i)))
    view("r", Seq.tabulate(30)(i => Data(Some(i % 2), Some(i % 3), Some(i % 5), i)))
    for (op <- Seq(">=", "<"); kind <- Seq("INNER", "LEFT"); (left, right) <- Seq("l.o" -> "r.o", "l.i" -> "r.i % 2")) {
      check(Query(left, right, op, swapped = true, "l.k = r.k", kind))
    }
  }

  test("a comparison of two types, and of expressions, is an as-of comparison to the operator") {
    view("l", Seq.tabulate(5)(i => Data(Some(0), Some(i), Some(i), i)))
    view("r", Seq.tabulate(5)(i => Data(Some(0), Some(i), Some(i), i)))
    withConf("spark.sql.adaptive.enabled" -> "false") {
      for (kind <- Seq("INNER", "LEFT"); (left, right) <- Seq("l.i" -> "r.o", "l.o" -> "r.i", "l.i + 1L" -> "abs(r.i)");
        op <- Seq(">=", "<")) {
        val joined = sql(Query(left, right, op, swapped = false, "l.k = r.k", kind).sql("MERGE"))
        val terms = collect(plan(joined)) { case join: LastJoinExec => join.terms }.head
        assert(terms.onePass && terms.strict == (op == "<"), plan(joined))
      }
    }
  }

  test("a filter above an inner ASOF JOIN decides about the row found") {
    view("l", Seq(Data(Some(0), Some(5), Some(1), 1)))
    view(
      "r",
      Seq(Data(Some(0), Some(1), Some(10), 1), Data(Some(0), Some(4), Some(20), 1), Data(Some(0), None, None, 1)))
    for (kind <- Seq("INNER", "LEFT"); right <- Seq("r.o", "coalesce(r.o, 0D)")) {
      val query = s"SELECT l.id, r.i FROM l $kind ASOF JOIN r MATCH_CONDITION (l.o >= $right) USING (k)"
      assert(Answers.rows(sql(query)) == Seq("(0, 20)"))
      assert(sql(s"$query WHERE r.i = 10").isEmpty)
      assert(sql(s"$query WHERE r.o < 4").isEmpty)
      assert(sql(s"SELECT count(*) FROM ($query) WHERE id = 0").head().getLong(0) == 1)
    }
  }
}

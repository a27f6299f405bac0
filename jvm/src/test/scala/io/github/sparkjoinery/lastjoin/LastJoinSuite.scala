package io.github.sparkjoinery.lastjoin

import scala.jdk.CollectionConverters._

import org.scalacheck.Gen
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._

import io.github.sparkjoinery.lastjoin.exec.SortMergeLastJoinExec
import io.github.sparkjoinery.{Answers, LastJoinChecks, LastJoinQuery, OrderTerm, Pairwise}

/** What LAST JOIN means, for all its operators, over generated data. */
class LastJoinSuite extends LastJoinChecks with ScalaCheckPropertyChecks {

  override implicit val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 15)

  /** A row but for its id: NULL is None. */
  private case class Data(k: Option[Int], o: Option[Double], v: Int)

  // Few values, so that keys meet and order values tie, the odd ones among them; one key has most of the rows.
  private val key = Gen.frequency(1 -> Gen.const(None), 6 -> Gen.const(Some(0)), 4 -> Gen.choose(1, 6).map(Some(_)))
  private val orderValue = Gen.frequency(
    1 -> Gen.const(None),
    5 -> Gen.oneOf(-0.0, 0.0, 1.5, 2, 3, 4, Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity).map(Some(_)))
  private val data = for { k <- key; o <- orderValue; v <- Gen.choose(0, 3) } yield Data(k, o, v)
  private val side =
    Gen.frequency(1 -> Gen.const(Nil), 1 -> data.map(List(_)), 10 -> Gen.choose(20, 60).flatMap(Gen.listOfN(_, data)))

  private val suffix =
    Gen.oneOf("", "ASC", "DESC", "ASC NULLS FIRST", "ASC NULLS LAST", "DESC NULLS FIRST", "DESC NULLS LAST")
  private val terms = for {
    first <- Gen.option(suffix.map(OrderTerm("r.o", _)))
    second <- Gen.option(suffix.map(OrderTerm("r.v", _)))
    id <- Gen.option(suffix.map(OrderTerm("r.id", _)))
  } yield Seq(first, second, id).flatten
  private val equality = Gen.oneOf("l.k = r.k", "l.k <=> r.k", "l.k = r.k AND l.v = r.v", "r.k = l.k + 1", "true")
  private val asOf = for {
    op <- Gen.oneOf("<", "<=", ">", ">="); left <- Gen.oneOf("l.o", "l.o + 1"); flip <- Gen.oneOf(true, false)
  } yield if (flip) s"$left $op r.o" else s"r.o $op $left"
  private val residual = Gen.frequency(
    2 -> Gen.const("true"),
    5 -> asOf,
    2 -> asOf.map(_ + " AND r.v <> l.v"),
    1 -> Gen.oneOf(
      "r.v >= l.v",
      "r.o < l.o OR r.v > l.v",
      "l.v > 1",
      "r.v > 1 AND l.o IS NOT NULL",
      "NOT (r.o <=> l.o)",
      "r.o = l.o")
  )
  private val query = for (t <- terms; e <- equality; c <- residual) yield LastJoinQuery(t, s"$e AND $c")

  private val mode =
    for {
      adaptive <- Gen.oneOf("true", "false")
      codegen <- Gen.oneOf("CODEGEN_ONLY", "NO_CODEGEN")
      spill <- Gen.frequency(1 -> Gen.const("4"), 4 -> Gen.const("2147483632"))
    } yield Seq(
      "spark.sql.adaptive.enabled" -> adaptive,
      "spark.sql.codegen.wholeStage" -> (codegen == "CODEGEN_ONLY").toString,
      "spark.sql.codegen.factoryMode" -> codegen,
      "spark.sql.sortMergeJoinExec.buffer.spill.threshold" -> (if (spill == "4") "20" else spill)
    )

  private def view(name: String, rows: Seq[Data], partitions: Int): Unit = {
    val schema = StructType.fromDDL("id INT, k INT, o DOUBLE, v INT")
    val values = rows.zipWithIndex.map { case (row, id) => Row(id, row.k.orNull, row.o.orNull, row.v) }
    // shuffled, so that rows come in another order each time
    spark.createDataFrame(values.asJava, schema).repartition(partitions).createOrReplaceTempView(name)
  }

  /** All operators give one of the candidates for each left row, and the same one. */
  private def check(query: LastJoinQuery, modes: Seq[Seq[(String, String)]], leftRows: Int, rightRows: Int): Unit = {
    val candidates = asOracle(Answers.rowsById(sql(query.candidates)))
    val answers =
      for ((hint, operator) <- LastJoinForms; mode <- modes) yield withConf(mode: _*) {
        val joined = sql(query.sql(hint))
        val rows = Answers.rowsById(joined)
        val shown = s"$query $hint $mode"
        assert(rows.size == leftRows && rows.values.forall(_.size == 1), s"$shown: each left row once")
        rows.foreach { case (id, found) => assert(candidates(id).contains(found.head), shown) }
        if (query.terms.exists(_.column == "r.id")) assert(candidates.values.forall(_.size == 1), shown)
        val operators = this.operators(joined)
        // Spark computes a side without rows, or of a single one, while it plans, and drops a join with no rows.
        val isDropped = leftRows == 0 || rightRows <= 1
        assert(operators.contains(operator) || isDropped && !operators.exists(_.endsWith("LastJoin")), shown)
        rows
      }
    assert(answers.distinct.size == 1, s"$query: operators or modes differ in the row they choose among ties")
  }

  test("each left row once, beside the last of the right rows that pass the whole condition") {
    forAll(Gen.zip(side, side, query, mode, mode, Gen.choose(1, 4))) {
      case (left, right, query, mode1, mode2, partitions) =>
        view("l", left, partitions)
        view("r", right, partitions)
        check(query, Seq(mode1, mode2), left.size, right.size)
    }
  }

  test("an empty side, a side of one row, and NULL keys only, in every mode") {
    val one = Seq(Data(Some(1), Some(1), 1))
    val nulls = Seq.fill(3)(Data(None, None, 0))
    for ((left, right) <-
        Seq(Nil -> one, one -> Nil, Nil -> Nil, one -> one, nulls -> nulls, one -> nulls, nulls -> one)) {
      view("l", left, 2)
      view("r", right, 2)
      for (on <- Seq(
          "l.k = r.k",
          "l.k <=> r.k",
          "r.o <= l.o",
          "l.k = r.k AND r.v > 1",
          "l.k = r.k AND r.o <= l.o AND r.v <= l.v")) {
        check(
          LastJoinQuery(Seq(OrderTerm("r.o"), OrderTerm("r.id")), on),
          Seq(Seq("spark.sql.adaptive.enabled" -> "true")),
          left.size,
          right.size
        )
      }
    }
  }

  test("a key with many right rows, and one partition without keys, in buffers that spill") {
    view("l", Seq.tabulate(10)(i => Data(Some(i % 2), Some(i * 2), i % 4)), 2)
    view("r", Seq.tabulate(60)(i => Data(Some(0), Some((i / 3).toDouble), i % 5)), 2)
    withConf(
      "spark.sql.sortMergeJoinExec.buffer.spill.threshold" -> "10",
      "spark.sql.adaptive.enabled" -> "false"
    ) {
      for (on <- Seq("l.k = r.k AND r.v > l.v", "r.o < l.o AND r.v <> l.v")) {
        val query = LastJoinQuery(Seq(OrderTerm("r.o"), OrderTerm("r.id")), on)
        checkLastJoin(query.sql("MERGE"), query.candidates, "SortMergeLastJoin")
        val joined = sql(query.sql("MERGE"))
        joined.collect()
        val operator = collect(plan(joined)) { case join: SortMergeLastJoinExec => join }.head
        assert(operator.longMetric("spillSize").value > 0)
        assert(operator.longMetric("numOutputRows").value == 10)
        assert(operator.longMetric("matchedRows").value == joined.where("rid IS NOT NULL").count())
      }
    }
  }

  test("ties: one whole row, the same one whatever the partitions and the operator") {
    val left = Seq.tabulate(20)(i => Data(Some(i % 3), Some(1), i))
    val right = Seq.tabulate(60)(i => Data(Some(i % 3), Some(i % 2), i))
    val answers = for (partitions <- 1 to 4; (hint, _) <- LastJoinForms; reversed <- Seq(false, true)) yield {
      view("l", left, partitions)
      view("r", right, partitions)
      if (reversed) spark.table("r").sort(org.apache.spark.sql.functions.col("id").desc).createOrReplaceTempView("r")
      withConf("spark.sql.shuffle.partitions" -> partitions.toString) {
        Answers.rows(sql(LastJoinQuery(Seq(OrderTerm("r.o")), "l.k = r.k").sql(hint)))
      }
    }
    assert(answers.distinct.size == 1)
  }

  test("an order by nothing but NULLs and NaN") {
    view(
      "l",
      Seq(Data(Some(1), Some(Double.NaN), 0), Data(Some(1), None, 0), Data(Some(1), Some(Double.PositiveInfinity), 0)),
      1)
    view(
      "r",
      Seq(None, Some(Double.NaN), Some(Double.NaN), Some(Double.PositiveInfinity), None).zipWithIndex.map {
        case (o, i) => Data(Some(1), o, i)
      },
      2)
    for (one <- Pairwise.cases(
        "suffix" -> Seq("ASC NULLS FIRST", "ASC NULLS LAST", "DESC NULLS FIRST", "DESC NULLS LAST"),
        "on" -> Seq("r.o <= l.o", "r.o < l.o", "r.o >= l.o", "r.o > l.o", "r.o <=> l.o", "true"),
        "generated" -> Seq("true", "false")
      )) {
      val mode = if (one("generated") == "true") Nil else Interpreted
      check(
        LastJoinQuery(
          Seq(OrderTerm("r.o", one("suffix")), OrderTerm("r.id", "DESC")),
          s"l.k = r.k AND ${one("on")}"),
        Seq(mode :+ ("spark.sql.adaptive.enabled" -> "false")),
        leftRows = 3,
        rightRows = 5
      )
    }
  }
}

package io.github.sparkjoinery.lastjoin

import scala.collection.mutable

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.PartialReducerPartitionSpec
import org.apache.spark.sql.execution.adaptive.AQEShuffleReadExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike

import io.github.sparkjoinery.execution.skew.{ForeignReadExec, SkewedPartitions}
import io.github.sparkjoinery.lastjoin.exec.{ShuffledLastJoinExec, TimeSliceExec}
import io.github.sparkjoinery.{Answers, LastJoinChecks, OnDefaultLine, Pairwise}

/** Under adaptive execution, partitions far larger than the others are read by several tasks. */
class SkewSplitSuite extends LastJoinChecks with SkewedPartitions {

  /** Nine rows out of ten have the key 0 if it is hot; some have no key, or no time. */
  private def side(rows: Int, seed: Int, hot: Boolean): String =
    s"""SELECT int(id) AS id, if(id % 97 = 0, NULL, int(if(${if (hot) "id % 10 < 9"
      else "id % 11 = 0"}, 0, id % 11))) AS k,
       |if(id % 31 = 0, NULL, int(pmod(hash(id, $seed), 900))) AS o, int(id % 3) AS v FROM range(0, $rows, 1, 4)""".stripMargin

  private val Sides = Seq(
    "the left" -> (side(5000, 1, hot = true), side(400, 2, hot = false)),
    "the right" -> (side(400, 3, hot = false), side(5000, 4, hot = true)),
    "both sides" -> (side(3000, 5, hot = true), side(3000, 6, hot = true))
  )

  private def withSides[T](sides: (String, String), settings: (String, String)*)(body: => T): T = {
    views("l" -> sides._1, "r" -> sides._2)
    known.clear()
    withConf(SkewedJoins ++ settings: _*)(body)
  }

  private type Data = (Int, Option[Int], Option[Int], Int)

  /** The rows of the present views, by name. */
  private val known = mutable.Map.empty[String, Seq[Data]]
  private def rows(view: String): Seq[Data] = known.getOrElseUpdate(
    view,
    spark.table(view).collect().toSeq.map(row =>
      (
        row.getInt(0),
        Option(row.get(1)).map(_.asInstanceOf[Int]),
        Option(row.get(2)).map(_.asInstanceOf[Int]),
        row.getInt(3)))
  )

  /**
   * The id of each left row's match. It tries the right rows of its key from the last to the first, until one passes.
   */
  private def oracle(descending: Boolean, passes: (Data, Data) => Boolean): Seq[String] = {
    def order(time: Option[Int]): Int = time.map(t => if (descending) -t else t).getOrElse(Int.MinValue)
    val byKey = rows("r").filter(_._2.isDefined).groupBy(_._2).map { case (key, found) =>
      key -> found.sortBy { case (id, _, time, _) => (order(time), id) }.reverse
    }
    rows("l").map { l =>
      s"(${l._1}, ${byKey.getOrElse(l._2, Nil).find(passes(l, _)).fold("NULL")(_._1.toString)})"
    }.sorted
  }

  private def on(f: (Int, Int) => Boolean)(l: Data, r: Data): Boolean = l._3.exists(a => r._3.exists(b => f(a, b)))

  private def query(comparison: String, order: String = "", hint: String = "SHUFFLE_HASH"): String =
    s"SELECT /*+ $hint(r) */ l.id, r.id AS rid FROM l LAST JOIN r ORDER BY r.o $order NULLS FIRST, r.id ON l.k = r.k AND $comparison"

  private def slices(query: DataFrame): Seq[TimeSliceExec] = collect(plan(query)) { case slice: TimeSliceExec => slice }
  private def reads(query: DataFrame): Seq[AQEShuffleReadExec] = collect(plan(query)) { case read: AQEShuffleReadExec =>
    read
  }
  private def joins(query: DataFrame): Seq[ShuffledLastJoinExec] =
    collect(plan(query)) { case join: ShuffledLastJoinExec => join }

  private def checkSliced(query: DataFrame, answer: Seq[String]): Unit = {
    assert(Answers.rows(query) == answer)
    val both = slices(query)
    assert(both.size == 2 && joins(query).forall(_.isSplit), plan(query))
    assert(both.map(_.metrics("splitParts").value).forall(_ >= 2), plan(query))
    assert(reads(query).map(_.partitionSpecs.length).forall(_ > 5), "no more tasks than partitions")
    // carried rows are read in addition
    val (left, right) = (both.head, both(1))
    assert(left.metrics("numOutputRows").value == rows("l").length && left.metrics("carriedRows").value == 0)
    assert(right.metrics("carriedRows").value > 0)
  }

  private val AsOf = Seq[(String, String, (Int, Int) => Boolean)](
    ("r.o <= l.o", "ASC", (l, r) => r <= l),
    ("r.o < l.o", "ASC", (l, r) => r < l),
    ("r.o >= l.o", "DESC", (l, r) => r >= l),
    ("r.o > l.o", "DESC", (l, r) => r > l),
    ("r.o <= l.o AND r.o >= l.o - 5", "ASC", (l, r) => r <= l && r >= l - 5),
    ("r.o > l.o AND r.o - l.o < 5", "DESC", (l, r) => r > l && r - l < 5)
  )

  for (((where, sides), i) <- Sides.zipWithIndex; (hint, operator) <- LastJoinForms if hint != "BROADCAST") {
    test(s"a hot key on $where, split by time below $operator") {
      withSides(sides) {
        for (((comparison, order, f), j) <- AsOf.zipWithIndex
          // each comparison over all sides and by both operators
          if Pairwise.isSoak || ((i + j) % 2 == 0) == (hint == "MERGE")) {
          val joined = sql(query(comparison, order, hint))
          checkSliced(joined, oracle(order == "DESC", on(f)))
          assert(operators(joined).contains(operator))
        }
      }
    }
  }

  test("interpreted, too") {
    withSides(Sides.last._2, "spark.sql.codegen.wholeStage" -> "false") {
      checkSliced(sql(query("r.o <= l.o")), oracle(descending = false, on((l, r) => r <= l)))
    }
  }

  test("beside partitions that are coalesced") {
    for ((hint, _) <- LastJoinForms if hint != "BROADCAST"; (_, sides) <- Sides) {
      withSides(
        sides,
        "spark.sql.adaptive.coalescePartitions.enabled" -> "true",
        "spark.sql.shuffle.partitions" -> "40",
        "spark.sql.adaptive.coalescePartitions.minPartitionSize" -> "1KB",
        "spark.sql.adaptive.coalescePartitions.parallelismFirst" -> "false"
      ) {
        val joined = sql(query("r.o <= l.o", hint = hint))
        assert(Answers.rows(joined) == asOfAnswer)
        assert(slices(joined).map(_.metrics("splitParts").value).forall(_ >= 2), plan(joined))
        assert(reads(joined).map(_.partitionSpecs.length).forall(_ < 40), plan(joined))
      }
    }
  }

  test("a table joined with itself, shuffled once for both sides") {
    withSides((side(3000, 5, hot = true), "SELECT * FROM l")) {
      val joined = sql(query("r.o < l.o"))
      checkSliced(joined, oracle(descending = false, on((l, r) => r < l)))
      assert(operators(joined).contains("ReusedExchange"), plan(joined))
    }
  }

  test("equal joins below equal shuffles are run once") {
    withSides(Sides.last._2) {
      val counted = s"SELECT id % 7 AS g, count(rid) AS n, sum(rid) AS s FROM (${query("r.o <= l.o")}) GROUP BY id % 7"
      val expected = withConf("spark.joinery.lastJoin.skewSplit.enabled" -> "false")(Answers.rows(sql(counted)))
      val twice = sql(s"$counted UNION ALL $counted")
      assert(Answers.rows(twice) == (expected ++ expected).sorted)
      assert(slices(twice).size == 2, plan(twice))
    }
  }

  test("a time with a subquery") {
    withSides(Sides.last._2) {
      checkSliced(
        sql(query("r.o <= l.o - (SELECT max(v) FROM l)")),
        oracle(descending = false, on((l, r) => r <= l - 2)))
    }
  }

  test("all times are the same, so that there is nothing to cut", OnDefaultLine) {
    val constant = "SELECT id, k, if(o IS NULL, NULL, 7) AS o, v FROM"
    withSides((s"$constant (${side(3000, 5, hot = true)})", s"$constant (${side(3000, 6, hot = true)})")) {
      for ((comparison, f) <- Seq[(String, (Int, Int) => Boolean)]("r.o <= l.o" -> (_ >= _), "r.o < l.o" -> (_ > _))) {
        assert(Answers.rows(sql(query(comparison))) == oracle(descending = false, on(f)))
      }
    }
  }

  test("no time at all on a side, or on both", OnDefaultLine) {
    val none =
      "SELECT id, k, int(if(id < 0, 1, NULL)) AS o, v FROM" // not a constant, which the optimizer would see through
    val (left, right) = Sides.last._2
    for (sides <- Seq((s"$none ($left)", right), (left, s"$none ($right)"), (s"$none ($left)", s"$none ($right)")))
      withSides(sides) {
        val joined = sql(query("r.o <= l.o"))
        assert(Answers.rows(joined) == oracle(descending = false, (_, _) => false))
        assert(slices(joined).size == 2 && joins(joined).forall(_.isSplit), plan(joined))
      }
  }

  test("another extension has replaced Spark's reads of the shuffles") {
    for ((hint, _) <- LastJoinForms if hint != "BROADCAST"; generated <- Seq("true", "false")) {
      withSides(Sides.last._2, "spark.sql.codegen.wholeStage" -> generated) {
        val joined = sql(query("r.o <= l.o", hint = hint))
        joined.collect()
        val replaced = stripAQEPlan(plan(joined)).transformUp { case read: AQEShuffleReadExec => ForeignReadExec(read) }
        assert(replaced.collect { case read: ForeignReadExec => read }.size == 2)
        val rows = replaced.executeCollectPublic().toSeq.map(Answers.text).sorted
        assert(rows == oracle(descending = false, on((l, r) => r <= l)))
      }
    }
  }

  // without an order in time, the left side's mappers

  for ((name, comparison, passes) <- Seq[(String, String, (Data, Data) => Boolean)](
      ("a residual condition", "r.o <= l.o AND r.v <> l.v", (l, r) => on((a, b) => b <= a)(l, r) && r._4 != l._4),
      ("no as-of comparison", "r.v <> l.v", (l, r) => r._4 != l._4),
      ("equalities only", "true", (_, _) => true)
    )) {
    for ((hint, operator) <- LastJoinForms if hint != "BROADCAST") test(s"$name: split by mapper below $operator") {
      withSides(Sides.head._2) {
        val joined = sql(query(comparison, hint = hint))
        assert(Answers.rows(joined) == oracle(descending = false, passes))
        assert(slices(joined).isEmpty && joins(joined).map(_.isSplit) == Seq(true), plan(joined))
        val specs = reads(joined).map(_.partitionSpecs)
        assert(specs.map(_.length).distinct.size == 1 && specs.head.length > 5, plan(joined))
        assert(specs.head.exists(_.isInstanceOf[PartialReducerPartitionSpec]), plan(joined))
      }
    }
  }

  // not split

  private def checkWhole(text: String, answer: Seq[String]): Unit = {
    val joined = sql(text)
    assert(Answers.rows(joined) == answer)
    assert(slices(joined).isEmpty && joins(joined).map(_.isSplit) == Seq(false), plan(joined))
  }

  private val asOf = query("r.o <= l.o")
  private def asOfAnswer: Seq[String] = oracle(descending = false, on((l, r) => r <= l))

  for (switch <- Seq("spark.joinery.lastJoin.skewSplit.enabled", "spark.sql.adaptive.skewJoin.enabled"))
    test(s"switched off by $switch") {
      withSides(Sides.last._2, switch -> "false")(checkWhole(asOf, asOfAnswer))
    }

  test("no partition is skewed by Spark's thresholds") {
    withSides(Sides.last._2, "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" -> "64MB")(checkWhole(
      asOf,
      asOfAnswer))
  }

  test("from a smaller size on than Spark's") {
    withSides(
      Sides.last._2,
      "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" -> "64MB",
      "spark.joinery.skewSplit.minPartition" -> "2KB")(checkSliced(sql(asOf), asOfAnswer))
  }

  test("an aggregate above relies on the partitioning: no split, and no shuffle besides") {
    withSides(Sides.last._2) {
      val joined =
        sql(asOf.replace("l.id, r.id AS rid", "l.k, count(*) AS n, count(r.id) AS matches") + " GROUP BY l.k")
      val ids = rows("l").map(l => l._1 -> l._2).toMap
      val answer =
        asOfAnswer.map(_.stripPrefix("(").stripSuffix(")").split(", ")).groupBy(pair => ids(pair(0).toInt)).map {
          case (k, pairs) =>
            s"(${k.fold("NULL")(_.toString)}, ${pairs.length}, ${pairs.count(_(1) != "NULL")})"
        }
      assert(Answers.rows(joined) == answer.toSeq.sorted)
      assert(joins(joined).map(_.isSplit) == Seq(false) && slices(joined).isEmpty, plan(joined))
      assert(collect(plan(joined)) { case shuffle: ShuffleExchangeLike => shuffle }.size == 2, plan(joined))
    }
  }
}

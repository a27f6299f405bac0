package io.github.sparkjoinery.lastjoin

import org.apache.spark.sql.joinery.DataFrame

import io.github.sparkjoinery.lastjoin.exec.CarryOverExec
import io.github.sparkjoinery.{Answers, LastJoinChecks, LastJoinQuery, OrderTerm, Pairwise}

/** As-of joins without a key whose right side is too large to broadcast: the part of time becomes the key. */
class KeylessLastJoinSuite extends LastJoinChecks {

  private val Settings = Seq(
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.adaptive.coalescePartitions.enabled" -> "false",
    "spark.sql.shuffle.partitions" -> "4"
  )

  private def side(rows: Int, seed: Int, time: String = "int(pmod(hash(id, $), 100))"): String =
    s"""SELECT int(id) AS id, int(id % 5) AS k, if(id % 7 = 0, NULL, ${time.replace(
        "$",
        seed.toString)}) AS o, int(id % 3) AS v
       |FROM range(0, $rows, 1, 3)""".stripMargin

  private val Modes =
    Seq(("true", "SHUFFLE_HASH"), ("false", "SHUFFLE_HASH"), ("false", "MERGE"), ("true", "MERGE"))

  /** @param modes of generated code, and the form */
  private def check(on: String, order: String = "", modes: Seq[(String, String)] = Modes): Unit = {
    val query = LastJoinQuery(Seq(OrderTerm("r.o", order), OrderTerm("r.id")), on)
    val answer = asOracle(Answers.rows(sql(query.candidates)))
    for ((wholeStage, hint) <- modes) {
      withConf(Settings :+ "spark.sql.codegen.wholeStage" -> wholeStage: _*) {
        val joined = sql(query.sql(hint))
        assert(Answers.rows(joined) == answer, s"$query $hint, generated code $wholeStage")
        val carries = collect(plan(joined)) { case carry: CarryOverExec => carry.metrics("splitParts").value }
        assert(carries.map(_ > 1) == Seq(true), carries)
        if (hint == "MERGE") assert(partitionsUsed(joined) > 1, plan(joined))
      }
    }
  }

  /** Modes of one form, another than the next check has. */
  private def some(number: Int): Seq[(String, String)] =
    if (Pairwise.isSoak) Modes else Modes.grouped(2).toSeq(number % 2)

  private def partitionsUsed(joined: DataFrame): Long =
    joined.queryExecution.toRdd.mapPartitions(rows => Iterator(rows.size)).filter(_ > 0).count()

  private val Comparisons = Seq(
    "r.o <= l.o" -> "",
    "r.o < l.o" -> "",
    "r.o >= l.o" -> "DESC",
    "r.o > l.o" -> "DESC",
    "r.o <= l.o" -> "ASC NULLS LAST",
    "r.o >= l.o" -> "DESC NULLS FIRST",
    "r.o <= l.o AND r.o >= l.o - 2" -> "",
    "r.o < l.o AND l.o - r.o < 2" -> "",
    "r.o >= l.o AND r.o <= l.o + 2" -> "DESC"
  )

  for ((on, order) <- Comparisons) test(s"$on, ordered $order") {
    views("l" -> side(150, 1), "r" -> side(120, 2))
    check(on, order)
  }

  test("few times, many rows of each: ties lie on both sides of no cut") {
    views("l" -> side(60, 1, "int(id % 6)"), "r" -> side(200, 2, "int(id % 6)"))
    for (((on, order), i) <- Comparisons.zipWithIndex) check(on, order, some(i))
  }

  test("left rows before and after all right rows, and in parts without right rows") {
    views(
      "l" -> "SELECT int(id) AS id, 0 AS k, int(id * 40 - 2000) AS o, 0 AS v FROM range(100)",
      "r" -> "SELECT int(id) AS id, 0 AS k, int(if(id < 50, id - 500, id + 500)) AS o, 0 AS v FROM range(100)"
    )
    check("r.o <= l.o")
    check("r.o > l.o", "DESC")
  }

  test("doubles, timestamps and dates") {
    for (time <- Seq(
        "if(id % 11 = 0, double('NaN'), id % 13)",
        "timestamp_micros(id * 1000003 % 997)",
        "date'2024-02-25' + int(id % 13)")) {
      views("l" -> side(60, 1, time), "r" -> side(60, 2, time))
      check("r.o <= l.o", modes = some(0))
      check("r.o > l.o", "DESC", modes = some(1))
    }
  }

  test("a time with a subquery") {
    views("l" -> side(60, 1), "r" -> side(60, 2))
    check("r.o <= l.o - (SELECT max(v) FROM l)")
  }

  test("an empty side, and sides without a time") {
    val (rows, none, nulls) = (side(30, 1), side(0, 1), side(30, 1, "int(NULL)"))
    for ((left, right) <- Seq(rows -> none, none -> rows, none -> none, rows -> nulls, nulls -> rows)) {
      views("l" -> left, "r" -> right)
      val query = LastJoinQuery(Seq(OrderTerm("r.o"), OrderTerm("r.id")), "r.o <= l.o")
      val answer = asOracle(Answers.rows(sql(query.candidates)))
      withConf(Settings: _*) {
        assert(Answers.rows(sql(query.sql("SHUFFLE_HASH"))) == answer, s"$left\n$right")
      }
    }
  }

  test("without a hint, and the columns of a left join") {
    views("l" -> side(50, 1), "r" -> side(50, 2))
    withConf(Settings: _*) {
      val joined = sql("SELECT * FROM l LAST JOIN r ORDER BY r.o ON r.o <= l.o")
      assert(
        operators(joined).contains("CarryOver") && operators(joined).contains("ShuffledHashLastJoin"),
        plan(joined))
      assert(joined.schema == sql("SELECT * FROM l LEFT JOIN r ON r.o <= l.o").schema)
    }
  }

  test("not rewritten without adaptive execution") {
    views("l" -> side(50, 1), "r" -> side(50, 2))
    withConf(Settings :+ "spark.sql.adaptive.enabled" -> "false": _*) {
      val query = "SELECT * FROM l LAST JOIN r ORDER BY r.o ON r.o <= l.o"
      checkDecision(query, "time is not cut into parts: adaptive execution is off")
      assert(operators(sql(query)).contains("ShuffledHashLastJoin") && !operators(sql(query)).contains("CarryOver"))
    }
  }

  test("not rewritten: a residual condition, a string, a right side small enough to broadcast") {
    views(
      "l" -> side(50, 1),
      "r" -> side(50, 2),
      "ls" -> s"SELECT id, string(o) AS o FROM (${side(50, 1)})",
      "rs" -> s"SELECT id, string(o) AS o FROM (${side(50, 2)})")
    def lastJoin(left: String, right: String, on: String) =
      sql(s"SELECT l.id, r.id AS rid FROM $left l LAST JOIN $right r ORDER BY r.o, r.id ON $on")
    withConf(Settings :+ "spark.sql.adaptive.enabled" -> "false": _*) {
      for (joined <- Seq(lastJoin("l", "r", "r.o <= l.o AND r.v <> l.v"), lastJoin("ls", "rs", "r.o <= l.o"))) {
        assert(
          !operators(joined).contains("CarryOver") && operators(joined).contains("ShuffledHashLastJoin"),
          plan(joined))
        assert(joined.rdd.getNumPartitions == 1)
      }
    }
    assert(!operators(lastJoin("l", "r", "r.o <= l.o")).contains("CarryOver"))
  }
}

package io.github.sparkjoinery.lastjoin

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.joinery.ScarceMemory

import io.github.sparkjoinery.lastjoin.exec.{CarryOverExec, ShuffledHashLastJoinExec, TimeSliceExec}
import io.github.sparkjoinery.{Answers, LastJoinChecks, LastJoinQuery, OrderTerm, Pairwise}

/**
 * Parts of ON that fail for some rows, by an overflow mostly. Joinery computes some of them earlier than a left join
 * does; a query fails only if the left join does.
 */
class LastJoinFailureSuite extends LastJoinChecks {

  private val Generated =
    Seq("spark.sql.codegen.wholeStage" -> "true", "spark.sql.codegen.factoryMode" -> "CODEGEN_ONLY")
  private val Shuffled = Seq(
    "spark.sql.ansi.enabled" -> "true",
    "spark.sql.shuffle.partitions" -> "3",
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "-1"
  )
  // Any three in a row have both values of either.
  private val Modes =
    Seq(Generated -> "false", Interpreted -> "true", Generated -> "true", Interpreted -> "false")

  /** Checks each form of a query, given its hint and operator, in a mode that the next test has for another form. */
  private def inEveryForm(number: Int)(check: (String, String) => Unit): Unit = for {
    ((hint, operator), i) <- LastJoinForms.zipWithIndex
    ((code, adaptive), j) <- Modes.zipWithIndex if Pairwise.isSoak || (number + i) % Modes.length == j
  } withConf(Shuffled ++ code :+ ("spark.sql.adaptive.enabled" -> adaptive): _*) {
    withClue(s"$hint, ${code.head}, adaptive $adaptive\n")(check(hint, operator))
  }

  /** Keys 0 to 5; `extreme` says for which rows arithmetic fails. */
  private def left(extreme: String, rows: Int = 60, key: String = "id % 6"): String =
    s"""SELECT id, k, v, if(e, 2147483647, hashed) AS o, if(e, 2147483647, 0) AS u,
       |if(e, timestamp_micros(9223372036854775807), timestamp_seconds(hashed)) AS t,
       |if(e, CAST('${"9" * 38}' AS DECIMAL(38, 0)), hashed) AS x, if(e, 'none', string(hashed)) AS s FROM (
       |SELECT int(id) AS id, int($key) AS k, int(id % 5) AS v, int(pmod(hash(id), 50)) AS hashed, $extreme AS e
       |FROM range(0, $rows, 1, 3))""".stripMargin

  /**
   * Keys 0 to 4 and 7; no row of key 4 has a time, or a date that is a timestamp; that of key 7 is one of no left row.
   */
  private def right(rows: Int = 60, key: String = "if(id = 7, 7, id % 5)"): String =
    s"""SELECT id, k, v, if(k = 4, NULL, hashed) AS o, if(k = 4, NULL, timestamp_seconds(hashed)) AS t,
       |if(k = 4, NULL, CAST(hashed AS DECIMAL(38, 0))) AS x, if(k = 3, NULL, v) AS w,
       |date_from_unix_date(if(k = 7, 2147483647, hashed - 50)) AS d FROM (
       |SELECT int(id) AS id, int($key) AS k, int(id % 3) AS v, int(pmod(hash(id, 2), 70)) AS hashed
       |FROM range(0, $rows, 1, 3))""".stripMargin

  private def load(left: String, right: String): Unit = withConf("spark.sql.ansi.enabled" -> "true") {
    for ((name, query) <- Seq("l" -> left, "r" -> right)) {
      val rows = sql(query) // here and now, so that each query below has little to compile but the join
      spark.createDataFrame(rows.collectAsList(), rows.schema).createOrReplaceTempView(name)
    }
  }

  private def answerOf(query: LastJoinQuery): Seq[String] =
    withConf("spark.sql.ansi.enabled" -> "true")(onStockSpark(asOracle(Answers.rows(sql(query.candidates)))))

  private def survives(
      on: String,
      extreme: String,
      order: OrderTerm = OrderTerm("r.o"),
      rightKey: String = "if(id = 7, 7, id % 5)",
      number: Int = testNames.size): Unit = test(s"stock Spark survives: $on, ordered by ${order.sql}") {
    load(left(extreme), right(key = rightKey))
    val query = LastJoinQuery(Seq(order, OrderTerm("r.id")), on)
    val answer = answerOf(query)
    assert(answer.distinct.size == 60)
    inEveryForm(number) { (hint, operator) =>
      val joined = sql(query.sql(hint))
      assert(Answers.rows(joined) == answer, plan(joined))
      assert(operators(joined).contains(operator), plan(joined))
    }
  }

  private def conditionOf(query: => Any): String = intercept[Exception with SparkThrowable](query).getErrorClass

  private def fails(
      on: String,
      extreme: String,
      order: OrderTerm = OrderTerm("r.o"),
      number: Int = testNames.size): Unit =
    test(s"stock Spark fails, and so does every form: $on, ordered by ${order.sql}") {
      load(left(extreme), right())
      val query = LastJoinQuery(Seq(order, OrderTerm("r.id")), on)
      val condition = conditionOf(answerOf(query))
      inEveryForm(number)((hint, _) => assert(conditionOf(sql(query.sql(hint)).collect()) == condition))
    }

  private val (noPartner, noTimes, guarded) = ("id % 6 = 5", "id % 6 = 4", "id % 5 <= 2")
  private val downwards = OrderTerm("r.o", "DESC NULLS FIRST")

  // the as-of bound
  survives("l.k = r.k AND r.o < l.o + 100", noPartner)
  survives("l.k = r.k AND r.o < l.o + 100", noPartner, OrderTerm("r.o", "ASC NULLS LAST"))
  survives("l.k = r.k AND l.o + 100 > r.o", noTimes)
  survives("l.k = r.k AND r.o >= -l.o - 100", noPartner, downwards)
  survives("l.k = r.k AND l.v > 2 AND r.o <= l.o + 100", guarded)
  survives("l.k = r.k AND r.o <= l.o + 100 AND l.v > 2", guarded)
  survives("l.k = r.k AND l.o < 1000 AND r.o <= l.o + 100 AND r.v <> l.v", guarded)
  survives("l.k = r.k AND r.v - l.v > 100 AND r.o < l.o + 100", guarded)
  survives("l.k = r.k AND r.o >= l.u AND r.o <= l.o + 10", guarded)
  survives("l.k = r.k AND r.o <= 60 - l.u AND r.o >= -l.o - 10", guarded, downwards)
  survives("l.k = r.k AND r.t <= l.t + INTERVAL '1' HOUR", noPartner, OrderTerm("r.t"))
  survives("l.k = r.k AND l.v > 2 AND r.t <= l.t + INTERVAL '1' HOUR", guarded, OrderTerm("r.t"))
  survives("l.k = r.k AND r.x < l.x + 1", noPartner, OrderTerm("r.x"))
  survives("l.k = r.k AND l.v > 2 AND r.x < l.x + 1", guarded, OrderTerm("r.x"))
  survives("l.k = r.k AND r.o <= CAST(l.s AS INT)", noPartner)
  survives("l.k = r.k AND l.s <> 'none' AND r.o <= CAST(l.s AS INT)", guarded)
  // a right side of the as-of comparison
  survives("l.k = r.k AND r.d <= l.t", "false", OrderTerm("r.d"))
  // a tolerance
  survives("l.k = r.k AND l.v > 2 AND r.o <= l.o AND r.o >= -l.o - 100", guarded)
  survives("l.k = r.k AND r.v > l.v AND r.o + l.o >= 0", "id % 5 > 2")
  survives("l.k = r.k AND l.v > 2 AND r.o + l.o >= 0", guarded)
  // a residual condition
  survives("l.k = r.k AND (r.v + 1) * l.o > 5 AND l.v > 2 AND r.o <= l.o", guarded + " AND id % 2 = 0")
  survives("l.k = r.k AND l.o + 100 > r.w", "id % 6 = 3")
  // no key
  survives("l.v > 2 AND r.o <= l.o + 100", guarded)
  survives("r.o <= l.o + 100", "id % 2 = 0", rightKey = "4")
  survives("r.o >= l.u AND r.o <= l.o + 10", guarded)
  survives("r.d <= l.t AND r.d >= DATE'1960-01-01' + l.k", "false", OrderTerm("r.d"), rightKey = "id % 5")

  fails("l.k = r.k AND r.o < l.o + 100", guarded)
  fails("l.k = r.k AND r.o >= -l.o - 100", "id = 33", downwards)
  fails("l.k = r.k AND r.o < l.o + 100 AND r.o >= l.k - 100", "id = 33")
  fails("l.k = r.k AND r.o < l.o + 100 AND r.v <> l.v", "id = 33")
  fails("l.k = r.k AND r.o < l.o AND r.o >= -l.o - 100", "id = 33")
  fails("l.k = r.k AND r.o < l.o AND r.o + r.v >= l.o + 100", "id = 33")
  fails("r.o < l.o + 100", "id = 33")
  fails("r.o < l.o + 100 AND r.v <> l.v", "id = 33")
  fails("l.k = r.k AND r.x < l.x + 1", "id = 33", OrderTerm("r.x"))

  test("ASOF JOIN") {
    load(left(noPartner), right())
    val oracle = LastJoinQuery(Seq(OrderTerm("r.o"), OrderTerm("r.id")), "l.k = r.k AND r.o < l.o + 100").candidates
    val answer = onStockSpark(asOracle(Answers.rows(sql(s"SELECT id, o FROM ($oracle)"))))
    inEveryForm(number = 0) { (hint, operator) =>
      val joined = sql(s"""SELECT /*+ $hint(r) */ l.id, r.o FROM l l
                          |LEFT ASOF JOIN r MATCH_CONDITION (l.o + 100 > r.o) ON l.k = r.k""".stripMargin)
      assert(Answers.rows(joined) == answer)
      assert(operators(joined).contains(operator), plan(joined))
    }
  }

  // hot keys, cut by time

  private val Skewed = Shuffled ++ Seq(
    "spark.sql.adaptive.enabled" -> "true",
    "spark.sql.adaptive.coalescePartitions.enabled" -> "false",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "4KB",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor" -> "1.5",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" -> "2KB"
  )
  private val hot = "if(id % 10 < 9, 0, id % 11)"

  for ((hint, operator) <- LastJoinForms if hint != "BROADCAST") test(s"cut by time below $operator") {
    load(left("id % 7 = 3", rows = 2000, key = hot), right(rows = 2000, key = hot))
    val order = Seq(OrderTerm("r.o"), OrderTerm("r.id"))
    val survived = LastJoinQuery(order, "l.k = r.k AND r.o >= l.u AND r.o <= l.o + 10")
    val answer = answerOf(survived)
    val failing = LastJoinQuery(order, "l.k = r.k AND r.o <= l.o + 10 AND r.o >= l.k - 100")
    for (code <- Seq(Generated, Interpreted)) withConf(Skewed ++ code: _*) {
      val joined = sql(survived.sql(hint))
      assert(Answers.rows(joined) == answer)
      val slices = collect(plan(joined)) { case slice: TimeSliceExec => slice.metrics("splitParts").value }
      assert(slices.size == 2 && slices.forall(_ > 1), plan(joined))
      assert(conditionOf(sql(failing.sql(hint)).collect()).startsWith("ARITHMETIC_OVERFLOW"))
    }
  }

  test("without a key, by parts of time") {
    load(left(guarded), right())
    val survived = LastJoinQuery(Seq(OrderTerm("r.o"), OrderTerm("r.id")), "r.o >= l.u AND r.o <= l.o + 10")
    withConf(Shuffled ++ Generated: _*) {
      val joined = sql(survived.sql("SHUFFLE_HASH"))
      assert(Answers.rows(joined) == answerOf(survived))
      val carries = collect(plan(joined)) { case carry: CarryOverExec => carry.metrics("splitParts").value }
      assert(carries.size == 1 && carries.head > 1, plan(joined))
    }
  }

  // right rows that do not fit into memory

  override protected def beforeAll(): Unit =
    spark.udf.register("scarce", (value: Int, left: Int) => { ScarceMemory.take(left); value })

  override protected def afterAll(): Unit = {
    sql("DROP TEMPORARY FUNCTION scarce")
    super.afterAll()
  }

  for (on <- Seq(
      "r.o >= l.u AND r.o <= l.o + 10",
      "l.v > 2 AND l.u = 0 AND r.o <= l.o + 100",
      "r.v - l.v > 9 AND r.o < l.o + 9"); code <- Seq(Generated, Interpreted)) test(s"spilled: $on, ${code.head._2}") {
    load(left(s"$noPartner OR $guarded", rows = 4000, key = "id % 20"), right(rows = 4000, key = "id % 25"))
    val oracle = LastJoinQuery(Seq(OrderTerm("r.o"), OrderTerm("r.id")), s"l.k = r.k AND $on").candidates
    val query = s"""SELECT /*+ SHUFFLE_HASH(r) */ l.id, r.id AS rid, r.v FROM l l
                   |LAST JOIN (SELECT id, k, o, scarce(v, 0) AS v FROM (SELECT /*+ REPARTITION(1, k) */ * FROM r)) r
                   |ORDER BY r.o, r.id ON l.k = r.k AND $on""".stripMargin
    val settings = Shuffled ++ code :+ "spark.sql.adaptive.enabled" -> "false"
    withConf(settings :+ "spark.sql.shuffle.partitions" -> "1": _*) {
      val answer = onStockSpark(asOracle(Answers.rows(sql(s"SELECT id, rid, v FROM ($oracle)"))))
      ScarceMemory.withSpills(rows = 1000) {
        // others in the JVM may give memory back at that very moment
        val spilled = Iterator.fill(10) { val joined = sql(query); assert(Answers.rows(joined) == answer); joined }
        assert(spilled.exists { joined =>
          collect(plan(joined)) { case join: ShuffledHashLastJoinExec => join }.head.metrics("spillSize").value > 0
        })
      }
    }
  }
}

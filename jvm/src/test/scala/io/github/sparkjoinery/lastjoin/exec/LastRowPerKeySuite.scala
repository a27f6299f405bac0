package io.github.sparkjoinery.lastjoin.exec

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.exchange.{BroadcastExchangeExec, ShuffleExchangeExec}
import org.apache.spark.sql.joinery.ScarceMemory

import io.github.sparkjoinery.lastjoin.Numbers
import io.github.sparkjoinery.{Answers, LastJoinChecks}

/** The right side of a LAST JOIN on equalities only is reduced before it is shuffled or broadcast. */
class LastRowPerKeySuite extends LastJoinChecks {

  private val Settings = Seq("spark.sql.adaptive.enabled" -> "false", "spark.sql.autoBroadcastJoinThreshold" -> "-1")

  override protected def beforeAll(): Unit = {
    spark.udf.register("scarce_rows", (value: Int) => { ScarceMemory.take(40000); value })
    views(
      "l" -> "SELECT int(id) AS id, if(id % 9 = 0, NULL, int(id % 40)) AS k, 'x' AS s FROM range(200)",
      "r" -> """SELECT int(id) AS id, if(id % 13 = 0, NULL, int(id % 30)) AS k, string(id % 30) AS s, if(id % 7 = 0, NULL, int(hash(id) % 50)) AS o
               |FROM range(0, 3000, 1, 3)""".stripMargin,
      // keys repeat only after the rows that decide if most keys are distinct
      "distinct_at_first" -> "SELECT int(id) AS id, int(if(id < 65536, id, 0)) AS k, int(id) AS o FROM range(0, 80000, 1, 1)",
      "repeated" -> "SELECT int(id) AS id, int(id % 1000) AS k, int(id) AS o FROM range(0, 80000, 1, 1)"
    )
  }

  override protected def afterAll(): Unit = {
    sql("DROP TEMPORARY FUNCTION scarce_rows")
    super.afterAll()
  }

  private def query(
      right: String = "r",
      order: String = "r.o, r.id",
      on: String = "l.k = r.k",
      hint: String = "SHUFFLE_HASH"): String =
    s"SELECT /*+ $hint(r) */ l.id, r.id AS rid, r.o FROM l LAST JOIN $right r ORDER BY $order ON $on"

  private def oracle(right: String = "r", best: String = "max(struct(o, id))"): String =
    s"SELECT l.id, m.id AS rid, m.o FROM l LEFT JOIN (SELECT k, $best AS m FROM $right GROUP BY k) r ON l.k = r.k"

  private def reduced(query: DataFrame): Seq[LastRowPerKeyExec] = collect(plan(query)) { case last: LastRowPerKeyExec =>
    last
  }

  for ((hint, operator) <- LastJoinForms; wholeStage <- Seq("true", "false"))
    test(s"below the exchange of $operator, generated code $wholeStage") {
      withConf(Settings :+ "spark.sql.codegen.wholeStage" -> wholeStage: _*) {
        val joined = sql(query(hint = hint))
        assert(Answers.rows(joined) == Answers.rows(sql(oracle())))
        assert(operators(joined).contains(operator))
        val exchanges = collect(plan(joined)) {
          case shuffle: ShuffleExchangeExec => shuffle
          case broadcast: BroadcastExchangeExec => broadcast
        }
        assert(
          exchanges.count(exchange => collect(exchange) { case last: LastRowPerKeyExec => last }.size == 1) == 1,
          plan(joined))
        val metrics = reduced(joined).head.metrics
        assert(metrics("numInputRows").value == sql("SELECT count(k) FROM r").head().getLong(0))
        assert(metrics("numOutputRows").value == 90, "30 keys in each of 3 tasks")
      }
    }

  for ((name, order, best) <- Seq(
      ("descending", "r.o DESC NULLS FIRST, r.id DESC", "min_by(struct(o, id), struct(o IS NULL, o, id))"),
      ("NULLs last", "r.o NULLS LAST, r.id", "max_by(struct(o, id), struct(o IS NULL, o, id))")
    )) test(s"the order decides: $name") {
    withConf(Settings: _*) {
      val joined = sql(query(order = order))
      assert(Answers.rows(joined) == Answers.rows(sql(oracle(best = best))))
      assert(reduced(joined).size == 1)
    }
  }

  test("under adaptive execution, and in a chain") {
    withConf(
      Settings.last,
      "spark.sql.adaptive.enabled" -> "true",
      "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "-1") {
      val joined =
        sql(s"SELECT a.id, a.rid, r.o FROM (${query()}) a LAST JOIN r ORDER BY r.o, r.id ON a.id % 40 = r.k AND a.id % 9 <> 0")
      val expected = sql(s"SELECT id, rid, o FROM (${oracle()}) WHERE id % 9 <> 0")
      assert(Answers.rows(joined.where("id % 9 <> 0")) == Answers.rows(expected))
      assert(Answers.rows(sql(query())) == Answers.rows(sql(oracle())))
    }
  }

  test("known to be small only once it is reduced, it is broadcast, and the left side is not shuffled") {
    withTables("wide") {
      sql("CREATE TABLE wide USING parquet AS SELECT int(id) AS id, int(id % 30) AS k, int(id) AS o, repeat('x', 100) AS pad FROM range(0, 20000, 1, 2)")
      val settings = Seq("spark.sql.adaptive.enabled" -> "true", "spark.sql.autoBroadcastJoinThreshold" -> "20KB")
      for ((rows, operator, shuffles) <- Seq((30, "BroadcastLastJoin", 1), (19999, "ShuffledHashLastJoin", 2)))
        withConf(settings: _*) {
          val right = s"(SELECT id, id % $rows AS k, o, pad FROM wide)"
          val joined = sql(query(right).replace("/*+ SHUFFLE_HASH(r) */", "").replace("r.o FROM", "r.o, r.pad FROM"))
          assert(Answers.rows(joined.drop("pad")) == Answers.rows(sql(oracle(right))))
          assert(Answers.rows(joined).forall(row => row.contains("NULL, NULL") || row.contains("xxx")))
          assert(operators(joined).contains(operator), plan(joined))
          assert(collect(plan(joined)) { case shuffle: ShuffleExchangeExec => shuffle }.size == shuffles, plan(joined))
        }
    }
  }

  test("measured first, the right side is read once, also of a source whose batches are never equal") {
    spark.read.format(classOf[Numbers].getName).load().createOrReplaceTempView("numbers")
    withConf("spark.sql.adaptive.enabled" -> "true", "spark.sql.autoBroadcastJoinThreshold" -> "20KB") {
      for (keys <- Seq(30, Numbers.Rows - 1)) {
        val right = s"(SELECT id, id % $keys AS k, id AS o, repeat('x', 100) AS pad FROM numbers)"
        val joined = sql(query(right).replace("/*+ SHUFFLE_HASH(r) */", "").replace("r.o FROM", "r.o, r.pad FROM"))
        assert(plan(joined).toString.contains("AfterRight"), "the premise")
        Numbers.read.set(0)
        assert(joined.collect().length == 200)
        assert(Numbers.read.get == Numbers.Rows, s"rows were read, of $keys keys")
      }
    }
  }

  test("it gives way where most keys are distinct") {
    withConf(Settings: _*) {
      for ((right, rows) <- Seq("distinct_at_first" -> 80000, "repeated" -> 1000)) {
        val joined = sql(query(right))
        assert(Answers.rows(joined) == Answers.rows(sql(oracle(right))))
        assert(reduced(joined).map(_.metrics("numInputRows").value) == Seq(80000))
        assert(reduced(joined).map(_.metrics("numOutputRows").value) == Seq(rows), right)
      }
    }
  }

  test("where memory is short it begins again, and keys come several times") {
    withConf(Settings: _*) {
      val expected = Answers.rows(sql(oracle("repeated")))
      // repeated, because others in the JVM may give memory back at that moment
      val written = Iterator.continually {
        val joined = sql(query(right = "(SELECT scarce_rows(id) AS id, k, o FROM repeated)"))
        assert(Answers.rows(joined) == expected)
        val metrics = reduced(joined).head.metrics
        assert(metrics("numInputRows").value == 80000)
        metrics("numOutputRows").value
      }.take(10).find(_ > 1000)
      assert(written.exists(_ <= 80000), "memory was never short")
    }
  }

  for ((name, on) <- Seq(
      "an inequality" -> "l.k = r.k AND r.o <= l.id",
      "a lower bound" -> "l.k = r.k AND r.o >= l.id",
      "a residual condition" -> "l.k = r.k AND r.s <> l.s",
      "either key" -> "l.k = r.k OR l.id = r.id"
    )) {
    test(s"not used when ON has $name") {
      withConf(Settings: _*)(assert(reduced(sql(query(on = on))).isEmpty))
    }
  }
}

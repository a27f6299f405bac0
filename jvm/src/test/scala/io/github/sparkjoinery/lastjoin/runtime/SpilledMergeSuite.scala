package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.joinery.ScarceMemory

import io.github.sparkjoinery.lastjoin.exec.ShuffledHashLastJoinExec
import io.github.sparkjoinery.{Answers, LastJoinChecks}

/** A task of ShuffledHashLastJoin whose right rows do not fit into memory. */
class SpilledMergeSuite extends LastJoinChecks {

  private val Rows = 4000
  private val Settings = Seq(
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.shuffle.partitions" -> "1",
    "spark.sql.autoBroadcastJoinThreshold" -> "-1")

  override protected def beforeAll(): Unit = {
    spark.udf.register("scarce", (value: Int, left: Int) => { ScarceMemory.take(left); value })
    views(
      "l" -> s"SELECT int(id) AS id, if(id % 9 = 0, NULL, int(id % 20)) AS k, if(id % 11 = 0, NULL, int(hash(id) % 500)) AS o FROM range($Rows)",
      "r" -> s"SELECT int(id) AS id, int(id % 25) AS k, if(id % 13 = 0, NULL, int(hash(id + 7) % 500)) AS o, int(id % 3) AS v FROM range($Rows)"
    )
  }

  override protected def afterAll(): Unit = {
    sql("DROP TEMPORARY FUNCTION scarce")
    super.afterAll()
  }

  /** The right side calls `scarce` in the task that joins it. */
  private def query(on: String, left: String = "l", bytes: Option[Int] = None): String = {
    val v = bytes.map(left => s"scarce(v, $left)").getOrElse("v")
    s"""SELECT /*+ SHUFFLE_HASH(r) */ l.id, l.o AS lo, r.id AS rid, r.v FROM $left l
       |LAST JOIN (SELECT id, k, o, $v AS v FROM (SELECT /*+ REPARTITION(1, k) */ * FROM r)) r ORDER BY r.o, r.id ON $on""".stripMargin
  }

  /**
   * Runs the query until memory was too scarce for its right rows, and checks the answer each time. Others in the JVM
   * (such as broadcasts that are cleaned up) may give memory back at that moment.
   */
  private def runSpilled(text: String)(checkAnswer: DataFrame => Unit): DataFrame =
    Iterator.fill(10) { val query = sql(text); checkAnswer(query); query }
      .find(join(_).metrics("spillSize").value > 0)
      .getOrElse(fail("nothing was spilled"))

  private def join(query: DataFrame): ShuffledHashLastJoinExec =
    collect(plan(query)) { case join: ShuffledHashLastJoinExec => join }.head

  private val conditions = Seq(
    "as of" -> "l.k = r.k AND r.o <= l.o",
    "within a tolerance" -> "l.k = r.k AND r.o < l.o AND r.o >= l.o - 10",
    "with a residual condition" -> "l.k = r.k AND r.o <= l.o AND r.v <> l.id % 3",
    "the last of each key" -> "l.k = r.k",
    "without a key" -> "r.o <= l.o",
    "without a key, with a residual condition" -> "r.v <> l.id % 3"
  )

  // 0: not one row fits
  for ((name, on) <- conditions; wholeStage <- Seq("true", "false"); bytes <- Seq(0, 60000)
    if bytes == 0 || name != "the last of each key") {
    test(s"$name, generated code $wholeStage, $bytes bytes left") {
      withConf(Settings :+ "spark.sql.codegen.wholeStage" -> wholeStage: _*) {
        val answer = Answers.rows(sql(query(on)))
        ScarceMemory.withSpills(rows = 1000) {
          val metrics = join(runSpilled(query(on, bytes = Some(bytes))) { scarce =>
            assert(Answers.rows(scarce) == answer)
          }).metrics
          assert(metrics("distinctKeys").value == 0, "it was built in memory")
          assert(metrics("numOutputRows").value == Rows)
          assert(metrics("matchedRows").value == answer.count(!_.contains("NULL, NULL)")))
        }
      }
    }
  }

  for ((name, on) <- conditions; wholeStage <- Seq("true", "false"))
    test(s"the left side's order is kept: $name, generated code $wholeStage") {
      withConf(Settings :+ "spark.sql.codegen.wholeStage" -> wholeStage: _*) {
        val sorted = "(SELECT * FROM (SELECT /*+ REPARTITION(1, k) */ * FROM l) SORT BY o DESC NULLS FIRST, id)"
        val answer = sql(query(on, sorted)).collect().toSeq
        ScarceMemory.withSpills(rows = 1000) {
          val spilled = runSpilled(query(on, sorted, bytes = Some(0))) { scarce =>
            assert(scarce.collect().toSeq == answer)
          }
          assert(join(spilled).outputOrdering.nonEmpty, "the premise")
        }
        assert(answer.length == Rows && answer.head.isNullAt(1))
      }
    }

  // maps have no hash, so no tie-breaker is added to the sort of the right rows
  for (wholeStage <- Seq("true", "false")) test(s"nothing to sort by on either side, generated code $wholeStage") {
    withConf(Settings :+ "spark.sql.codegen.wholeStage" -> wholeStage: _*) {
      def text(bytes: Option[Int]): String =
        s"""SELECT /*+ SHUFFLE_HASH(r) */ l.id, r.m['v'] AS v FROM (SELECT * FROM l WHERE id < 300) l
           |LAST JOIN (SELECT map('v', ${bytes.fold("v")(left => s"scarce(v, $left)")}) AS m
           |  FROM (SELECT /*+ REPARTITION(1, k) */ * FROM r)) r ON r.m['v'] > l.id % 3 + 0""".stripMargin
      def check(answer: DataFrame): Unit = {
        val found = answer.collect().toSeq.map(row => row.getInt(0) -> Option(row.get(1)).map(_.asInstanceOf[Int]))
          .sortBy(_._1)
        assert(found.map(_._1) == (0 until 300))
        found.foreach { case (id, v) => assert(if (id % 3 == 2) v.isEmpty else v.exists(_ > id % 3)) }
      }
      check(sql(text(None)))
      check(sql(text(Some(0))))
      assert(join(sql(text(Some(0)))).terms.rightSort.isEmpty, "the premise")
    }
  }

  test("with memory enough nothing is spilled") {
    withConf(Settings: _*) {
      val plenty = sql(query(conditions.head._2))
      plenty.collect()
      assert(join(plenty).metrics("spillSize").value == 0)
      assert(join(plenty).metrics("distinctKeys").value == 25)
      assert(join(plenty).metrics("rowsBuilt").value == sql("SELECT count(o) FROM r").head().getLong(0))
      assert(join(plenty).metrics("buildSize").value > Rows * 16)
    }
  }
}

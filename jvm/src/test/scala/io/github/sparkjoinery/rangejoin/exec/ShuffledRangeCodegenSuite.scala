package io.github.sparkjoinery.rangejoin.exec

import org.apache.spark.SparkEnv
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.WholeStageCodegenExec

import io.github.sparkjoinery.Pairwise
import io.github.sparkjoinery.execution.skew.SkewedPartitions
import io.github.sparkjoinery.rangejoin.RangeJoinChecks

/** The shuffled form as a part of generated code: where it is, where it is not, and that it does the same there. */
class ShuffledRangeCodegenSuite extends RangeJoinChecks with SkewedPartitions {

  private val Joins = Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
  private val InParts = Seq("spark.sql.shuffle.partitions" -> "1", "spark.joinery.rangeJoin.maxIndexPart" -> "1")
  private val Shuffles = Seq(
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.shuffle.partitions" -> "3")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    views(
      "points" -> ("SELECT int(id) AS id, if(id % 41 = 0, NULL, int(if(id % 10 < 7, 0, id % 11))) AS k, " +
        "int(pmod(hash(id), 700)) AS x, if(id % 5 = 0, NULL, concat('point ', id)) AS name FROM range(0, 1500, 1, 4)"),
      "ranges" -> ("SELECT int(id) AS sid, if(id % 53 = 0, NULL, int(if(id % 10 < 5, 0, id % 13))) AS sk, " +
        "int(pmod(hash(id, 7), 700)) AS lo, int(pmod(hash(id, 7), 700) + id % 9) AS hi, concat('range ', id) AS label " +
        "FROM range(0, 900, 1, 4)")
    )
  }

  private val Range = "k = sk AND x BETWEEN lo AND hi"
  private def text(join: String, left: String, right: String, rest: String = "AND (id + sid) % 5 <> 1"): String =
    s"SELECT * FROM $left $join $right ON $Range $rest"

  /** A task that ends with memory that it has not given back fails. */
  private def failingOnLeaks[T](body: => T): T = {
    SparkEnv.get.conf.set("spark.unsafe.exceptionOnMemoryLeak", "true")
    try body
    finally SparkEnv.get.conf.remove("spark.unsafe.exceptionOnMemoryLeak")
  }

  /** A query that has run: adaptive execution has no generated code to show before. */
  private def ran(text: String): DataFrame = {
    val query = sql(text)
    query.collect()
    query
  }

  private def join(query: DataFrame): ShuffledRangeJoinExec =
    collectFirst(plan(query)) { case join: ShuffledRangeJoinExec => join }.get

  private def isGenerated(query: DataFrame): Boolean =
    collect(plan(query)) { case stage: WholeStageCodegenExec => stage }
      .exists(_.child.exists(_.isInstanceOf[ShuffledRangeJoinExec]))

  private def counts(query: DataFrame): Map[String, Long] = {
    val metrics = join(query).metrics
    Seq("numOutputRows", "indexRows", "indexParts", "tasksInParts", "probes", "candidates")
      .map(name => name -> metrics(name).value).toMap
  }

  test("each type of join, in one index, in parts, and split, gives the rows and counts of interpreted tasks") {
    val forms = Seq("one index" -> Nil, "in parts" -> InParts, "split" -> SkewedJoins)
    for {
      (joined, i) <- Joins.zipWithIndex
      ((left, right), j) <- Seq("points" -> "ranges", "ranges" -> "points").zipWithIndex
      ((form, settings), k) <- forms.zipWithIndex if Pairwise.isSoak || k == (i + j) % forms.length
    } withConf(Shuffles ++ settings: _*)(withClue(s"$joined of $left, $form\n") {
      val query = text(joined, left, right, if ((i + k) % 2 == 0) "" else "AND (id + sid) % 5 <> 1")
      withConf(Generated: _*) {
        assert(checkRangeJoin(query, Shuffled) > 0)
        val answer = ran(query)
        assert(isGenerated(answer), plan(answer))
        val generated = counts(answer)
        assert(generated == withConf(Interpreted: _*)(counts(ran(query))))
        assert(generated("tasksInParts") == (if (form == "in parts") 1 else 0))
        assert(generated("probes") > 0 && generated("candidates") > 0)
        assert(form != "split" || join(answer).isSkewJoin == (joined != "FULL JOIN"))
      }
    })
  }

  test("what stands above it in the same stage") {
    for ((joined, settings) <- Joins.zip(Seq.fill(3)(Seq(Nil, InParts)).flatten))
      withConf(Shuffles ++ Generated ++ settings: _*)(checkRangeJoin(
        s"SELECT count(*), max(id), sum(id) FROM (${text(joined, "points", "ranges")}) WHERE id % 3 <> 0",
        Shuffled))
  }

  test("EXISTS beside another condition, of either side") {
    for (settings <- Seq(Nil, InParts); (outer, inner) <- Seq("points" -> "ranges", "ranges" -> "points"))
      withConf(Shuffles ++ Generated ++ settings: _*) {
        val query = s"SELECT * FROM $outer WHERE ${if (outer == "points") "id" else "sid"} % 9 = 0 OR EXISTS " +
          s"(SELECT /*+ RANGE_JOIN($inner) */ 1 FROM $inner WHERE $Range)"
        assert(checkRangeJoin(query, Shuffled) > 0)
        assert(isGenerated(ran(query)))
      }
  }

  test("it is no part of generated code that is not wanted, or would have too many columns") {
    for (setting <- Seq("spark.sql.codegen.wholeStage" -> "false", "spark.sql.codegen.maxFields" -> "5"))
      withConf(Shuffles :+ setting: _*) {
        checkRangeJoin(text("LEFT JOIN", "points", "ranges"), Shuffled)
        assert(!isGenerated(ran(text("LEFT JOIN", "points", "ranges"))))
      }
    withConf(Shuffles: _*) { // from_json generates no code
      val rest = "AND from_json(concat('{\"a\": ', id, '}'), 'a INT').a + sid > 3"
      checkRangeJoin(text("LEFT JOIN", "points", "ranges", rest), Shuffled)
      assert(!isGenerated(ran(text("LEFT JOIN", "points", "ranges", rest))))
    }
  }

  test("joins upon joins by the same key are stages of their own, also in a union") {
    withConf(Shuffles ++ Generated: _*) {
      val twice =
        "SELECT p.*, r.sid, s.sid AS third FROM points p JOIN ranges r ON p.k = r.sk AND p.x BETWEEN r.lo AND r.hi " +
          "LEFT JOIN ranges s ON p.k = s.sk AND p.x BETWEEN s.lo AND s.hi AND s.sid <> r.sid"
      assert(checkRangeJoin(twice, Shuffled) > 0)
      checkRangeJoin(s"SELECT id FROM ($twice) UNION ALL SELECT id FROM points", Shuffled)
    }
  }

  test("an error of the condition is one where stock Spark has it") {
    val settings = Map("one index" -> Nil, "in parts" -> InParts)
    for (chosen <- Pairwise.cases(
        "join" -> Joins,
        "form" -> settings.keys.toSeq.sorted,
        "spark.sql.ansi.enabled" -> Seq("true", "false"),
        "condition" -> Seq("id + 2147483000 > sid", "id <> 3 AND x * 10000000 > sid")
      )) withConf(Shuffles ++ Generated ++ settings(chosen("form")) :+
      ("spark.sql.ansi.enabled" -> chosen("spark.sql.ansi.enabled")): _*)(
      checkRangeJoin(text(chosen("join"), "points", "ranges", s"AND ${chosen("condition")}"), Shuffled))
  }

  test("LIMIT ends the search, also among the matches of one row, and the memory is given back") {
    views(
      "same" -> "SELECT int(id) AS sid, int(id % 1) AS sk, int(id % 1) AS lo, int(id % 1) + 9 AS hi FROM range(0, 3000, 1, 2)",
      "ones" -> "SELECT int(id) AS id, int(id % 1) AS k, int(id % 1) + 5 AS x FROM range(0, 9000, 1, 2)"
    )
    for (settings <- Seq(Nil, InParts); joined <- Seq("JOIN", "LEFT JOIN", "FULL JOIN"); by <- Seq("rows", "count"))
      withConf(Shuffles ++ Generated ++ settings :+ ("spark.sql.shuffle.partitions" -> "1"): _*) {
        val some = s"SELECT id, sid FROM ones $joined same ON $Range LIMIT 7"
        val query = sql(if (by == "rows") some else s"SELECT count(id + sid) FROM ($some)")
        val rows = failingOnLeaks(query.collect())
        assert(if (by == "rows") rows.length == 7 else rows.head.getLong(0) == 7)
        val done = counts(query)
        assert(done("numOutputRows") <= 8 && done("probes") == 1 && done("indexParts") == 1, plan(query))
        if (joined == "JOIN") // else Spark has fewer rows of a side to begin with
          assert(done("tasksInParts") == (if (settings == InParts) 1 else 0))
      }
  }
}

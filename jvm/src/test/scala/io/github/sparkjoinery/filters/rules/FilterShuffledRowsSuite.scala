package io.github.sparkjoinery.filters.rules

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.adaptive.AQEShuffleReadExec
import org.apache.spark.sql.execution.{FilterExec, SortExec}
import org.apache.spark.sql.functions.udf

import io.github.sparkjoinery.{Answers, OnDefaultLine}

/** Filters on shuffled rows, by keys that were not known to be few before the shuffle. */
class FilterShuffledRowsSuite extends BuiltFilters {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    Seq("small", "second").foreach(hide)
  }

  private def few(columns: String = "*"): String = s"(SELECT $columns FROM hidden_small WHERE b % 20 = 3)"

  /** Filters directly above a shuffle, which sorts and joins read. */
  private def afterShuffle(answer: DataFrame): Seq[FilterExec] = collect(plan(answer)) {
    case filter @ FilterExec(condition, below)
        if condition.toString.contains("joinery_might_contain") && isShuffled(below) => filter
  }

  /** The answer is the one without filters, and as many tests as given drop rows after the shuffle, none before it. */
  private def check(query: String, filters: Int, settings: (String, String)*): DataFrame = {
    val answer = checkBuilt(query, 0, settings: _*)
    assert(testsAfterShuffle(answer) == filters, answer.queryExecution)
    answer
  }

  for ((name, settings) <- Seq(
      "generated code" -> Seq.empty,
      "interpreted" -> Seq("spark.sql.codegen.wholeStage" -> "false", "spark.sql.codegen.factoryMode" -> "NO_CODEGEN"),
      "without coalesced partitions" -> Seq("spark.sql.adaptive.coalescePartitions.enabled" -> "false"),
      "shuffled hash joins" -> Seq("spark.sql.join.preferSortMergeJoin" -> "false")
    )) {
    test(s"all kinds of joins, $name", (if (name == "generated code") Nil else Seq(OnDefaultLine)): _*) {
      val on = "ON f.k = s.k"
      check(s"SELECT f.id, s.name FROM fact f JOIN ${few()} s $on", 1, settings: _*)
      check(s"SELECT f.id, s.name FROM ${few()} s LEFT JOIN fact f $on", 1, settings: _*)
      check(s"SELECT f.id, s.name FROM fact f RIGHT JOIN ${few()} s $on", 1, settings: _*)
      check(s"SELECT f.id FROM fact f LEFT SEMI JOIN ${few()} s $on", 1, settings: _*)
      check(s"SELECT s.k, s.name FROM ${few()} s LEFT SEMI JOIN fact f $on", 1, settings: _*)
      check(s"SELECT s.k, s.name FROM ${few()} s LEFT ANTI JOIN fact f $on", 1, settings: _*)
      check(s"SELECT s.k, s.name, EXISTS (SELECT 1 FROM fact f WHERE f.k = s.k) FROM ${few()} s", 1, settings: _*)
      for (kept <- Seq(
          s"SELECT f.id, s.name FROM fact f LEFT JOIN ${few()} s $on",
          s"SELECT f.id FROM fact f LEFT ANTI JOIN ${few()} s $on",
          s"SELECT f.id, s.name FROM fact f FULL JOIN ${few()} s $on"
        )) check(kept, 0, settings: _*)
    }
  }

  test("LAST JOIN, whose right rows are dropped") {
    for (hint <- Seq("", "/*+ MERGE(f) */", "/*+ SHUFFLE_HASH(f) */")) {
      check(
        s"SELECT $hint s.k, s.name, f.id FROM ${few()} s LAST JOIN fact f ORDER BY f.id ON f.k = s.k AND f.day <= s.day",
        1)
      check(
        s"SELECT $hint f.id, s.name FROM fact f LAST JOIN ${few()} s ORDER BY s.b, s.name ON f.k = s.k",
        0)
    }
  }

  test("several keys of several types, NULLs among them, and a key that cannot be hashed", OnDefaultLine) {
    check(s"SELECT f.id FROM fact f JOIN ${few()} s ON f.k = s.k AND f.name = s.name AND f.b = s.b", 1)
    check(s"SELECT f.id FROM fact f JOIN ${few()} s ON f.k <=> s.k AND double(f.b) = float(s.b)", 1)
    check(s"SELECT f.id FROM fact f JOIN ${few()} s ON f.k = s.k AND array(f.b) = array(s.b)", 1)
    check(s"SELECT f.id FROM fact f JOIN ${few()} s ON array(f.b) = array(s.b)", 0)
  }

  test("it drops rows before they are sorted") {
    val answer = check(s"SELECT f.id, s.name FROM fact f JOIN ${few()} s ON f.k = s.k", 1)
    val filter = afterShuffle(answer).head
    assert(filter.metrics("numOutputRows").value < 400)
    assert(collect(plan(answer)) { case SortExec(_, _, below: FilterExec, _) => below } == Seq(filter))
    assert(keysIn(answer).map(_._1) == Seq(20), plan(answer))
  }

  test("not without adaptive execution, nor switched off") {
    val query = s"SELECT f.id, s.name FROM fact f JOIN ${few()} s ON f.k = s.k"
    check(query, 0, "spark.sql.adaptive.enabled" -> "false")
    check(query, 0, "spark.joinery.runtimeFilter.enabled" -> "false")
  }

  test("no small side to filter, too many keys, and sides that have dropped nothing", OnDefaultLine) {
    val query = s"SELECT f.id, s.name FROM fact f JOIN ${few()} s ON f.k = s.k"
    check(query, 0, "spark.joinery.runtimeFilter.applicationSideMinSize" -> "1g")
    check(query, 0, "spark.joinery.runtimeFilter.maxKeys" -> "19")
    check("SELECT f.id, s.name FROM fact f JOIN (SELECT *, rand() AS r FROM small) s ON f.k = s.k", 0)
    check("SELECT f.id FROM fact f JOIN (SELECT * FROM hidden_second WHERE k2 % 4 = 3) s ON f.k = s.k", 0)
  }

  test("keys that are others when a stage that is lost is computed again") {
    spark.udf.register("drawn", udf { (k: Int) => k % 20 == 3 }.asNondeterministic())
    for (few <- Seq(
        "SELECT * FROM small WHERE drawn(b)",
        "SELECT k, name FROM (SELECT *, row_number() OVER (PARTITION BY class ORDER BY class) AS n FROM hidden_small) WHERE n = 1",
        "SELECT class AS k, first(name) AS name FROM hidden_small GROUP BY class",
        "SELECT * FROM hidden_small LIMIT 10"
      )) check(s"SELECT f.id, s.name FROM fact f JOIN ($few) s ON f.k = s.k", 0)
  }

  test("keys of a cache, of which a part that is lost is computed again") {
    spark.udf.register("same", udf { (k: Int) => k % 20 == 3 })
    spark.udf.register("drawn", udf { (k: Int) => k % 20 == 3 }.asNondeterministic())
    for (choice <- Seq("same", "drawn")) {
      val cached = sql(s"SELECT * FROM hidden_small WHERE $choice(b)").persist()
      try {
        cached.createOrReplaceTempView("cached")
        val query = "SELECT f.id, s.name FROM fact f JOIN (SELECT * FROM cached WHERE k % 3 = 0) s ON f.k = s.k"
        if (choice == "same") checkBuilt(query, 1) else check(query, 0)
      } finally cached.unpersist()
    }
  }

  test("rows that have been tested by these keys are not tested again") {
    val query = "SELECT f.id, s.name FROM fact f JOIN small s ON f.k = s.k WHERE s.class = 3"
    assert(testsAfterShuffle(checkBuilt(query, 1)) == 0)
  }

  test("sides that end in an aggregate by the keys", OnDefaultLine) {
    val many = "(SELECT k, k2, name, max(id) AS id, count(DISTINCT b) AS c FROM fact GROUP BY k, k2, name)"
    val manySorted = "(SELECT k, name, collect_list(id) AS ids FROM fact GROUP BY k, name)"
    val fewGroups =
      "(SELECT k, max(name) AS name, count(*) AS c FROM hidden_small WHERE b % 20 = 3 GROUP BY k HAVING c > 0)"
    val settings = Seq(
      Seq.empty,
      Seq("spark.sql.codegen.wholeStage" -> "false", "spark.sql.codegen.factoryMode" -> "NO_CODEGEN"),
      Seq("spark.sql.execution.useObjectHashAggregateExec" -> "false", "spark.sql.join.preferSortMergeJoin" -> "false")
    )
    for (setting <- settings) {
      check(
        s"SELECT f.k2, f.c, f.id, s.name FROM $many f JOIN ${few()} s ON f.k = s.k AND f.name = s.name",
        1,
        setting: _*)
      check(s"SELECT s.name, sort_array(f.ids) FROM ${few()} s LEFT JOIN $manySorted f ON f.k = s.k", 1, setting: _*)
      check(s"SELECT f.id, s.name, s.c FROM fact f JOIN $fewGroups s ON f.k = s.k", 1, setting: _*)
      check(s"SELECT f.id, s.c, f.name FROM $fewGroups s LEFT JOIN fact f ON f.k = s.k", 1, setting: _*)
      check(
        s"SELECT s.name, f.c FROM $fewGroups s JOIN (SELECT k, count(*) AS c FROM fact GROUP BY k) f ON f.k = s.k",
        1,
        setting: _*)
    }
    check(s"SELECT s.name, s.c, f.id FROM $fewGroups s LAST JOIN fact f ORDER BY f.id ON f.k = s.k", 1)
    // an aggregate has fewer rows than it has read, but has dropped none
    val all = "(SELECT class, max(name) AS m FROM (SELECT * FROM hidden_small WHERE b >= 0) GROUP BY class)"
    check(s"SELECT f.id, s.m FROM fact f JOIN $all s ON f.k = s.class", 0)
  }

  test("aggregates by floating-point keys, NULLs, and the ends of types", OnDefaultLine) {
    withTables("lots", "some") {
      val key =
        "CASE id % 400 WHEN 0 THEN double('NaN') WHEN 1 THEN -0.0D WHEN 2 THEN 0.0D WHEN 3 THEN NULL ELSE double(id % 400) END"
      sql(s"CREATE TABLE lots USING parquet AS SELECT $key AS d, if(id % 7 = 0, -9223372036854775807 - 1, id % 300) AS l, id FROM range(0, 6000, 1, 2)")
      sql(s"CREATE TABLE some USING parquet AS SELECT $key AS d, if(id = 6, -9223372036854775807 - 1, id) AS l, int(id % 40) AS b FROM range(0, 400, 1, 1)")
      hide("some")
      val few = "SELECT * FROM hidden_some WHERE (b + 3) % 20 = 3 OR b < 5 AND b % 20 <> 3"
      val tests =
        for (on <- Seq("f.d = s.d", "f.d <=> s.d", "f.l = s.l", "f.d = s.d AND f.l = s.l")) yield Seq(
          s"SELECT string(f.d), f.l, f.n, s.b FROM (SELECT d, l, count(*) AS n FROM lots GROUP BY d, l) f RIGHT JOIN ($few) s ON $on",
          s"SELECT f.id, string(s.d), s.l, s.n FROM lots f JOIN (SELECT d, l, count(*) AS n FROM ($few) GROUP BY d, l) s ON $on"
        ).map(query => testsAfterShuffle(checkBuilt(query, 0)))
      assert(tests.flatten.sum >= 4, tests)
    }
  }

  test("skewed partitions stay split") {
    withTables("skewed") {
      sql("CREATE TABLE skewed USING parquet AS SELECT id, if(id % 10 < 8, 3, int(id % 2000)) AS k FROM range(60000)")
      val answer = check(
        s"SELECT f.id, s.name FROM skewed f JOIN ${few()} s ON f.k = s.k",
        1,
        "spark.sql.shuffle.partitions" -> "10",
        "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" -> "10KB",
        "spark.sql.adaptive.skewJoin.skewedPartitionFactor" -> "1.5",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "20KB"
      )
      val reads = collect(plan(answer)) { case read: AQEShuffleReadExec => read }
      assert(reads.exists(_.hasSkewedPartition))
    }
  }

  test("an intermediate result, which is few by what two tables have in common") {
    val query =
      s"""SELECT q.id, w.w FROM (SELECT f.id, f.k2 FROM fact f JOIN ${few()} s ON f.k = s.k AND f.b + s.b = 6) q
      JOIN second w ON q.k2 = w.k2"""
    assert(testsAfterShuffle(checkBuilt(query, 0)) == 2)
  }

  test("from where it is written to a table") {
    withTables("written") {
      val query = s"SELECT f.id, s.name FROM fact f JOIN ${few()} s ON f.k = s.k"
      withConf(Shuffled: _*)(sql(s"CREATE TABLE written USING parquet AS $query"))
      withConf(Off)(assert(Answers.rows(sql("SELECT * FROM written")) == Answers.rows(sql(query))))
    }
  }
}

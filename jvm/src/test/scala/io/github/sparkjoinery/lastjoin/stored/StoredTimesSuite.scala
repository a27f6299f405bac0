package io.github.sparkjoinery.lastjoin.stored

import java.nio.file.{Files => JavaFiles, Path => JavaPath}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.util.ArrayData

import io.github.sparkjoinery.Answers
import io.github.sparkjoinery.artifacts.{SpecificationHash, StoreLayout}
import io.github.sparkjoinery.execution.skew.SkewedPartitions
import io.github.sparkjoinery.filters.stored.StoredFilters
import io.github.sparkjoinery.lastjoin.exec.TimeSliceExec
import io.github.sparkjoinery.window.exec.CopyRowsExec

/** Skewed partitions of a LAST JOIN, cut by the distribution of their hot keys in the store. */
class StoredTimesSuite extends StoredFilters with SkewedPartitions {

  /** Nine rows out of ten have the key 0. */
  private def table(rows: Int, seed: Int): String =
    s"""SELECT int(id) AS id, if(id % 97 = 0, NULL, concat('k', if(id % 10 < 9, 0, id % 11))) AS k, int(id % 2) AS j,
       |if(id % 31 = 0, NULL, int(pmod(hash(id, $seed), 900))) AS o FROM range(0, $rows, 1, 4)""".stripMargin

  override protected def beforeAll(): Unit = {
    dropTables()
    sql(s"CREATE TABLE hot_left USING parquet AS SELECT *, TIMESTAMP '2013-01-01' + make_dt_interval(0, o) AS t FROM (${table(3000, 5)})")
    sql(
      s"CREATE TABLE hot_right USING parquet AS SELECT *, TIMESTAMP '2013-01-01' + make_dt_interval(0, o) AS t FROM (${table(1500, 6)})")
  }

  override protected def afterAll(): Unit = {
    dropTables()
    super.afterAll()
  }

  private def dropTables(): Unit = Seq("hot_left", "hot_right").foreach(table => sql(s"DROP TABLE IF EXISTS $table"))

  /** @return the version's folder */
  private def buildDistribution(
      table: String,
      keys: Seq[String],
      time: String,
      format: Int = 2,
      from: Option[String] = None): JavaPath = {
    val relation = s"spark_catalog.default.$table"
    val spec = mapper.createObjectNode().put("order_by", time).put("quantiles", 8)
    val list = spec.putArray("partition_by")
    keys.foreach(list.add(_))
    val hash = SpecificationHash.of(mapper.createObjectNode().put("kind", "distribution").set[ObjectNode]("spec", spec))
    val artifact = JavaPath.of(StoreLayout.folder(store.toString, "distribution", relation).toString).resolve(hash)
    val name = f"20260101T000000000000Z-${System.nanoTime() & 0xffffffffL}%08x"
    val version = artifact.resolve("versions").resolve(name)
    sql(s"""SELECT *, if(is_hot, q, NULL) AS quantiles FROM (SELECT ${keys.mkString(
        ", ")}, count(*) AS row_count, count(*) > 200 AS is_hot,
      percentile_approx($time, array(0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875), 10000) AS q
      FROM ${from.getOrElse(table)} GROUP BY ${keys.mkString(", ")})""").drop("q")
      .coalesce(1).write.parquet(version.resolve("data").toString)
    val json =
      mapper.createObjectNode().put("format_version", format).put("kind", "distribution").put("relation", relation)
        .put("spec_hash", hash).put("version", name)
    json.set[ObjectNode]("spec", spec)
    json.putObject("fingerprint").put("type", "none").put("reason", "not asked for").putArray("files")
    val files = json.putArray("files")
    JavaFiles.list(version.resolve("data")).iterator.asScala.filter(_.toString.endsWith(".parquet")).foreach { file =>
      val bytes = JavaFiles.readAllBytes(file)
      files.addObject().put("path", s"data/${file.getFileName}").put("length", bytes.length).put(
        "sha256",
        StoreLayout.sha256(bytes))
    }
    publish(version, json)
    version
  }

  private def query(time: String, keys: String = "l.k = r.k", hint: String = "SHUFFLE_HASH"): String =
    s"SELECT /*+ $hint(r) */ l.id, r.id AS rid FROM hot_left l LAST JOIN hot_right r ORDER BY r.$time NULLS FIRST, r.id ON $keys AND r.$time <= l.$time"

  private def slices(query: DataFrame): Seq[TimeSliceExec] = collect(plan(query)) { case slice: TimeSliceExec => slice }

  /** The answer is that without a store; skewed partitions are split, by stored boundaries or by a sample. */
  private def check(text: String, stored: Boolean): Seq[TimeSliceExec] = {
    val expected =
      withConf(SkewedJoins :+ ("spark.joinery.lastJoin.skewSplit.enabled" -> "false"): _*)(Answers.rows(sql(text)))
    withStore(SkewedJoins: _*) {
      val joined = sql(text)
      assert(Answers.rows(joined) == expected)
      val both = slices(joined)
      assert(both.size == 2 && both.forall(_.metrics("splitParts").value >= 2), plan(joined))
      assert(both.forall(slice => (slice.metrics("storedCuts").value > 0) == stored), plan(joined))
      assert(
        both.forall(_.simpleString(100).contains("cut by the distribution of spark_catalog.default.hot_") == stored),
        plan(joined))
      both
    }
  }

  for (time <- Seq("o", "t"); (hint, _) <- LastJoinForms if hint != "BROADCAST")
    test(s"by $time, of the larger side, under hint $hint") {
      buildDistribution("hot_left", Seq("k"), time)
      check(query(time, hint = hint), stored = true)
    }

  test("of the other side, by several keys, in a store of format 1") {
    buildDistribution("hot_right", Seq("j", "k"), "o", format = 1)
    check(query("o", "l.k = r.k AND r.j = l.j"), stored = true)
  }

  test("parts are about as large as by a sample") {
    buildDistribution("hot_left", Seq("k"), "o")
    def largest(slice: TimeSliceExec): Long = {
      val parts = slice.execute().mapPartitions(rows => Iterator(rows.size.toLong)).collect()
      parts.max
    }
    val stored = check(query("o"), stored = true).map(largest)
    val sampled = withConf(SkewedJoins: _*) {
      val joined = sql(query("o"))
      joined.collect()
      slices(joined).map(largest)
    }
    assert(stored.head < sampled.head * 1.3, s"$stored $sampled")
  }

  test("a distribution of long ago, by other columns, or damaged, changes no answer") {
    buildDistribution("hot_left", Seq("k"), "o", from = Some("(SELECT k, o + 100000 AS o FROM hot_left)"))
    withStore(SkewedJoins: _*) { // all rows in one part, which is as well as without a split
      val expected = withConf("spark.joinery.lastJoin.skewSplit.enabled" -> "false")(Answers.rows(sql(query("o"))))
      assert(Answers.rows(sql(query("o"))) == expected)
    }
    check(query("o", "l.k = r.k AND l.j = r.j AND l.id % 2 = r.id % 2"), stored = false)
    val version = buildDistribution("hot_left", Seq("k"), "o")
    JavaFiles.list(version.getParent).iterator.asScala.foreach { each =>
      JavaFiles.writeString(each.resolve("version.json"), "{}")
    }
    check(query("o"), stored = false)
  }

  private def checkWindow(hint: String, column: String, how: Option[String]): Unit = {
    val text = s"""SELECT $hint id, count(*) OVER w AS n, min(o) OVER w AS o, $column FROM hot_left
      WINDOW w AS (PARTITION BY k ORDER BY t RANGE BETWEEN INTERVAL 20 SECONDS PRECEDING AND CURRENT ROW)"""
    val expected = withConf("spark.joinery.slidingWindow.enabled" -> "false")(Answers.rows(sql(text)))
    val query = sql(text)
    assert(Answers.rows(query) == expected)
    assert(plan(query).exists(_.nodeName == "SlidingWindow"), plan(query))
    val cut = collect(plan(query)) { case copies: CopyRowsExec => copies }
    assert(cut.map(_.source) == how.toSeq, plan(query))
    assert(cut.forall(_.hotKeys.eval().asInstanceOf[ArrayData].numElements() > 0), plan(query))
  }

  test("hot keys of a window are cut by it, too") {
    buildDistribution("hot_left", Seq("k"), "t")
    def check(how: String): Unit = checkWindow("/*+ SKEW_WINDOW(4) */", "max(id) OVER w AS last", Some(how))
    withConf(SkewedJoins: _*)(check("4 parts by a sample"))
    withStore(SkewedJoins: _*)(check("4 parts by the distribution of spark_catalog.default.hot_left"))
  }

  test("without a hint, hot keys of a window are cut where that pays") {
    buildDistribution("hot_left", Seq("k"), "t")
    val column = "max(id) OVER w AS last"
    val cut = Some("4 parts by the distribution of spark_catalog.default.hot_left") // two cores, two parts each
    withStore(SkewedJoins: _*) {
      checkWindow("", column, cut)
      withConf("spark.sql.adaptive.enabled" -> "false")(checkWindow("", column, None))
      checkWindow("/*+ SKEW_WINDOW(1) */", column, None)
      withConf("spark.joinery.slidingWindow.skewSplit.enabled" -> "false")(checkWindow("", column, None))
      withConf("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" -> "64MB")(checkWindow(
        "",
        column,
        None
      )) // the key is small
    }
    withConf(SkewedJoins: _*)(checkWindow("", column, None)) // and no store
  }
}

package io.github.sparkjoinery.rangejoin.stored

import java.nio.file.{Files => JavaFiles, Path => JavaPath}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import org.apache.hadoop.fs.Path

import org.apache.spark.SparkConf
import org.apache.spark.serializer.{JavaSerializer, KryoSerializer}
import org.apache.spark.sql.catalyst.expressions.BoundReference
import org.apache.spark.sql.catalyst.plans.logical.{Join => LogicalJoin, Project}
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.types.IntegerType

import io.github.sparkjoinery.Pairwise
import io.github.sparkjoinery.artifacts.StoredArtifacts
import io.github.sparkjoinery.rangejoin.index.{RangeLayout, SearchableRelation}
import io.github.sparkjoinery.rangejoin.{RangeJoinChecks, RangeJoinStrategy}

/**
 * Range indexes of the artifact store: answers are those of stock Spark, and what is not provably valid is not used.
 */
class StoredRangeIndexSuite extends RangeJoinChecks with StoredArtifacts {

  private val Stored = "StoredRangeIndex"
  private val Join = "SELECT e.id, s.id AS sid, s.name FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi"
  private val Columns = Seq("id", "lo", "hi", "name", "k")

  /** Some of it reversed, some without one bound. */
  private def spans(from: Int, until: Int, files: Int): String =
    s"""SELECT int(id) AS id, if(id % 11 = 3, NULL, int(id * 3 % 200)) AS lo, if(id % 13 = 5, NULL, int(id * 3 % 200 + id % 7 - 1)) AS hi,
       |concat('v', id) AS name, int(id % 5) AS k FROM range($from, $until, 1, $files)""".stripMargin

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    views("events" -> "SELECT id, int(id % 211 - 3) AS x, int(id % 6) AS k FROM range(0, 3000, 1, 3)")
  }

  private def withSpans[T](body: => T): T = withTables("spans") {
    sql(s"CREATE TABLE spans USING parquet AS ${spans(0, 300, 3)}")
    withConf("spark.joinery.store" -> store.toString, "spark.joinery.store.timeout" -> "60s")(body)
  }

  /** Writes an index of `spans`, of several runs, and makes it the current one. */
  private def buildIndex(
      table: String = "spans",
      columns: Seq[String] = Columns,
      sortedBy: Seq[String] = Seq("lo", "hi"),
      runs: Int = 2)(change: ObjectNode => Unit = _ => ()): JavaPath = {
    spark.catalog.refreshTable(table)
    val relation = s"spark_catalog.default.$table"
    val spec = mapper.createObjectNode().put("start", sortedBy.head).put("end", sortedBy.last)
    val list = spec.putArray("columns")
    columns.foreach(list.add(_))
    val version = newVersion("range_index", relation, spec)
    val rows = spark.table(table)
    val json = description(version, "range_index", relation, spec, rows, locationOf(table))
    val names = json.putArray("columns")
    columns.foreach(names.add(_))
    val order = json.putArray("sorted_by")
    sortedBy.foreach(order.add(_))
    val inRuns = json.putArray("runs")
    for (run <- 0 until runs) withConf(Plain ++ Interpreted: _*) {
      val ofRun = rows.select(columns.map(rows(_)): _*).where(s"abs(hash(id)) % $runs = $run").coalesce(1)
      ofRun.sortWithinPartitions(sortedBy.map(rows(_)): _*).write.parquet(version.resolve(s"data/run-$run").toString)
      val files = inRuns.addArray()
      listData(version, json, s"data/run-$run").foreach(path => files.add(path.stripPrefix("data/")))
    }
    json.put("rows", rows.count())
    change(json)
    publish(version, json)
    version
  }

  private def checkStored(query: String = Join): Unit = {
    checkRangeJoin(query)
    val plan = planned(sql(query))
    assert(plan.exists(_.nodeName == Stored), plan)
  }

  private def checkUnused(reason: String, query: String = Join): Unit = {
    checkRangeJoin(query)
    val plan = planned(sql(query))
    assert(!plan.exists(_.nodeName == Stored), plan)
    checkDecision(query, reason)
  }

  for {
    (join, number) <-
      Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN").zipWithIndex
    (side, from) <- Seq("right" -> s"events e $join spans s", "left" -> s"spans s $join events e")
  } test(s"$join, the stored side on the $side") {
    withSpans {
      buildIndex()()
      val hint = "/*+ BROADCAST(s) */"
      val conditions = Seq(
        "e.x BETWEEN s.lo AND s.hi",
        "e.x > s.lo AND e.x < s.hi AND s.name > 'v2'",
        "e.k = s.k AND e.x BETWEEN s.lo AND s.hi")
      val settings = Seq(Nil, Interpreted, Seq("spark.sql.adaptive.enabled" -> "false"))
      for ((condition, i) <- conditions.zipWithIndex; (setting, j) <- settings.zipWithIndex)
        // each join meets each condition and setting, and three joins together every two of those
        if (Pairwise.isSoak || (i + j + number) % settings.length == 0) withConf(setting: _*) {
          checkStored(s"SELECT $hint * FROM $from ON $condition")
        }
    }
  }

  test("an aggregate above, whatever is compiled and planned anew") {
    withSpans {
      buildIndex()()
      for {
        compiled <- Seq(Interpreted, Generated)
        adaptive <- Seq("true", "false")
      } withConf(compiled :+ ("spark.sql.adaptive.enabled" -> adaptive): _*) {
        checkStored(s"SELECT count(*) AS n, sum(id) AS ids, count(name) AS names FROM ($Join)")
        checkStored(
          "SELECT x, max(name) AS name FROM (SELECT e.x, s.name FROM events e LEFT JOIN spans s ON e.x BETWEEN s.lo AND s.hi) GROUP BY x")
      }
    }
  }

  test("a side with projections, filters and other names") {
    withSpans {
      buildIndex()()
      checkStored(
        "SELECT e.id, t.label, t.wide FROM events e JOIN (SELECT upper(name) AS label, lo AS a, hi AS b, hi - lo AS wide FROM spans " +
          "WHERE name LIKE 'v1%' AND hi IS NOT NULL) t ON e.x BETWEEN t.a AND t.b")
      checkStored(
        "SELECT e.id FROM events e JOIN (SELECT * FROM spans WHERE name = 'none') s ON e.x BETWEEN s.lo AND s.hi")
      checkStored("SELECT e.id, s.id AS sid FROM events e JOIN spans s ON e.x BETWEEN s.lo - 2 AND s.lo + 1")
      checkStored("SELECT e.id, s.id AS sid FROM events e JOIN spans s ON abs(e.x - s.lo) < 2")
    }
  }

  test("what EXISTS and IN become") {
    withSpans {
      buildIndex()()
      for (condition <- Seq(
          "EXISTS (SELECT 1 FROM spans s WHERE e.x BETWEEN s.lo AND s.hi)",
          "NOT EXISTS (SELECT * FROM spans s WHERE e.x BETWEEN s.lo AND s.hi AND s.id > e.id)",
          "e.id = 7 OR EXISTS (SELECT 1 FROM spans s WHERE e.x BETWEEN s.lo AND s.hi AND s.name LIKE 'v1%')",
          "e.id IN (SELECT s.id FROM spans s WHERE e.x BETWEEN s.lo AND s.hi)",
          "e.id NOT IN (SELECT s.id FROM spans s WHERE e.x BETWEEN s.lo AND s.hi)"
        )) checkStored(s"SELECT e.id FROM events e WHERE $condition")
    }
  }

  test("one side of a join loads an index, also where the rule looks once more at what EXISTS becomes") {
    withSpans {
      buildIndex()()
      // about columns of both sides, so that it stays above the join
      val query =
        """SELECT a.id FROM spans a JOIN spans b ON a.lo BETWEEN b.lo AND b.hi
          |WHERE EXISTS (SELECT 1 FROM events e WHERE e.x BETWEEN a.lo AND b.hi)""".stripMargin
      checkStored(query)
      for (join <- sql(query).queryExecution.optimizedPlan.collect { case join: LogicalJoin => join })
        assert(Seq(join.left, join.right).count(_.isInstanceOf[StoredRangeSide]) <= 1, join)
    }
  }

  test("a side of which the optimizer leaves columns out once it has an index") {
    withSpans {
      buildIndex()()
      for (exists <- Seq("EXISTS", "NOT EXISTS")) checkRangeJoin(
        s"""SELECT a.id FROM events a WHERE $exists (SELECT e.id, s.k, s.name FROM (SELECT * FROM events WHERE id < 200) e
           |JOIN spans s ON e.x BETWEEN s.lo AND s.hi WHERE e.k = a.k)""".stripMargin)
      val side = sql(Join).queryExecution.optimizedPlan.collectFirst { case side: StoredRangeSide => side }.get
      val fewer = side.copy(Project(side.output.tail, side.child))(side.stored)
      assert(RangeJoinStrategy(side).head.isInstanceOf[StoredRangeSideExec])
      assert(!RangeJoinStrategy(fewer).head.isInstanceOf[StoredRangeSideExec])
    }
  }

  test("every type that comes out of a file as it went in") {
    withTables("spans") {
      sql("""CREATE TABLE spans USING parquet AS SELECT int(id) AS id, id AS lo, id + id % 4 AS hi, tinyint(id % 100) AS b, smallint(id) AS h,
            |float(CASE id % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0.0' ELSE string(id) END) AS f, double(if(id % 7 = 0, 'Infinity', string(id / 3))) AS d,
            |date_add(DATE'0001-01-01', int(id * 2000)) AS dt, timestamp_micros(id * 1234567890123 - 60000000000000000) AS ts,
            |CAST(timestamp_micros(id * 987654321) AS TIMESTAMP_NTZ) AS tn, id % 2 = 0 AS yes, CAST(id AS DECIMAL(9, 2)) / 7 AS d9,
            |CAST(id AS DECIMAL(38, 10)) / 7 AS d38, encode(concat('é', id), 'UTF-8') AS bin, make_interval(0, 0, 0, 0, 0, 0, 0) IS NULL AS no,
            |make_dt_interval(0, int(id)) AS dti, make_ym_interval(int(id % 9), 1) AS ymi, concat('v', id) AS name, int(id % 5) AS k
            |FROM range(0, 200, 1, 2)""".stripMargin)
      withConf("spark.joinery.store" -> store.toString, "spark.joinery.store.timeout" -> "60s") {
        buildIndex(columns = spark.table("spans").columns.toSeq)()
        checkStored("SELECT e.id AS eid, s.* FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi")
        withConf("spark.sql.parquet.enableVectorizedReader" -> "false")(
          checkStored("SELECT e.id AS eid, s.* FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi"))
      }
    }
  }

  test("files that came since are indexed on top") {
    withSpans {
      buildIndex()()
      sql(s"INSERT INTO spans ${spans(500, 540, 1)}")
      checkStored()
      checkStored(Join.replace("JOIN", "FULL JOIN").replace("SELECT", "SELECT /*+ BROADCAST(s) */"))
      checkDecision(Join, "and those of files that came since")
      sql(s"INSERT INTO spans ${spans(1000, 3000, 4)}")
      checkUnused("files of the source are new: refresh it")
    }
  }

  test("files that came since, unknown to the session") {
    withSpans {
      buildIndex()()
      val folder = JavaFiles.createTempDirectory("foreign").resolve("data")
      sql(spans(500, 540, 1)).write.parquet(folder.toString)
      val file = JavaPath.of(new Path(filesBelow(folder.toString).head._1).toUri.getPath)
      JavaFiles.copy(file, JavaPath.of(new Path(locationOf("spans")).toUri.getPath).resolve("new.parquet"))
      checkUnused("the source's files have changed since the query listed them")
      spark.catalog.refreshTable("spans")
      checkStored()
    }
  }

  test("files that are gone, or were rewritten") {
    withSpans {
      buildIndex()()
      JavaFiles.delete(JavaPath.of(new Path(filesBelow(locationOf("spans")).head._1).toUri.getPath))
      spark.catalog.refreshTable("spans")
      checkUnused("is gone")
      buildIndex()()
      checkStored()
      sql(s"INSERT OVERWRITE spans ${spans(7, 90, 2)}")
      checkUnused("is gone")
    }
  }

  test("files that were still changing when it was built") {
    withSpans {
      buildIndex()(_.withObject("/fingerprint").put("uncovered", 1))
      checkUnused("1 files of the source were still changing when it was built")
    }
  }

  test("an index that lacks a column, or is sorted by another") {
    withSpans {
      buildIndex(columns = Seq("id", "lo", "hi"))()
      checkUnused("it lacks the column name")
      checkStored("SELECT e.id, s.id AS sid FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi")
      checkUnused(
        "does not compare its first column",
        "SELECT e.id, s.id AS sid FROM events e JOIN spans s ON abs(e.x - s.id) < 2")
    }
  }

  test("a side that computes what depends on more than its rows") {
    withSpans {
      buildIndex()()
      checkUnused(
        "cannot be computed on its rows",
        "SELECT e.id, s.id AS sid FROM events e JOIN (SELECT * FROM spans WHERE id > (SELECT count(*) / 99 FROM spans)) s " +
          "ON e.x BETWEEN s.lo AND s.hi"
      )
    }
  }

  test("settings by which files are read have changed") {
    withTables("spans") {
      sql("CREATE TABLE spans USING parquet AS SELECT int(id) AS id, int(id) AS lo, int(id + 3) AS hi, concat('v', id) AS name, " +
        "date_add(DATE'2020-01-01', int(id)) AS k FROM range(100)")
      withConf("spark.joinery.store" -> store.toString, "spark.joinery.store.timeout" -> "60s") {
        buildIndex()()
        val dates = Join.replace("s.name", "s.k")
        checkStored(dates)
        withConf("spark.sql.parquet.datetimeRebaseModeInRead" -> "LEGACY")(
          checkUnused("spark.sql.parquet.datetimeRebaseModeInRead was", dates))
      }
    }
  }

  private def firstFile(version: JavaPath): JavaPath =
    JavaFiles.list(version.resolve("data/run-0")).iterator.asScala.filter(_.toString.endsWith(".parquet")).next()

  for ((what, damage) <- Seq[(String, JavaPath => Unit)](
      "a byte is another" -> { file =>
        val bytes = JavaFiles.readAllBytes(file)
        bytes(bytes.length / 3) = (bytes(bytes.length / 3) ^ 1).toByte
        JavaFiles.write(file, bytes)
      },
      "a byte is another, later" -> { file =>
        val bytes = JavaFiles.readAllBytes(file)
        bytes(60) = (bytes(60) ^ 1).toByte // of the first page
        JavaFiles.write(file, bytes)
      },
      "a file is gone" -> (file => JavaFiles.delete(file)),
      "a file is cut off" -> (file => JavaFiles.write(file, JavaFiles.readAllBytes(file).dropRight(10)))
    )) test(s"data that is damaged after it was planned with: $what") {
    withSpans {
      val version = buildIndex()()
      if (what == "a byte is another, later") checkStored()
      damage(firstFile(version))
      for (join <- Seq("JOIN", "FULL JOIN"))
        checkRangeJoin(Join.replace("JOIN", join).replace("SELECT", "SELECT /*+ BROADCAST(s) */"))
    }
  }

  test("fewer rows than its description says") {
    withSpans {
      buildIndex()(json => json.put("rows", json.get("rows").asLong + 1))
      checkRangeJoin(Join)
    }
  }

  test("runs of other files than those of its data") {
    withSpans {
      buildIndex()(_.withArray[ArrayNode]("runs").remove(1))
      checkUnused("its runs are not made of the files that it lists")
    }
  }

  test("an index that an older release built") {
    withSpans {
      buildIndex()(json => json.remove("columns"))
      checkUnused("an older release built it: refresh it")
    }
  }

  test("an index that is too large: by its rows, or only once it is loaded") {
    withTables("spans") {
      sql("CREATE TABLE spans USING parquet AS SELECT int(id) AS id, int(id) AS lo, int(id + 3) AS hi, repeat(concat('v', id), 3000) AS name, 1 AS k " +
        "FROM range(0, 300, 1, 2)")
      withConf("spark.joinery.store" -> store.toString, "spark.joinery.store.timeout" -> "60s") {
        buildIndex()()
        withConf("spark.joinery.rangeJoin.maxBroadcast" -> "20000")(
          checkDecision(Join, "more than spark.joinery.rangeJoin.maxBroadcast"))
        withConf("spark.joinery.rangeJoin.maxBroadcast" -> "300000") {
          checkStored()
          checkStored(Join.replace("JOIN", "FULL JOIN").replace("SELECT", "SELECT /*+ BROADCAST(s) */"))
        }
      }
    }
  }

  test("where another plan is cheaper, that is taken") {
    withSpans {
      buildIndex()()
      views("few" -> "SELECT id, int(id + 7) AS x FROM range(2)")
      checkUnused("an index of the other side is cheaper", Join.replace("events", "few"))
      withConf("spark.joinery.rangeJoin.storedIndex.enabled" -> "false")(
        assert(!planned(sql(Join)).exists(_.nodeName == Stored)))
    }
  }

  test("two joins of one query load it once") {
    withSpans {
      buildIndex()()
      val twice = s"$Join WHERE e.id < 1000 UNION ALL $Join WHERE e.id > 2000"
      for (adaptive <- Seq("true", "false")) withConf("spark.sql.adaptive.enabled" -> adaptive) {
        checkStored(twice)
        val answer = sql(twice)
        answer.collect()
        assert(collect(plan(answer)) { case reused: ReusedExchangeExec => reused }.length == 1, plan(answer))
      }
    }
  }

  test("an executor has the index once it has what was broadcast, whatever the serializer") {
    withSpans {
      buildIndex()()
      val side = planned(sql(Join)).collectFirst { case side: StoredRangeSideExec => side }.get
      def bound(name: String) = BoundReference(side.output.indexWhere(_.name == name), IntegerType, nullable = true)
      val layout = RangeLayout(Nil, bound("lo"), Some(bound("hi")), keepsAll = true, side.output.length)
      val shipped =
        side.stored.load(layout, side.stored.addedRows._2, Long.MaxValue)(_ => fail("it was not loaded"))
          .get.asInstanceOf[SearchableRelation]
      for (serializer <- Seq(new JavaSerializer(new SparkConf), new KryoSerializer(new SparkConf))) {
        val bytes = serializer.newInstance().serialize(shipped)
        assert(bytes.remaining < 100 * 1000)
        val received = serializer.newInstance().deserialize[SearchableRelation](bytes)
        assert(received.index.numRows == shipped.index.numRows && received.index.numRows > 200)
      }
    }
  }
}

package io.github.sparkjoinery.rangejoin.stored

import java.nio.file.{Files => JavaFiles, Path => JavaPath}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import org.apache.hadoop.fs.Path

/**
 * Stored range indexes that change, or whose source changes. Answers are those of stock Spark, and an index is used
 * only if it is provably valid.
 */
class RangeIndexValiditySuite extends StoredRangeIndexFixture {

  private def withSpans[T](body: => T): T = withTables("spans") {
    createSpans()
    withStore(body)
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
      withStore {
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

  test("partitions that share a folder, whose files are read once for each of them") {
    withTables("spans") {
      sql(s"CREATE TABLE spans USING parquet PARTITIONED BY (p) AS SELECT *, 1 AS p FROM (${spans(0, 300, 3)})")
      withStore {
        buildIndex()()
        checkStored()
        sql(s"ALTER TABLE spans ADD PARTITION (p = 2) LOCATION '${locationOf("spans")}/p=1'")
        checkUnused("partitions of the source share files")
      }
    }
  }

  test("text, of which it depends on the columns that are read which rows are malformed") {
    val Malformed = "which rows of its text are malformed depends on the columns that are read"
    def some(columns: String, where: String = "") =
      s"SELECT e.id, $columns FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi $where"
    for ((options, dropped) <- Seq("" -> false, "OPTIONS (mode 'dropMalformed')" -> true)) withTables("spans") {
      val folder = JavaFiles.createTempDirectory("text").resolve("data")
      sql(s"""SELECT replace(to_json(struct(*)), '"k":3', '"k":"x"') FROM (${spans(0, 300, 3)})""").write.text(
        folder.toString)
      JavaFiles.createFile(folder.resolve("empty.json")) // which the job lists, and no query reads
      sql(s"CREATE TABLE spans (id INT, lo INT, hi INT, name STRING, k INT, _corrupt_record STRING) USING json $options LOCATION '${folder.toUri}'")
      def asJson(json: ObjectNode): Unit = {
        json.withObject("/source").put("provider", "json").put("options", if (dropped) "mode=dropMalformed" else "")
        ()
      }
      def build(columns: Seq[String]): Unit = { buildIndex(columns = columns)(asJson); () }
      withStore {
        build(Columns :+ "_corrupt_record")
        checkUnused(Malformed, some("s.id AS sid, s.k", "WHERE s._corrupt_record IS NULL"))
        build(Columns)
        checkStored(some("s.id AS sid, s.name, s.k"))
        if (dropped) checkUnused(Malformed, some("s.name")) else checkStored(some("s.name"))
        withConf("spark.sql.json.enablePartialResults" -> "false") {
          build(Columns)
          checkUnused(Malformed, some("s.name"))
        }
      }
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

  test("settings by which files are read have changed") {
    withTables("spans") {
      sql("CREATE TABLE spans USING parquet AS SELECT int(id) AS id, int(id) AS lo, int(id + 3) AS hi, concat('v', id) AS name, " +
        "date_add(DATE'2020-01-01', int(id)) AS k FROM range(100)")
      withStore {
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

  // Spark drops a LIMIT above a plan that is known to have fewer rows.
  private val Joins = Seq(
    Join,
    Join.replace("JOIN", "FULL JOIN").replace("SELECT", "SELECT /*+ BROADCAST(s) */"),
    s"SELECT count(*) AS n FROM (${Join.replace("SELECT", "SELECT /*+ BROADCAST(s) */")} WHERE e.id < 600 LIMIT 50)"
  )

  for ((what, wrong) <- Seq[(String, Long => Long)](
      "one more than there are" -> (_ + 1),
      "one" -> (_ => 1L),
      "zero" -> (_ => 0L),
      "negative" -> (_ => -1L)))
    test(s"a number of rows that its description makes up: $what") {
      withSpans {
        buildIndex()(json => json.put("rows", wrong(json.get("rows").asLong)))
        Joins.foreach(checkRangeJoin(_))
        withConf("spark.joinery.rangeJoin.maxBroadcast" -> "4000")(Joins.tail.foreach(checkRangeJoin(_)))
      }
    }

  test("a length of a file that its description makes up, with a number of rows that fits it") {
    withSpans {
      buildIndex(runs = 1) { json =>
        json.put("rows", 0)
        json.withArray[ArrayNode]("files").elements.asScala.foreach(_.asInstanceOf[ObjectNode].put("length", 4))
      }
      Joins.foreach(checkRangeJoin(_))
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
      withStore {
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
}

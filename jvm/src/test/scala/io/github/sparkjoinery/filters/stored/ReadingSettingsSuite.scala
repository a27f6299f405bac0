package io.github.sparkjoinery.filters.stored

import java.nio.file.{Files => JavaFiles}
import java.util.TimeZone

import scala.util.Try

import org.apache.spark.sql.internal.SQLConf

import io.github.sparkjoinery.artifacts.{Files, ReadingSettings, RelationIdentity}

/** Settings, and clocks, by which the same files read as other values than when a filter was built. */
class ReadingSettingsSuite extends StoredFilters {

  private val Times =
    "SELECT TIMESTAMP'2013-06-01' + make_dt_interval(0, int(id)) AS t, date'1013-01-01' + int(id) AS d, concat('a', id) AS s"

  override protected def beforeAll(): Unit = {
    Seq("dim", "facts").foreach(table => sql(s"DROP TABLE IF EXISTS $table"))
    sql(s"CREATE TABLE facts USING parquet AS $Times, id FROM range(600)")
  }

  override protected def afterAll(): Unit = {
    Seq("dim", "facts").foreach(table => sql(s"DROP TABLE IF EXISTS $table"))
    super.afterAll()
  }

  private def query(key: String) = s"SELECT f.id FROM facts f JOIN dim p ON f.$key = p.$key"

  private def inZone[T](zone: String)(body: => T): T = {
    val before = TimeZone.getDefault
    TimeZone.setDefault(TimeZone.getTimeZone(zone))
    try body
    finally TimeZone.setDefault(before)
  }

  test("ORC timestamps are read by the time zone of the JVM") {
    withTables("dim") {
      sql(s"CREATE TABLE dim USING orc AS $Times, TIMESTAMP_NTZ'2013-06-01' AS n FROM range(50)")
      buildTableFilter("dim", Seq("t"), provider = "orc")()
      inZone("America/New_York") {
        spark.catalog.refreshTable("dim")
        checkDeclined(query("t"), "read by the time zone of the JVM from ORC")
      }
      buildTableFilter("dim", Seq("s"), Some("t <= t"), provider = "orc")()
      checkDeclined(query("s") + " WHERE p.t <= p.t", "read by the time zone of the JVM from ORC")
      buildTableFilter("dim", Seq("d"), provider = "orc")()
      checkFilters(query("d"), 1)
    }
  }

  test("timestamps in the names of folders are read by the session's time zone") {
    val folder = JavaFiles.createTempDirectory("named").resolve("data")
    sql(s"SELECT *, 1 AS v FROM ($Times FROM range(20))").select("t", "d", "v")
      .write.partitionBy("t", "d").parquet(folder.toString)
    val path = new org.apache.hadoop.fs.Path(folder.toUri).toString
    def read(): Unit = spark.read.parquet(path).createOrReplaceTempView("dim")
    read()
    buildFilter(RelationIdentity.ofPath(path), spark.table("dim"), path, Seq("t"))()
    buildFilter(RelationIdentity.ofPath(path), spark.table("dim"), path, Seq("d"))()
    buildFilter(RelationIdentity.ofPath(path), spark.table("dim"), path, Seq("d"), Some("t <= t"))()
    withConf("spark.sql.session.timeZone" -> "America/New_York") {
      read()
      checkDeclined(query("t"), "read by the session's time zone from the names of folders")
      checkFilters(query("d"), 1)
      withStore()(checkDecision(
        query("d") + " WHERE p.t <= p.t",
        "about timestamps, which are read by the session's time zone from the names of folders"))
    }
    spark.catalog.dropTempView("dim")
  }

  test("text with escapes") {
    withTables("dim") {
      sql(raw"CREATE TABLE dim USING parquet AS SELECT id, concat('a', id) AS s, if(id < 9, 'x\\n', 'x\n') AS v FROM range(50)")
      buildTableFilter("dim", Seq("s"), Some(raw"v = 'x\n'"))()
      checkFilters(query("s") + raw" WHERE p.v = 'x\n'", 1)
      checkDeclined(
        query("s") + raw" WHERE p.v = 'x\n'",
        "spark.sql.parser.escapedStringLiterals was false when it was built, and is true now",
        "spark.sql.parser.escapedStringLiterals" -> "true"
      )
    }
  }

  test("conditions that compute something, and those that only compare") {
    withTables("dim") {
      sql(s"CREATE TABLE dim USING parquet AS $Times, int(id) AS i FROM range(50)")
      buildTableFilter("dim", Seq("s"), Some("i + 1 > 3"))()
      checkFilters(query("s") + " WHERE p.i + 1 > 3", 1)
      checkDeclined(
        query("s") + " WHERE p.i + 1 > 3",
        "spark.sql.ansi.enabled was true when it was built, and is false now",
        "spark.sql.ansi.enabled" -> "false")
      buildTableFilter("dim", Seq("s"), Some("i > 3 AND s <> 'a4'"))()
      checkFilters(query("s") + " WHERE p.i > 3 AND p.s <> 'a4'", 1, "spark.sql.ansi.enabled" -> "false")
    }
  }

  test("dates of the old calendar in files of others") {
    withTables("dim") {
      // as Hive or Impala write it: no word of Spark in the footer
      val folder = foreignDates()
      sql(s"CREATE TABLE dim (d DATE) USING parquet LOCATION '$folder'")
      buildTableFilter("dim", Seq("d"))()
      checkFilters(query("d"), 1)
      checkDeclined(
        query("d"),
        "spark.sql.parquet.datetimeRebaseModeInRead was CORRECTED when it was built, and is LEGACY now",
        "spark.sql.parquet.datetimeRebaseModeInRead" -> "LEGACY"
      )
      val option = query("d").replace("dim p", "dim WITH ('datetimeRebaseMode' = 'LEGACY') p")
      checkDeclined(option, "the options of the source have changed")
      val path = new org.apache.hadoop.fs.Path(folder).toString
      buildFilter(RelationIdentity.ofPath(path), spark.read.parquet(path), path, Seq("d"))()
      spark.read.option("datetimeRebaseMode", "LEGACY").parquet(path).createOrReplaceTempView("legacy_dim")
      checkDeclined(query("d").replace("dim p", "legacy_dim p"), "the options of the source have changed")
      spark.read.parquet(path).createOrReplaceTempView("legacy_dim")
      checkFilters(query("d").replace("dim p", "legacy_dim p"), 1)
    }
  }

  /** Fifty days of 1013, in a file that does not say who wrote it. */
  private def foreignDates(): String = {
    import org.apache.parquet.example.data.simple.SimpleGroupFactory
    import org.apache.parquet.hadoop.example.ExampleParquetWriter
    import org.apache.parquet.schema.MessageTypeParser
    val folder = JavaFiles.createTempDirectory("foreign")
    val schema = MessageTypeParser.parseMessageType("message m { optional int32 d (DATE); }")
    val file = new org.apache.hadoop.fs.Path(folder.resolve("part.parquet").toString)
    val writer = ExampleParquetWriter.builder(file).withType(schema).build()
    val first = java.time.LocalDate.parse("1013-01-21").toEpochDay.toInt
    val rows = new SimpleGroupFactory(schema)
    try { (0 until 50).foreach(day => writer.write(rows.newGroup().append("d", first + day))) }
    finally writer.close()
    folder.toUri.toString
  }

  test("timestamps and the time zone, which matters where Spark converts those of Impala") {
    withTables("dim") {
      sql(s"CREATE TABLE dim USING parquet AS $Times FROM range(50)")
      buildTableFilter("dim", Seq("t"))()
      checkFilters(query("t"), 1, "spark.sql.session.timeZone" -> "Asia/Tokyo")
      checkDeclined(
        query("t"),
        "spark.sql.parquet.int96TimestampConversion was false when it was built",
        "spark.sql.parquet.int96TimestampConversion" -> "true")
      withConf("spark.sql.parquet.int96TimestampConversion" -> "true") {
        buildTableFilter("dim", Seq("t"))()
        checkFilters(query("t"), 1)
        checkDeclined(query("t"), "spark.sql.session.timeZone was UTC", "spark.sql.session.timeZone" -> "Asia/Tokyo")
      }
    }
  }

  test("a filter that does not say by which settings it was built") {
    withTables("dim") {
      sql(s"CREATE TABLE dim USING parquet AS $Times FROM range(50)")
      buildTableFilter("dim", Seq("s"))(_.remove("settings"))
      checkDeclined(query("s"), "does not say by which settings its source was read")
      buildTableFilter("dim", Seq("s"))(_.putArray("settings"))
      checkDeclined(query("s"), "does not say by which settings its source was read")
      buildTableFilter("dim", Seq("s"))(_.withObject("/settings").remove("spark.sql.caseSensitive"))
      checkDeclined(query("s"), "does not say what spark.sql.caseSensitive was")
    }
  }

  test("every setting of the list is one of Spark's, with its default") {
    val fresh = new SQLConf
    assert(ReadingSettings.all.length > 50)
    for (setting <- ReadingSettings.all if setting.key.startsWith("spark.")) {
      val known = Try(Option(fresh.getConfString(setting.key)).getOrElse("")).toOption
      assert(known.isDefined || !spark.version.startsWith("4.3"), setting)
      for (value <- known; default <- setting.default) assert(value.equalsIgnoreCase(default), setting)
    }
  }
}

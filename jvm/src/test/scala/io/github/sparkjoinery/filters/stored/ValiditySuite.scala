package io.github.sparkjoinery.filters.stored

import java.nio.file.attribute.FileTime
import java.nio.file.{Files => JavaFiles, Path => JavaPath}

import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{FileStatus, LocalFileSystem, Path, RawLocalFileSystem}

import io.github.sparkjoinery.artifacts.{Files, RelationIdentity}

/**
 * Sources that change after their filter was built. It is used as long as it holds all keys that are read, and answers
 * stay the same.
 */
class ValiditySuite extends StoredFilters {

  private val Query = "SELECT f.id, p.k FROM fact f JOIN dim p ON f.k = p.k"

  override protected def beforeAll(): Unit = {
    sql("DROP TABLE IF EXISTS fact")
    sql("CREATE TABLE fact USING parquet AS SELECT id, id % 500 AS k FROM range(2000)")
  }

  override protected def afterAll(): Unit = {
    sql("DROP TABLE IF EXISTS fact")
    super.afterAll()
  }

  /** Keys from 0 to 60 in three files. */
  private def withDim[T](create: String =
    "CREATE TABLE dim USING parquet AS SELECT id AS k, id % 3 AS v FROM range(0, 60, 1, 3)")(
      body: => T): T = withTables("dim") {
    sql(create)
    body
  }

  private def filesOf(table: String): Seq[JavaPath] =
    filesBelow(locationOf(table)).map(file => JavaPath.of(new Path(file._1).toUri.getPath)).sorted

  /** Writes a file with the rows of a query. Tests copy it into a table without the session's knowledge. */
  private def foreignFile(query: String): JavaPath = {
    val folder = JavaFiles.createTempDirectory("foreign").resolve("data")
    sql(query).coalesce(1).write.parquet(folder.toString)
    JavaPath.of(new Path(filesBelow(folder.toString).head._1).toUri.getPath)
  }

  for ((name, refresh) <- Seq(("known to the session", true), ("unknown to the session", false))) {
    test(s"rows appended, $name") {
      withDim() {
        buildTableFilter("dim", Seq("k"))()
        checkFilters(Query, 1)
        if (refresh) sql("INSERT INTO dim SELECT id AS k, 0 AS v FROM range(100, 140)")
        else JavaFiles.copy(
          foreignFile("SELECT id AS k, id AS v FROM range(100, 140)"),
          JavaPath.of(new Path(locationOf("dim")).toUri.getPath).resolve("new.parquet"))
        checkDeclined(Query, "is not covered")
        spark.catalog.refreshTable("dim")
        checkDeclined(Query, "is not covered")
        buildTableFilter("dim", Seq("k"))()
        checkFilters(Query, 1)
      }
    }
  }

  for ((name, create) <- Seq(
      "a table" -> "CREATE TABLE dim USING parquet AS SELECT id AS k, id % 2 AS v FROM range(60)",
      "a partitioned table" ->
        "CREATE TABLE dim USING parquet PARTITIONED BY (v) AS SELECT id AS k, id % 2 AS v FROM range(60)"
    )) {
    test(s"rows appended after the query was planned, $name") {
      withDim(create) {
        buildTableFilter("dim", Seq("k"), partitionColumns = if (create.contains("PARTITIONED")) Seq("v") else Nil)()
        withStore() {
          val query = "SELECT p.k, f.id FROM dim p LEFT JOIN fact f ON f.k = p.k"
          val answer = sql(query)
          assert(filtersIn(answer) == 1)
          sql("INSERT INTO dim SELECT 100 AS k, 0 AS v")
          // The planned query does not read the new row, a later one does: never the row without its match.
          assert(answer.where("k = 100 AND id IS NULL").count() == 0)
          val planned = answer.collect().filter(_.getLong(0) == 100)
          assert(planned.isEmpty, plan(answer))
          assert(sql(query).where("k = 100").count() == 4)
        }
      }
    }
  }

  test("what a column is in files that lack it") {
    val folder = JavaFiles.createTempDirectory("added").resolve("data")
    spark.range(10).selectExpr("int(id) AS v").write.parquet(folder.toString)
    def create(default: String): Unit = {
      sql("DROP TABLE IF EXISTS dim")
      sql(s"CREATE TABLE dim (v INT) USING parquet LOCATION '${folder.toUri}'")
      sql(s"ALTER TABLE dim ADD COLUMNS (k BIGINT DEFAULT $default)")
    }
    withTables("dim") {
      create("1")
      buildTableFilter("dim", Seq("k"))()
      checkFilters(Query, 1)
      create("2")
      checkDeclined(Query, "the schema of the source has changed")
      buildTableFilter("dim", Seq("k"))()
      checkFilters(Query, 1)
    }
  }

  test("a file deleted") {
    withDim() {
      buildTableFilter("dim", Seq("k"))()
      JavaFiles.delete(filesOf("dim").head)
      spark.catalog.refreshTable("dim")
      checkFilters(Query, 1)
    }
  }

  test("rows rewritten") {
    withDim() {
      buildTableFilter("dim", Seq("k"))()
      sql("INSERT OVERWRITE dim SELECT id AS k, 0 AS v FROM range(100, 140)")
      checkDeclined(Query, "is not covered")
    }
  }

  test("files compacted") {
    withDim() {
      buildTableFilter("dim", Seq("k"))()
      val rows = sql("SELECT * FROM dim").collect().toSeq
      sql(s"INSERT OVERWRITE dim VALUES ${rows.map(row => s"(${row.get(0)}, ${row.get(1)})").mkString(", ")}")
      checkDeclined(Query, "is not covered")
    }
  }

  test("a file replaced by another of the same name, and by one of the same length, too") {
    withDim() {
      val file = filesOf("dim").head
      JavaFiles.setLastModifiedTime(file, FileTime.fromMillis(1700000000000L))
      buildTableFilter("dim", Seq("k"))()
      checkFilters(Query, 1)
      JavaFiles.setLastModifiedTime(file, FileTime.fromMillis(1700000001000L)) // as if rewritten within a second
      checkDeclined(Query, "has changed since")
      val other = foreignFile("SELECT id AS k, id AS v FROM range(100, 1140)")
      JavaFiles.copy(other, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING)
      JavaFiles.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
      JavaFiles.setLastModifiedTime(file, FileTime.fromMillis(1700000000000L))
      spark.catalog.refreshTable("dim")
      checkDeclined(Query, "has changed since")
    }
  }

  test("a schema that has evolved, and a column of another type") {
    withDim() {
      buildTableFilter("dim", Seq("k"))()
      sql("ALTER TABLE dim ADD COLUMNS (w STRING)")
      checkDeclined(Query, "the schema of the source has changed")
    }
  }

  test("a table replaced by another of the same name") {
    withDim() {
      buildTableFilter("dim", Seq("k"))()
      sql("DROP TABLE dim")
      sql("CREATE TABLE dim USING parquet AS SELECT id AS k, id % 3 AS v FROM range(100, 160)")
      checkDeclined(Query, "is not covered")
      sql("DROP TABLE dim")
      sql("CREATE TABLE dim USING orc AS SELECT id AS k, id % 3 AS v FROM range(100, 160)")
      checkDeclined(Query, "the source was parquet, and is orc now")
    }
  }

  test("empty files, and a table that has become empty") {
    withDim() {
      buildTableFilter("dim", Seq("k"))()
      JavaFiles.createFile(filesOf("dim").head.resolveSibling("empty.parquet"))
      withConf("spark.sql.files.ignoreCorruptFiles" -> "true")(checkFilters(Query, 1))
      JavaFiles.delete(filesOf("dim").head.resolveSibling("empty.parquet"))
      sql("TRUNCATE TABLE dim")
      checkFilters(Query, 1, "spark.sql.adaptive.enabled" -> "false")
    }
  }

  test("ORC") {
    withDim("CREATE TABLE dim USING orc AS SELECT id AS k FROM range(0, 60, 1, 3)") {
      buildTableFilter("dim", Seq("k"), provider = "orc")()
      checkFilters(Query, 1)
      sql("INSERT INTO dim SELECT id FROM range(100, 140)")
      checkDeclined(Query, "is not covered")
    }
  }

  // partitions

  private val Partitioned =
    "CREATE TABLE dim USING parquet PARTITIONED BY (v) AS SELECT id AS k, id % 3 AS v FROM range(60)"

  test("partitions dropped, added, and added elsewhere") {
    withDim(Partitioned) {
      buildTableFilter("dim", Seq("k"), partitionColumns = Seq("v"))()
      checkFilters(Query, 1)
      checkFilters(s"$Query WHERE p.v = 1", 1)
      sql("ALTER TABLE dim DROP PARTITION (v = 1)")
      checkFilters(Query, 1)
      val elsewhere = foreignFile("SELECT id AS k FROM range(100, 140)").getParent
      sql(s"ALTER TABLE dim ADD PARTITION (v = 7) LOCATION '${elsewhere.toUri}'")
      checkDeclined(Query, "is not covered")
      checkFilters(s"$Query WHERE p.v = 2", 1) // which does not read it
      sql("ALTER TABLE dim DROP PARTITION (v = 7)")
      checkFilters(Query, 1)
      sql("INSERT INTO dim PARTITION (v = 9) SELECT id AS k FROM range(100, 140)")
      checkDeclined(Query, "is not covered")
    }
  }

  test("files of a dropped partition that stay do not matter") {
    val folder = JavaFiles.createTempDirectory("external")
    withDim(s"CREATE TABLE dim USING parquet PARTITIONED BY (v) LOCATION '${folder.toUri}' AS SELECT id AS k, id % 3 AS v FROM range(60)") {
      sql("ALTER TABLE dim DROP PARTITION (v = 1)")
      buildTableFilter("dim", Seq("k"), partitionColumns = Seq("v"))()
      checkFilters(Query, 1)
    }
  }

  test("values of partition columns are no part of any file") {
    withDim(Partitioned) {
      buildTableFilter("dim", Seq("v"), partitionColumns = Seq("v"))()
      checkDeclined("SELECT f.id, p.k FROM fact f JOIN dim p ON f.k = p.v", "its keys are partition columns")
      buildTableFilter("dim", Seq("k"), Some("v = 1"), partitionColumns = Seq("v"))()
      checkDeclined(s"$Query WHERE p.v = 1", "is about partition columns")
    }
  }

  test("a predicate on corrupt records, and a key") {
    val folder = JavaFiles.createTempDirectory("text").resolve("data")
    sql("SELECT to_json(struct(id AS k, if(id % 3 = 0, 'x', '1') AS b)) FROM range(60)").write.text(folder.toString)
    withDim(s"CREATE TABLE dim (k BIGINT, b INT, _corrupt_record STRING) USING json LOCATION '${folder.toUri}'") {
      buildTableFilter("dim", Seq("k"), Some("_corrupt_record IS NULL"), provider = "json")()
      checkDeclined(s"$Query WHERE p._corrupt_record IS NULL AND p.b IS NOT NULL", "is about corrupt records")
      buildTableFilter("dim", Seq("k", "_corrupt_record"), provider = "json")()
      checkDeclined(
        "SELECT f.id, p.b FROM (SELECT id, k, string(id) AS text FROM fact) f " +
          "JOIN dim p ON f.k = p.k AND f.text = p._corrupt_record",
        "its keys are corrupt records"
      )
    }
  }

  // how it is read

  test("a path, spelt in several ways") {
    val folder = JavaFiles.createTempDirectory("path with space").resolve("data")
    sql("SELECT id AS k FROM range(0, 60, 1, 2)").write.parquet(folder.toString)
    val identity = RelationIdentity.ofPath(new Path(folder.toString).toString)
    buildFilter(identity, spark.read.parquet(folder.toString), folder.toString, Seq("k"))()
    for (spelling <- Seq(folder.toString, s"$folder/", s"file:$folder", s"file://$folder", s"$folder/../data")) {
      checkFilters(s"SELECT f.id, p.k FROM fact f JOIN parquet.`$spelling` p ON f.k = p.k", 1)
    }
    sql("SELECT id AS k FROM range(100, 140)").write.mode("append").parquet(folder.toString)
    checkDeclined(s"SELECT f.id, p.k FROM fact f JOIN parquet.`$folder` p ON f.k = p.k", "is not covered")
  }

  test("a path with partitions, whose values are in its files' names") {
    val folder = JavaFiles.createTempDirectory("partitioned").resolve("data")
    sql("SELECT id, id % 20 AS k FROM range(60)").write.partitionBy("k").parquet(folder.toString)
    spark.read.parquet(folder.toString).createOrReplaceTempView("parted")
    val identity = RelationIdentity.ofPath(new Path(folder.toString).toString)
    buildFilter(identity, spark.table("parted"), folder.toString, Seq("k"), partitionColumns = Seq("k"))()
    checkFilters("SELECT f.id, p.k FROM fact f JOIN parted p ON f.k = p.k", 1)
    // each would start a process
    withConf("fs.file.impl" -> classOf[FilesWithoutPermissions].getName, "fs.file.impl.disable.cache" -> "true") {
      checkFilters("SELECT f.id, p.k FROM fact f JOIN parted p ON f.k = p.k", 1)
    }
    sql("SELECT id, id % 20 + 100 AS k FROM range(60)").write.mode("append").partitionBy("k").parquet(folder.toString)
    spark.read.parquet(folder.toString).createOrReplaceTempView("parted")
    checkDeclined("SELECT f.id, p.k FROM fact f JOIN parted p ON f.k = p.k", "is not covered")
  }

  test("CSV, whose options decide what is read") {
    val folder = JavaFiles.createTempDirectory("csv").resolve("data")
    sql("SELECT id AS k, concat(id + 200, ',', id) AS v FROM range(60)").write.option("sep", ";").csv(folder.toString)
    withDim(s"CREATE TABLE dim (k STRING, v STRING) USING csv OPTIONS (sep ';') LOCATION '${folder.toUri}'") {
      val query = "SELECT f.id, p.k FROM fact f JOIN dim p ON string(f.k) = p.k"
      buildTableFilter("dim", Seq("k"), provider = "csv", options = "sep=;")()
      checkFilters(query, 1)
      sql("DROP TABLE dim")
      sql(s"CREATE TABLE dim (k STRING, v STRING) USING csv OPTIONS (sep ',') LOCATION '${folder.toUri}'")
      checkDeclined(query, "the options of the source have changed")
    }
  }

  test("timestamps in CSV depend on the session") {
    val folder = JavaFiles.createTempDirectory("csv").resolve("data")
    sql("SELECT TIMESTAMP '2013-01-01' + make_dt_interval(int(id)) AS t FROM range(60)").write.csv(folder.toString)
    withDim(s"CREATE TABLE dim (t TIMESTAMP) USING csv LOCATION '${folder.toUri}'") {
      buildTableFilter("dim", Seq("t"), provider = "csv")()
      checkDeclined(
        "SELECT f.id FROM (SELECT id, TIMESTAMP '2013-01-01' + make_dt_interval(int(k)) AS t FROM fact) f JOIN dim p ON f.t = p.t",
        "by the session's time zone"
      )
    }
  }

  test("a view over the table, with its own filter above") {
    withDim() {
      withTables("dim_view") {
        sql("CREATE VIEW dim_view AS SELECT k AS key, v FROM dim WHERE v > 0")
        buildTableFilter("dim", Seq("k"))()
        checkFilters("SELECT f.id, p.key FROM fact f JOIN dim_view p ON f.k = p.key", 1)
        buildTableFilter("dim", Seq("k"), Some("v > 0"))()
        checkFilters("SELECT f.id, p.key FROM fact f JOIN dim_view p ON f.k = p.key", 1)
      }
    }
  }

  test("strings of another collation, or padded") {
    withDim("CREATE TABLE dim (k STRING COLLATE UTF8_LCASE, c CHAR(5)) USING parquet") {
      sql("INSERT INTO dim SELECT upper(concat('n', id)), string(id) FROM range(60)")
      buildTableFilter("dim", Seq("k"))(_.putArray("key_types").add("string"))
      checkFilters(
        "SELECT f.id FROM (SELECT id, concat('n', k) COLLATE UTF8_LCASE AS k FROM fact) f JOIN dim p ON f.k = p.k",
        0)
      buildTableFilter("dim", Seq("c"))(_.putArray("key_types").add("string"))
      checkFilters("SELECT f.id FROM (SELECT id, string(k) AS k FROM fact) f JOIN dim p ON f.k = p.c", 0)
    }
  }

  test("cached data is not the relation any more") {
    withDim() {
      buildTableFilter("dim", Seq("k"))()
      sql("CACHE TABLE dim")
      try checkFilters(Query, 0)
      finally sql("UNCACHE TABLE dim")
    }
  }

  test("several paths at once") {
    withDim() {
      val one = locationOf("dim")
      buildTableFilter("dim", Seq("k"))()
      spark.read.parquet(one, locationOf("fact")).createOrReplaceTempView("both")
      checkFilters("SELECT f.id FROM fact f JOIN both p ON f.k = p.k", 0)
    }
  }
}

/** Local files that do not say who may read them. */
class FilesWithoutPermissions extends LocalFileSystem(new RawLocalFileSystem {
    override def listStatus(path: Path): Array[FileStatus] = super.listStatus(path).map(file =>
      new FileStatus(file.getLen, file.isDirectory, 1, file.getBlockSize, file.getModificationTime, file.getPath) {
        override def getPermission: FsPermission = throw new UnsupportedOperationException(s"permissions of $getPath")
      })
  })

package io.github.sparkjoinery.filters.stored

import java.nio.file.attribute.FileTime
import java.nio.file.{Files => JavaFiles, Path => JavaPath}

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.{FileSourceScanExec, FilterExec, ScalarSubquery}

import io.github.sparkjoinery.Answers
import io.github.sparkjoinery.artifacts.RelationIdentity
import io.github.sparkjoinery.filters.runtime.KeyHashes

/** A query reads the files that are newer than a stored filter, and adds their keys. */
class AddedKeysSuite extends StoredFilters {

  private val Query = "SELECT f.id, p.k FROM fact f JOIN dim p ON f.k = p.k"
  private val Built = "spark.joinery.runtimeFilter.build.enabled" -> "true"

  override protected def beforeAll(): Unit = {
    sql("DROP TABLE IF EXISTS fact")
    sql("CREATE TABLE fact USING parquet AS SELECT id, id % 5000 AS k, sha2(string(id), 256) AS pad FROM range(20000)")
  }

  override protected def afterAll(): Unit = {
    sql("DROP TABLE IF EXISTS fact")
    super.afterAll()
  }

  /** Makes the table `dim` with all keys from 0 on, below 200, and a filter of them. */
  private def withDim[T](
      create: String =
        "CREATE TABLE dim USING parquet AS SELECT /*+ COALESCE(1) */ id AS k, id % 3 AS v FROM range(200)",
      where: Option[String] = None,
      provider: String = "parquet",
      partitionColumns: Seq[String] = Nil)(body: => T): T = withTables("dim") {
    sql(create)
    buildTableFilter("dim", Seq("k"), where, provider, partitionColumns = partitionColumns)()
    body
  }

  private def append(from: Int, to: Int): Unit =
    sql(s"INSERT INTO dim SELECT /*+ COALESCE(1) */ id AS k, id % 3 AS v FROM range($from, $to)")

  /** The subqueries that read added keys. The query must have one test, and the answer without filters. */
  private def added(query: String, settings: (String, String)*): Seq[ScalarSubquery] = {
    val expected = withConf((Shuffled :+ ("spark.joinery.store" -> "")) ++ settings: _*)(Answers.rows(sql(query)))
    withStore(Built +: settings: _*) {
      val answer = sql(query)
      assert(Answers.rows(answer) == expected, query)
      val tests = collect(plan(answer)) { case node: FilterExec =>
        "joinery_might_contain\\(".r.findAllIn(node.condition.toString).size
      }.sum
      assert(tests == 1, answer.queryExecution)
      collect(plan(answer)) { case node: FilterExec =>
        node.expressions.flatMap(_.collect { case keys: ScalarSubquery => keys })
      }.flatten
    }
  }

  private def keysOf(added: Seq[ScalarSubquery]): Seq[Long] =
    added.map(keys => KeyHashes.readFilter(keys.eval(InternalRow.empty).asInstanceOf[Array[Byte]])._1)

  /** The stored filter is not used, and this is among the reasons. */
  private def checkNone(query: String, reason: String): Unit = withStore(Built) {
    assert(!sql(query).queryExecution.optimizedPlan.toString.contains("come since"))
    checkDecision(query, reason)
  }

  for ((name, settings) <- Seq(
      "generated code" -> Seq.empty,
      "interpreted" -> Seq("spark.sql.codegen.wholeStage" -> "false", "spark.sql.codegen.factoryMode" -> "NO_CODEGEN")
    )) {
    test(s"rows appended, $name") {
      withDim() {
        assert(added(Query, settings: _*).isEmpty)
        append(1000, 1040)
        val builds = added(Query, settings: _*)
        assert(keysOf(builds) == Seq(40))
        val read = builds.flatMap(build => collect(build.plan) { case scan: FileSourceScanExec => scan })
        assert(read.map(_.metrics("numFiles").value) == Seq(1))
        buildTableFilter("dim", Seq("k"))()
        assert(added(Query, settings: _*).isEmpty)
      }
    }
  }

  test("rows appended are not read without adaptive execution") {
    withDim() {
      append(1000, 1040)
      withConf("spark.sql.adaptive.enabled" -> "false")(checkNone(Query, "read under adaptive execution only"))
    }
  }

  test("a file that was replaced by another of its name is read again") {
    withDim("CREATE TABLE dim USING parquet AS SELECT /*+ REPARTITION(4) */ id AS k, id % 3 AS v FROM range(200)") {
      val file = JavaPath.of(new Path(filesBelow(locationOf("dim")).map(_._1).min).toUri.getPath)
      JavaFiles.setLastModifiedTime(file, FileTime.fromMillis(1700000000000L))
      spark.catalog.refreshTable("dim")
      assert(added(Query).map(_ => ()).length == 1)
    }
  }

  test("by all kinds of joins, with names of its own and predicates") {
    withDim() {
      append(1000, 1040)
      assert(keysOf(added("SELECT f.id FROM fact f LEFT SEMI JOIN dim p ON f.k = p.k")) == Seq(40))
      assert(keysOf(added("SELECT f.id, p.k FROM dim p LEFT JOIN fact f ON f.k = p.k")) == Seq(40))
      assert(keysOf(
        added("SELECT f.id, q.z FROM fact f JOIN (SELECT k AS z, v + 1 AS w FROM dim) q ON f.k = q.z")) == Seq(40))
      assert(keysOf(added(s"$Query WHERE p.v <> 1")) == Seq(26))
      assert(keysOf(added(s"$Query WHERE p.v <> 1 AND rand() < 2")) == Seq(26))
    }
  }

  test("a filter with where: of what has come, only the rows that the query reads") {
    withDim(where = Some("v = 1")) {
      append(1000, 1040)
      assert(keysOf(added(s"$Query WHERE p.v = 1")) == Seq(14))
    }
  }

  test("partitions, and a path") {
    val create = "CREATE TABLE dim USING parquet PARTITIONED BY (v) AS SELECT id AS k, id % 3 AS v FROM range(200)"
    withDim(create, partitionColumns = Seq("v")) {
      sql("INSERT INTO dim PARTITION (v = 9) SELECT /*+ COALESCE(1) */ id AS k FROM range(1000, 1040)")
      assert(keysOf(added(Query)) == Seq(40))
      assert(added(s"$Query WHERE p.v <> 9").isEmpty) // the query does not read the new partition
    }
    val folder = JavaFiles.createTempDirectory("path").resolve("data").toString
    sql("SELECT /*+ COALESCE(1) */ id AS k FROM range(200)").write.parquet(folder)
    buildFilter(RelationIdentity.ofPath(folder), spark.read.parquet(folder), folder, Seq("k"))()
    sql("SELECT /*+ COALESCE(1) */ id AS k FROM range(1000, 1040)").write.mode("append").parquet(folder)
    assert(keysOf(added(s"SELECT f.id, p.k FROM fact f JOIN parquet.`$folder` p ON f.k = p.k")) == Seq(40))
  }

  test("ORC, and keys of several columns and types") {
    withTables("dim") {
      sql("CREATE TABLE dim USING orc AS SELECT /*+ COALESCE(1) */ int(id) AS k, string(id % 7) AS s FROM range(2000)")
      buildTableFilter("dim", Seq("s", "k"), provider = "orc")()
      sql("""INSERT INTO dim SELECT /*+ COALESCE(1) */ nullif(int(id), 1000), if(id = 1001, NULL, string(id % 7))
        FROM range(1000, 1042)""")
      assert(keysOf(added("SELECT f.id FROM fact f JOIN dim p ON f.k = p.k AND string(f.id % 7) = p.s")) == Seq(40))
    }
  }

  test("too many added keys: every row passes") {
    withDim() {
      append(1000, 1040)
      assert(added(Query, "spark.joinery.runtimeFilter.maxKeys" -> "10").length == 1)
    }
  }

  // not used

  test("a file that the session does not know of") {
    withDim() {
      val folder = JavaFiles.createTempDirectory("foreign").resolve("data")
      sql("SELECT /*+ COALESCE(1) */ id AS k, id AS v FROM range(1000, 1040)").write.parquet(folder.toString)
      assert(added(Query).isEmpty)
      JavaFiles.copy(
        JavaPath.of(new Path(filesBelow(folder.toString).head._1).toUri.getPath),
        JavaPath.of(new Path(locationOf("dim")).toUri.getPath).resolve("new.parquet"))
      checkNone(Query, "is not covered")
      spark.catalog.refreshTable("dim")
      assert(keysOf(added(Query)) == Seq(40))
    }
  }

  test("more than the filter holds, and more than is worth it") {
    withDim() {
      sql("INSERT INTO dim SELECT /*+ REPARTITION(3) */ id AS k, id % 3 AS v FROM range(1000, 2000)")
      checkNone(Query, "more than the filter holds: refresh it")
    }
    withDim() {
      append(1000, 1040)
      withTables("little") {
        sql("CREATE TABLE little USING parquet AS SELECT /*+ COALESCE(1) */ id AS k FROM range(100)")
        checkNone("SELECT p.k FROM little f JOIN dim p ON f.k = p.k", "too much to read for what is filtered")
      }
    }
  }
}

package io.github.sparkjoinery.filters.stored

/** Sources that tell their version, which Spark asks them for from 4.1 on. */
class VersionedSourceSuite extends StoredFilters {

  override protected def beforeAll(): Unit = {
    sql("DROP TABLE IF EXISTS fact")
    sql("CREATE TABLE fact USING parquet AS SELECT id, id % 500 AS k FROM range(2000)")
  }

  override protected def afterAll(): Unit = {
    sql("DROP TABLE IF EXISTS fact")
    super.afterAll()
  }

  test("options by which a table of versions may be read otherwise") {
    withConf("spark.sql.catalog.versions" -> classOf[VersionedCatalog].getName) {
      val name = "versions.db.pinned"
      buildFilter(name, spark.table(name), locationOf("fact"), Seq("k"), provider = "versioned") {
        _.putObject("fingerprint").put("type", "snapshot").put("version", "1")
      }
      def query(options: String) = s"SELECT f.id, v.k FROM fact f JOIN $name $options v ON f.k = v.k"
      checkFilters(query(""), 1)
      checkFilters(query("WITH ('Split-Size' = '1000')"), 1)
      checkDeclined(query("WITH ('start-snapshot-id' = '1')"), "the query reads it with the option start-snapshot-id")
    }
  }
}

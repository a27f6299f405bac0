package io.github.sparkjoinery.rules

import io.github.sparkjoinery.artifacts.StoredFilters

/** Joins of tables whose bloom filters are in the store. */
class ApplyBloomFiltersSuite extends StoredFilters {

  private val Tables = Seq("planes", "flights", "numbers")

  override protected def beforeAll(): Unit = {
    Tables.foreach(table => sql(s"DROP TABLE IF EXISTS $table"))
    sql("""CREATE TABLE planes USING parquet AS SELECT if(id % 10 = 9, NULL, concat('N', id)) AS tailnum,
      if(id % 4 = 0, 'CESSNA', 'BOEING') AS manufacturer, int(id % 7) AS seats FROM range(100)""")
    sql("""CREATE TABLE flights USING parquet AS SELECT id, if(id % 97 = 0, NULL, concat('N', id % 1000)) AS tailnum,
      int(id % 300) AS n FROM range(3000)""")
    sql("""CREATE TABLE numbers USING parquet AS SELECT int(id) AS i, bigint(id) AS l, float(id) AS f, double(id) AS d,
      decimal(id) AS dec, date'2013-01-01' + int(id) AS day, id % 2 = 0 AS odd FROM range(50)""")
    buildTableFilter("planes", Seq("tailnum"))()
    buildTableFilter("planes", Seq("tailnum"), Some("manufacturer = 'CESSNA'"))()
    buildTableFilter("numbers", Seq("i"))()
    buildTableFilter("numbers", Seq("l", "day"))()
    buildTableFilter("numbers", Seq("d"))()
  }

  override protected def afterAll(): Unit = {
    Tables.foreach(table => sql(s"DROP TABLE IF EXISTS $table"))
    super.afterAll()
  }

  private def planes(join: String, columns: String = "f.id, f.tailnum, p.seats"): String =
    s"SELECT $columns FROM flights f $join planes p ON f.tailnum = p.tailnum"

  for ((join, columns, filters) <- Seq(
      ("JOIN", "f.id, p.seats", 1), ("LEFT SEMI JOIN", "f.id", 1), ("LEFT JOIN", "f.id, p.seats", 0), ("RIGHT JOIN", "f.id, p.seats", 1),
      ("FULL JOIN", "f.id, p.seats", 0), ("LEFT ANTI JOIN", "f.id", 0)); adaptive <- Seq("true", "false")) {
    test(s"flights $join planes; adaptive execution $adaptive") {
      checkFilters(planes(join, columns), filters, "spark.sql.adaptive.enabled" -> adaptive)
    }
  }
}

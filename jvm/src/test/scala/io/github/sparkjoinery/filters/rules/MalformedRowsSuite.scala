package io.github.sparkjoinery.filters.rules

import java.nio.file.Files

/** Filters of tables of text: which of their rows are malformed depends on the columns that are read. */
class MalformedRowsSuite extends BuiltFilters {

  private val Corrupt = "t._corrupt_record IS NOT NULL"
  private val lines = Map(
    "json" -> """concat('{"k":', id, ',"b":', if(id % 3 = 0, '"none"', '1'), '}')""",
    "csv" -> "concat(id, ',', if(id % 3 = 0, 'none', '1'))")

  for (format <- lines.keys) {
    def onText(column: String, options: (String, String)*)(body: => Unit): Unit = {
      val folder = Files.createTempDirectory("text").resolve("data").toString
      sql(s"SELECT ${lines(format)} FROM range(0, 60, 1, 2)").write.text(folder)
      spark.read.schema(s"k INT, b INT, $column STRING").options(options.toMap).format(format).load(folder)
        .createOrReplaceTempView("text")
      body
    }
    def query(where: String) =
      s"SELECT /*+ RUNTIME_FILTER(t) */ f.id, t.b FROM fact f JOIN text t ON f.k = t.k WHERE $where"

    test(s"$format: rows that are malformed by a column that the keys do not need") {
      onText("_corrupt_record") {
        checkBuilt(query(Corrupt), 1)
        checkBuilt(query("t._corrupt_record IS NULL"), 1)
        checkBuilt(
          "SELECT /*+ RUNTIME_FILTER(t) */ f.id, t.b FROM fact f JOIN text t ON f.name = t._corrupt_record",
          1,
          Whole)
        checkBuilt(query("t.k < 40"), 1)
      }
    }

    test(s"$format: where the column of malformed rows has another name") {
      onText("bad", "columnnameofcorruptrecord" -> "bad")(checkBuilt(
        query(Corrupt.replace("_corrupt_record", "bad")),
        1))
      withConf("spark.sql.columnNameOfCorruptRecord" -> "bad") {
        onText("bad")(checkBuilt(query(Corrupt.replace("_corrupt_record", "bad")), 1))
      }
    }

    test(s"$format: rows that are dropped") {
      onText("c", "mode" -> "DROPMALFORMED")(checkBuilt(query("t.k < 40"), 1))
    }
  }
}

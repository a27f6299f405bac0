package io.github.sparkjoinery.filters.rules

import io.github.sparkjoinery.Pairwise.Case
import io.github.sparkjoinery.{Answers, Pairwise}

/**
 * Joins of every kind by keys of every type, at every place, with filters and without. Every two values of these
 * dimensions meet. Under `make soak` all values meet, in some 36,000 queries.
 */
class FilteredJoinsSuite extends BuiltFilters {

  // Types by name, with SQL that makes a value of the number n. Braces are replaced by equal values that differ by
  // table.
  private val Types: Seq[(String, String)] = Seq(
    "tinyint" -> "tinyint(n % 100)",
    "smallint" -> "smallint(n - 32768)",
    "int" -> "int(n - 2147483648)",
    "bigint" -> "n - 9223372036854775807",
    "float" -> "CASE n WHEN 0 THEN float('NaN') WHEN 1 THEN {zero}F WHEN 2 THEN float('-Infinity') ELSE float(n) END",
    "double" -> "CASE n WHEN 0 THEN double('NaN') WHEN 1 THEN {zero}D WHEN 2 THEN double('Infinity') ELSE n / 7D END",
    "decimal" -> "CAST(n * 1.5 AS DECIMAL(12, 2))",
    "long decimal" -> "CAST(n AS DECIMAL(38, 4)) - 9999999999999999999999999999999999.5",
    "string" -> "concat('ß', n)",
    "collated string" -> "concat({letter}, n) COLLATE UTF8_LCASE",
    "date" -> "date_add(date'0001-01-01', int(n) * 1000)",
    "timestamp" -> "timestamp_micros(n * 86399999999 - 62135596800000000)",
    "timestamp_ntz" -> "CAST(date_add(date'1900-01-01', int(n)) AS TIMESTAMP_NTZ)",
    "binary" -> "unhex(hex(n))",
    "boolean" -> "n % 3 = 0"
  )
  // The column of each type, by name, in both tables.
  private val columns: Map[String, String] = Types.zipWithIndex.map { case ((name, _), i) => name -> s"k$i" }.toMap

  private val Joins =
    Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "LAST JOIN")
  private val Of = Map(
    "a table" -> "SELECT * FROM many",
    "a projection" -> "SELECT *, n + 1 AS further FROM (SELECT * FROM many)",
    "a filter" -> "SELECT * FROM many WHERE id % 11 <> 5",
    "an aggregate" -> "SELECT max(id) AS id, {keys} FROM many GROUP BY {keys}",
    "a window" -> "SELECT *, row_number() OVER (PARTITION BY {keys} ORDER BY id) AS further FROM many",
    "a union" -> "SELECT * FROM many UNION ALL SELECT * FROM many WHERE id < 100"
  )

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    for ((table, n, zero, letter) <- Seq(("many", "id % 700", "0.0", "'a'"), ("few", "id * 3 % 90", "-0.0", "'A'"))) {
      val keys = Types.map { case (name, value) =>
        s"${value.replace("{zero}", zero).replace("{letter}", letter)} AS ${columns(name)}"
      }
      val rows = if (table == "many") 3000 else 300
      sql(s"DROP TABLE IF EXISTS $table")
      sql(s"""CREATE TABLE $table USING parquet AS SELECT id, n, id % 10 AS class, int(n % 5) AS second, string(n % 3) AS third,
        ${keys.mkString(", ")} FROM (SELECT id, if(id % 17 = 4, NULL, $n) AS n FROM range(0, $rows, 1, 2))""")
    }
  }

  override protected def afterAll(): Unit = {
    Seq("many", "few").foreach(table => sql(s"DROP TABLE IF EXISTS $table"))
    super.afterAll()
  }

  private def keysOf(one: Case): Seq[String] =
    (columns(one("type")) +: Seq("second", "third")).take(one("keys").toInt)

  private def query(one: Case): String = {
    val keys = keysOf(one)
    val many = Of(one("of")).replace("{keys}", keys.mkString(", "))
    val few =
      s"SELECT * FROM few WHERE class = 3${if (one("known") == "shuffled") " AND spark_partition_id() >= 0" else ""}"
    val (left, right) = if (one("left") == "few") (few, many) else (many, few)
    val order = if (one("join") == "LAST JOIN") "ORDER BY r.id" else ""
    val shown = if (Set("LEFT SEMI JOIN", "LEFT ANTI JOIN")(one("join"))) "l.id" else "l.id, r.id AS other"
    s"SELECT $shown FROM ($left) l ${one("join")} ($right) r $order ON ${keys.map(k => s"l.$k = r.$k").mkString(" AND ")}"
  }

  /** True if rows of the side with many rows may be dropped, and one of its keys can be hashed. */
  private def isFiltered(one: Case): Boolean = {
    val dropped = one("join") match {
      case "JOIN" | "LEFT SEMI JOIN" => true
      case "RIGHT JOIN" => one("left") == "many"
      case "LEFT JOIN" | "LEFT ANTI JOIN" | "LAST JOIN" => one("left") == "few"
      case _ => false
    }
    dropped && (one("type") != "collated string" || one("keys") != "1")
  }

  test("all of them") {
    val cases = Pairwise.cases(
      "join" -> Joins,
      "left" -> Seq("few", "many"),
      "type" -> Types.map(_._1),
      "keys" -> Seq("1", "2", "3"),
      "of" -> Of.keys.toSeq,
      "known" -> Seq("planned", "shuffled"),
      "codegen" -> Seq("true", "false")
    )
    var filtered = 0
    val faults = cases.iterator.flatMap { one =>
      val settings = Shuffled ++ Seq(
        "spark.sql.codegen.wholeStage" -> one("codegen"),
        "spark.sql.codegen.factoryMode" -> (if (one("codegen").toBoolean) "CODEGEN_ONLY" else "NO_CODEGEN")
      )
      val expected = unfiltered(query(one))
      withConf(settings: _*) {
        val answer = sql(query(one))
        val isEqual = Answers.rows(answer) == expected
        val tests = testsIn(answer)
        if (tests + testsAfterShuffle(answer) > 0) filtered += 1
        // Adaptive execution finds few rows only where there are few.
        val isAsMeant = one("known") == "shuffled" || (tests > 0) == isFiltered(one)
        if (isEqual && isAsMeant) None else Some(s"$one\n${query(one)}\nequal: $isEqual, tests: $tests")
      }
    }.take(10).toSeq
    info(s"${cases.length} queries, $filtered of them filtered")
    assert(faults.isEmpty, faults.mkString("\n\n"))
    assert(filtered * 3 > cases.length)
  }
}

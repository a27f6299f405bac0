package io.github.sparkjoinery.window

/**
 * Rows to put windows over. The columns are `id`, the keys `k`, `s`, `c`, `d` and `hot`, a filter `p`, `y` with ties,
 * and an input `v_...` of every type. Each order type has a column `u_...` without ties and a column `o_...` with ties.
 */
object WindowData {

  /** SQL values of each input type. Some are equal but not identical, and some sort oddly. */
  val Inputs: Seq[(String, String)] = Seq(
    "tinyint" -> "-128Y, -1Y, 0Y, 5Y, 127Y",
    "smallint" -> "-32768S, -1S, 0S, 5S, 32767S",
    "int" -> "-2147483648, -7, 0, 5, 2147483647",
    "bigint" -> "-9007199254740993L, -7L, 0L, 5L, 9007199254740993L",
    "float" -> "float('-0.0'), float('0.0'), 0.1F, -3.7F, 1e6F, float('NaN'), float('Infinity')",
    "double" -> "-0.0D, 0.0D, 0.1D, -3.7D, 0.2D, 1e6D, double('NaN'), double('-Infinity')",
    "halves" -> "-2.5D, -1.0D, 0.5D, 1.5D, 2.0D, 4.5D",
    "constant" -> "0.1D, 0.1D, 0.1D",
    "decimal5" -> "-999.99BD, -0.01BD, CAST(0 AS DECIMAL(5, 2)), 0.35BD, 123.45BD",
    "decimal20" -> "-1234567890123456.7891BD, CAST(0 AS DECIMAL(20, 4)), CAST(0.0001BD AS DECIMAL(20, 4)), CAST(7.5 AS DECIMAL(20, 4))",
    "decimal38" -> "CAST('1234567890123456789012.0123456789' AS DECIMAL(38, 10)), CAST(-0.0000000001BD AS DECIMAL(38, 10)), CAST(3.5 AS DECIMAL(38, 10))",
    "string" -> "'', 'a', 'aa', 'B', 'ä', '\uD83D\uDE00'",
    "lcase" -> "'' COLLATE UTF8_LCASE, 'a' COLLATE UTF8_LCASE, 'A' COLLATE UTF8_LCASE, 'b' COLLATE UTF8_LCASE",
    "binary" -> "X'', X'00', X'0000', X'FF', X'7F'",
    "boolean" -> "true, false, true",
    "date" -> "DATE'0001-01-01', DATE'1969-12-31', DATE'2024-02-29', DATE'9999-12-31'",
    "timestamp" -> "TIMESTAMP'1969-12-31 23:59:59.999999', TIMESTAMP'1970-01-01', TIMESTAMP'2024-02-29 00:00:00.000001'",
    "ntz" -> "TIMESTAMP_NTZ'0001-01-01', TIMESTAMP_NTZ'1969-12-31', TIMESTAMP_NTZ'2024-02-29'",
    "months" -> "INTERVAL '-1-3' YEAR TO MONTH, INTERVAL '0-0' YEAR TO MONTH, INTERVAL '7-5' YEAR TO MONTH",
    "seconds" -> "INTERVAL '-1 02:03:04.000005' DAY TO SECOND, INTERVAL '0 00:00:00' DAY TO SECOND, INTERVAL '3 01:00:00' DAY TO SECOND",
    "struct" -> "named_struct('a', 1, 'b', 'x'), named_struct('a', 1, 'b', CAST(NULL AS STRING)), named_struct('a', CAST(NULL AS INT), 'b', 'y')",
    "array" -> "array(1, 2), array(1), array(), array(CAST(NULL AS INT))"
  )

  /** The type of an order column, as SQL of a whole number. */
  private val Orders: Seq[(String, String => String)] = Seq(
    "smallint" -> (x => s"smallint($x - 20)"),
    "int" -> (x => s"int($x - 20)"),
    "bigint" -> (x => s"$x + 9007199254740993L"),
    "float" -> (x => s"float($x - 20) / 2"),
    "double" -> (x => s"if($x = 20, if(id % 2 = 0, -0.0D, 0.0D), double($x - 20) / 2)"),
    "decimal10" -> (x => s"CAST(($x - 20) * 0.25BD AS DECIMAL(10, 2))"),
    "decimal38" -> (x => s"CAST(($x - 20) * 0.25BD AS DECIMAL(38, 4))"),
    "date" -> (x => s"date_add(DATE'2024-01-10', int($x))"),
    "timestamp" -> (x => s"TIMESTAMP'2024-01-30 20:00:00' + make_dt_interval(0, int($x) * 13)"),
    "ntz" -> (x => s"TIMESTAMP_NTZ'2024-01-30 20:00:00' + make_dt_interval(0, int($x) * 13)"),
    "months" -> (x => s"make_ym_interval(0, int($x - 20))"),
    "seconds" -> (x => s"make_dt_interval(0, 0, 0, $x - 20)"),
    "string" -> (x => s"lpad($x, 5, '0')")
  )

  private def special(order: String, row: String): String = order match {
    case "float" | "double" =>
      s"WHEN $row = 5 THEN $order('NaN') WHEN $row = 6 THEN $order('Infinity') WHEN $row = 7 THEN $order('-Infinity')"
    case _ => ""
  }

  /** One of the values, or NULL, in a random but fixed order. */
  private def any(values: String, seed: Long): String =
    s"try_element_at(array($values), int(pmod(hash(id, ${seed}L), 1 + size(array($values)))) + 1)"

  /** @param step a prime larger than `rows` */
  def sql(rows: Int, step: Int, seed: Long): String = {
    val inputs = Inputs.zipWithIndex.map { case ((name, values), i) => s"${any(values, seed + i)} AS v_$name" }
    val orders = Orders.flatMap { case (name, value) =>
      Seq(
        s"CASE WHEN id = 4 THEN NULL ${special(name, "id")} ELSE ${value("x")} END AS u_$name",
        s"CASE WHEN id % 9 = 4 THEN NULL ${special(name, "id % 17")} ELSE ${value("(x div 4)")} END AS o_$name"
      )
    }
    s"""SELECT int(id) AS id, ${any("0, 1, 2, 3", seed - 1)} AS k, ${any("'x', 'y'", seed - 2)} AS s, ${any(
        "'x' COLLATE UTF8_LCASE, 'X' COLLATE UTF8_LCASE, 'y' COLLATE UTF8_LCASE",
        seed - 5)} AS c, ${any("-0.0D, 0.0D, double('NaN')", seed - 6)} AS d,
       |if(id % 10 < 8, 0, ${any("0, 1, 2, 3", seed - 1)}) AS hot, ${any("true, false, true", seed - 3)} AS p, ${any(
        "0, 1, 2, 3, 4",
        seed - 4)} AS y,
       |${(inputs ++ orders).mkString(",\n")}
       |FROM (SELECT id, pmod(id * 7919 + ${java.lang.Math.floorMod(
        seed,
        step)}L, ${step}L) AS x FROM range(0, $rows, 1, 2))""".stripMargin
  }
}

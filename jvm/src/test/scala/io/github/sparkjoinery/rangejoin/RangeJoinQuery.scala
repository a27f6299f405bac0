package io.github.sparkjoinery.rangejoin

import io.github.sparkjoinery.Pairwise.{Case, Dimension}

/**
 * A range join of the views `l` and `r`, both with columns id, k, and for each type T: x_T, a point, and s_T and e_T,
 * an interval, which may be reversed.
 */
case class RangeJoinQuery(values: Case) {
  private def of(name: String): String = values(name)

  private def condition: String = {
    val t = of("type")
    val (less, atMost) = of("strict") match {
      case "both" => ("<", "<")
      case "one" => ("<=", "<")
      case _ => ("<=", "<=")
    }
    val range = of("kind") match {
      case "point in interval" =>
        compared(s"r.s_$t", less, s"l.x_$t") + " AND " + compared(s"l.x_$t", atMost, s"r.e_$t")
      case "interval around point" =>
        compared(s"l.s_$t", less, s"r.x_$t") + " AND " + compared(s"l.e_$t", turned(atMost), s"r.x_$t")
      case "overlap" => compared(s"l.s_$t", less, s"r.e_$t") + " AND " + compared(s"r.s_$t", atMost, s"l.e_$t")
      case "less" => compared(s"l.x_$t", less, s"r.x_$t")
      case "greater" => compared(s"l.x_$t", turned(less), s"r.x_$t")
      case "two ranges" => s"l.x_$t BETWEEN r.s_$t AND r.e_$t AND l.s_$t $less r.x_$t AND r.x_$t $atMost l.e_$t"
      case "difference" | "distance" if !hasDifference => s"l.x_$t $less r.x_$t AND l.e_$t >= r.s_$t"
      case "difference" => s"$difference $less $limit AND $difference >= -$limit"
      case "distance" => s"abs($difference) $atMost $limit"
      case "unrelated" =>
        compared(s"l.x_$t", less, s"r.s_$t") + " AND " + compared(s"l.s_$t", turned(atMost), s"r.e_$t")
    }
    val rest = of("rest") match {
      case "none" => ""
      case "residual" => " AND (l.id + r.id) % 3 <> 0"
      case "null" => " AND coalesce(l.k, 7) <> r.k"
    }
    val key = of("key") match {
      case "none" => ""
      case "one" => "l.k = r.k AND "
      case "null safe" => "l.k <=> r.k AND "
      case "two" => "l.k = r.k AND l.g = r.g AND "
    }
    s"$key($range)$rest"
  }

  private def turned(comparison: String): String = comparison.replace('<', '>')

  /** A comparison, in an OR with the rows that match without. */
  private def compared(a: String, comparison: String, b: String): String = of("open") match {
    case "none" => s"$a $comparison $b"
    case "first" => s"($a IS NULL OR $a $comparison $b)"
    case "second" => s"($a $comparison $b OR $b IS NULL)"
    case "both" => s"($a IS NULL OR $a $comparison $b OR $b IS NULL)"
    case "some rows" => s"(l.k = 3 OR $a $comparison $b)"
  }

  /** Whether values are subtracted, or at least by a range join. */
  private def hasDifference: Boolean = !Set("text", "bytes", "digits")(of("type"))

  private def difference: String = of("type") match {
    case "date" if of("strict") == "both" => "datediff(l.x_date, r.x_date)"
    case "decimal" => "CAST(l.x_decimal % 1000 AS DECIMAL(7, 3)) - CAST(r.x_decimal % 1000 AS DECIMAL(7, 3))"
    case t => s"(l.x_$t - r.x_$t)"
  }

  private def limit: String = of("type") match {
    case "date" if of("strict") != "both" => "INTERVAL '3' DAY"
    case "timestamp" | "ntz" => "INTERVAL '5' SECOND"
    case "interval" => "INTERVAL '5' MINUTE"
    case "months" => "INTERVAL '3' MONTH"
    case _ => "5"
  }

  /** True if the join is shuffled by its keys. */
  def isShuffled: Boolean = of("key") != "none" && (isCut || Set("shuffled", "in parts")(of("form")))

  /**
   * True if the join has no key and no small side: the part of the range is the key. One comparison alone defines no
   * parts.
   */
  private def isDistributed: Boolean =
    isCut && of("key") == "none" && !Set("less", "greater")(of("kind"))

  private def isCut: Boolean = of("form") == "cut"
  private def isTooLarge: Boolean = isCut || of("form") == "too large"

  def operator: String = if (isShuffled || isDistributed) "ShuffledRangeJoin" else "BroadcastRangeJoin"

  def sql: String = {
    val side = of("side")
    val hint = s"/*+ RANGE_JOIN($side)${if (isShuffled || isDistributed) "" else s", BROADCAST($side)"} */"
    of("join") match {
      case "EXISTS" => // a hint for the outer side is lost on the way to the join
        val (hints, from) =
          if (isShuffled || isDistributed) ("RANGE_JOIN(r)", right("r"))
          else if (side == "r" || isTooLarge) ("RANGE_JOIN(r), BROADCAST(r)", right("r"))
          else ("RANGE_JOIN(r)", s"(${large("r")}) r")
        s"SELECT l.id, EXISTS (SELECT /*+ $hints */ 1 FROM $from WHERE $condition) AS found FROM ${left("l")}"
      case join @ ("LEFT SEMI" | "LEFT ANTI") =>
        s"SELECT $hint l.* FROM ${left("l")} $join JOIN ${right("r")} ON $condition"
      case join =>
        s"SELECT $hint l.id, r.id AS rid, l.k, r.g, r.x_${of("type")} FROM ${left("l")} $join JOIN ${right("r")} ON $condition"
    }
  }

  /** Repeats a side until it is so large that the other side is indexed. */
  private def large(alias: String): String = Seq.fill(5)(s"SELECT * FROM ${right(alias)}").mkString(" UNION ALL ")

  private def left(alias: String): String = side(alias, if (of("rows") == "empty left") 0 else 200)
  private def right(alias: String): String =
    side(alias, of("rows") match { case "empty right" => 0; case "one right" => 1; case _ => 200 })
  private def side(alias: String, rows: Int): String =
    s"(SELECT ${columns.mkString(", ")} FROM $alias${if (rows == 200) "" else s" WHERE id < $rows"}) $alias"

  /** The columns that the query needs. Analyzing the columns of every type takes longer than running the query. */
  private def columns: Seq[String] = Seq("id", "k", "g") ++ Seq("x", "s", "e").map(prefix => s"${prefix}_${of("type")}")

  def settings: Seq[(String, String)] = Seq(
    "spark.sql.adaptive.enabled" -> (if (isDistributed) "true" else of("adaptive")), // or it is not cut
    "spark.sql.codegen.wholeStage" -> of("codegen"),
    "spark.sql.codegen.factoryMode" -> (if (of("codegen") == "true") "CODEGEN_ONLY" else "NO_CODEGEN"),
    "spark.sql.ansi.enabled" -> of("ansi"),
    "spark.sql.autoBroadcastJoinThreshold" -> (if (isShuffled || isCut) "-1" else "10MB"),
    "spark.joinery.rangeJoin.maxBroadcast" -> (if (isTooLarge) "1" else "1GB"),
    "spark.joinery.rangeJoin.maxIndexPart" -> (if (of("form") == "in parts") "1" else "1GB"),
    "spark.sql.shuffle.partitions" -> (if (of("form") == "in parts") "1" else "3")
  )
}

object RangeJoinQuery {

  /**
   * SQL that makes a value of a type out of `n`, a small whole number, `i`, which picks the ends of the type, or NULL.
   */
  val Types: Seq[(String, String)] = Seq(
    "byte" -> "CASE i WHEN 1 THEN 127Y WHEN 2 THEN -128Y ELSE CAST(n AS TINYINT) END",
    "short" -> "CASE i WHEN 1 THEN 32767S WHEN 2 THEN -32768S ELSE CAST(n AS SMALLINT) END",
    "int" -> "CASE i WHEN 1 THEN 2147483647 WHEN 2 THEN CAST(-2147483648 AS INT) ELSE CAST(n AS INT) END",
    "long" -> "CASE i WHEN 1 THEN 9223372036854775807L WHEN 2 THEN -9223372036854775807L - 1 ELSE CAST(n AS BIGINT) END",
    "decimal" -> "CASE i WHEN 1 THEN 999999999999999.999BD WHEN 2 THEN -999999999999999.999BD ELSE CAST(n / 4 AS DECIMAL(18, 3)) END",
    "float" -> "CASE i WHEN 1 THEN float('NaN') WHEN 2 THEN float('-Infinity') WHEN 3 THEN float('-0.0') ELSE CAST(n / 4 AS FLOAT) END",
    "double" -> "CASE i WHEN 1 THEN double('NaN') WHEN 2 THEN double('Infinity') WHEN 3 THEN double('-0.0') ELSE n / 4D END",
    "date" -> "CASE i WHEN 1 THEN DATE'9999-12-31' WHEN 2 THEN DATE'0001-01-01' ELSE date_add(DATE'1970-01-01', CAST(n AS INT)) END",
    "timestamp" -> "CASE i WHEN 1 THEN TIMESTAMP'9999-12-31' WHEN 2 THEN TIMESTAMP'0001-01-01' ELSE timestamp_seconds(n) END",
    "ntz" -> "CASE i WHEN 1 THEN TIMESTAMP_NTZ'9999-12-31' ELSE CAST(timestamp_seconds(n) AS TIMESTAMP_NTZ) END",
    "interval" -> "make_dt_interval(0, 0, CAST(n AS INT), 0)",
    "months" -> "make_ym_interval(0, CAST(n AS INT))",
    "text" -> "CASE i WHEN 1 THEN '' WHEN 2 THEN concat('same beginning ', n) WHEN 3 THEN '\u00e9\uffff' ELSE CAST(n AS STRING) END",
    "bytes" -> "CASE i WHEN 1 THEN X'' WHEN 2 THEN X'FFFFFFFFFFFFFFFFFF' ELSE CAST(CAST(n AS STRING) AS BINARY) END",
    "digits" -> "CASE i WHEN 1 THEN 99999999999999999999999999999999999.999BD WHEN 2 THEN 0.001BD ELSE CAST(n / 4 AS DECIMAL(38, 3)) END"
  )

  val Dimensions: Seq[Dimension] = Seq(
    "join" -> Seq("INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI", "EXISTS"),
    "kind" -> Seq(
      "point in interval",
      "interval around point",
      "overlap",
      "less",
      "greater",
      "two ranges",
      "difference",
      "distance",
      "unrelated"),
    "type" -> Types.map(_._1),
    "strict" -> Seq("none", "one", "both"),
    "open" -> Seq("none", "first", "second", "both", "some rows"),
    "rest" -> Seq("none", "residual", "null"),
    "key" -> Seq("none", "one", "null safe", "two"),
    "form" -> Seq("broadcast", "shuffled", "in parts", "too large", "cut"),
    "side" -> Seq("l", "r"),
    "rows" -> Seq("all", "empty left", "empty right", "one right"),
    "adaptive" -> Seq("true", "false"),
    "codegen" -> Seq("true", "false"),
    "ansi" -> Seq("true", "false")
  )

  /** A view of 200 rows: small numbers with ties, ends of types, NULLs, reversed intervals. */
  def view(seed: Long): String = {
    def drawn(what: String, values: Int): String = s"pmod(xxhash64(id, $seed, '$what'), $values)"
    val columns =
      for ((name, value) <- Types; (prefix, n) <- Seq("x" -> "n", "s" -> "n + 3 - a % 40", "e" -> "n + a % 40"))
        yield {
          val end = drawn(s"$prefix $name", 25)
          val valued = value.replaceAll("\\bn\\b", s"($n)").replace("CASE i ", s"CASE $end ")
          s"CASE WHEN $end = 9 THEN NULL ELSE $valued END AS ${prefix}_$name"
        }
    s"""SELECT id, if(${drawn("k", 11)} = 0, NULL, CAST(${drawn("key", 5)} AS INT)) AS k,
       |  if(${drawn("g", 13)} = 0, NULL, concat('g', ${drawn("group", 2)})) AS g, ${columns.mkString(",\n  ")}
       |FROM (SELECT id, ${drawn("n", 100)} - 50 AS n, ${drawn("a", 1000)} AS a FROM range(0, 200, 1, 3))""".stripMargin
  }
}

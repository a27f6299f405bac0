package io.github.sparkjoinery.rangejoin

import io.github.sparkjoinery.Pairwise
import io.github.sparkjoinery.rangejoin.exec.RangeJoinExec

/** Ranges of texts that begin alike, as addresses of one network do. */
class PrefixedRangesSuite extends RangeJoinChecks {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val address = "lower(lpad(hex(%s), 8, '0'))"
    views(
      "nets" -> s"""
        SELECT id, int(id % 3) AS k, concat('2001:0db8:85a3:', ${address.format("id * 1000")}) AS first,
          if(id % 7 = 3, NULL, concat('2001:0db8:85a3:', ${address.format("id * 1000 + 400")})) AS last
        FROM range(120)
        UNION ALL VALUES (-1, 0, NULL, '2001:0db8:85a3:0000ffff')""",
      "seen" -> s"""
        SELECT id, int(id % 3) AS k, concat('2001:0db8:85a3:', ${address.format("id * 137")}) AS ip FROM range(800)
        UNION ALL VALUES (-1, 0, ''), (-2, 0, NULL), (-3, 0, '2001:0db8:85a3:'), (-4, 0, '2001:0db8'), (-5, 0, '3'),
          (-6, 0, '2001:0db8:85a4'), (-7, 0, '1fff:ffff:ffff:ffff'), (-8, 0, 'é'), (-9, 0, '2001:0db8:85a3:\\u00ff')"""
    )
  }

  private val Conditions = Seq(
    "s.ip BETWEEN n.first AND n.last",
    "s.ip > n.first AND s.ip < n.last",
    "s.ip >= n.first AND (s.ip <= n.last OR n.last IS NULL)",
    "CAST(s.ip AS BINARY) BETWEEN CAST(n.first AS BINARY) AND CAST(n.last AS BINARY)"
  )

  private def candidates(query: org.apache.spark.sql.DataFrame): Long = collectFirst(plan(query)) {
    case join: RangeJoinExec => join.metrics("candidates")
  }.get.value

  test("ranges have the rows of stock Spark, in every form") {
    for (chosen <- Pairwise.cases(
        "condition" -> Conditions,
        "join" -> Seq("JOIN", "FULL JOIN", "LEFT ANTI JOIN"),
        "indexed" -> Seq("s", "n"),
        "key" -> Seq("", "s.k = n.k AND "),
        "form" -> Seq("broadcast", "too large", "shuffled", "little memory"),
        "code" -> Seq("generated", "interpreted")
      )) {
      val isShuffled = Set("shuffled", "little memory")(chosen("form"))
      val hint = if (isShuffled) "" else s"/*+ BROADCAST(${chosen("indexed")}) */"
      withConf((if (chosen("code") == "generated") Generated else Interpreted) ++ Seq(
        "spark.sql.autoBroadcastJoinThreshold" -> (if (isShuffled) "-1" else "10MB"),
        "spark.joinery.rangeJoin.maxBroadcast" -> (if (chosen("form") == "broadcast") "1GB" else "1"),
        "spark.joinery.rangeJoin.maxIndexPart" -> (if (chosen("form") == "little memory") "1" else "1GB")
      ): _*) {
        checkRangeJoin(
          s"SELECT $hint * FROM seen s ${chosen("join")} nets n ON ${chosen("key")}(${chosen("condition")})",
          if (isShuffled) Shuffled else Broadcast)
      }
    }
  }

  test("few rows are candidates, whichever side is indexed, in every form that builds an index") {
    for {
      condition <- Conditions
      (hint, large) <- Seq("/*+ BROADCAST(n) */" -> "1GB", "/*+ BROADCAST(s) */" -> "1GB", "" -> "1")
    } withConf("spark.joinery.rangeJoin.maxBroadcast" -> large, "spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      val (query, rows) = checkedRangeJoin(
        s"SELECT $hint s.id, n.id AS nid FROM (SELECT * FROM seen WHERE id >= 0) s JOIN nets n ON s.k = n.k AND $condition",
        if (hint.isEmpty) Shuffled else Broadcast
      )
      assert(candidates(query) < rows + 500, s"$hint $condition")
    }
  }

  test("runs that tasks have sorted, with one prefix and with several") {
    val one = "SELECT * FROM nets"
    val several =
      "SELECT id, k, concat(if(k = 1, 'a', 'bb'), first) AS first, concat(if(k = 1, 'a', 'bb'), last) AS last FROM nets"
    for (nets <- Seq(one, several)) {
      sql(nets).repartition(3, org.apache.spark.sql.functions.col("k")).createOrReplaceTempView("parted")
      checkRangeJoin(
        "SELECT /*+ BROADCAST(n) */ s.id, n.id AS nid FROM (SELECT id, ip FROM seen UNION ALL " +
          "SELECT id, concat('a', ip) FROM seen) s JOIN parted n ON s.ip BETWEEN n.first AND n.last")
    }
  }
}

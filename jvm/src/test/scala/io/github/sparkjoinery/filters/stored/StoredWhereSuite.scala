package io.github.sparkjoinery.filters.stored

import com.fasterxml.jackson.databind.node.ObjectNode

/** The `where` of a stored filter must not change its meaning between the build of the filter and a query. */
class StoredWhereSuite extends StoredFilters {

  override protected def beforeAll(): Unit = {
    Seq("days", "visits").foreach(table => sql(s"DROP TABLE IF EXISTS $table"))
    sql("""CREATE TABLE days USING parquet AS SELECT id AS k, date_add(current_date(), int(id) - 30) AS d,
      date_format(date_add(current_date(), int(id) - 30), 'yyyy-MM-dd') AS s, 'now' AS status FROM range(60)""")
    sql("CREATE TABLE visits USING parquet AS SELECT id, id % 500 AS k FROM range(2000)")
  }

  override protected def afterAll(): Unit = {
    Seq("days", "visits").foreach(table => sql(s"DROP TABLE IF EXISTS $table"))
    super.afterAll()
  }

  /** Builds a filter as if three days ago: its rows are those for which `where` held then. */
  private def buildThen(where: String): Unit = {
    buildTableFilter("days", Seq("k"), Some("d < date_sub(current_date(), 3)")) { json =>
      json.withObject("/spec").put("where", where)
    }
  }

  private def query(where: String) = s"SELECT v.id, d.d FROM visits v JOIN days d ON v.k = d.k WHERE $where"

  for (where <- Seq(
      "d < date'today'",
      "d < date'tomorrow'",
      "d < date 'Yesterday UTC'",
      "NOT d >= date r'today'",
      "d < date('today')",
      "d < cast(concat('to', 'day') AS date)",
      "d < 'today'",
      "s < date'today'"
    )) {
    test(s"special days: $where") {
      buildThen(where)
      checkDeclined(query(where.replaceAll("\\b([ds]) ", "d.$1 ")), "depends on the session or the time")
    }
  }

  test("a variable that is put into the text, and one of the session") {
    buildThen("k < ${limit}")
    checkDeclined(query("d.k < 50"), "depends on the session or the time", "limit" -> "50")
    sql("DECLARE OR REPLACE VARIABLE horizon = current_date()")
    buildThen("d < horizon")
    checkDeclined(query("d.d < horizon"), "depends on the session or the time")
    sql("DROP TEMPORARY VARIABLE horizon")
  }

  test("functions of the session, whose definition may change") {
    sql("CREATE OR REPLACE TEMPORARY FUNCTION past(x DATE) RETURN x < DATE'2999-01-01'")
    buildThen("past(d)")
    checkDeclined(query("past(d.d)"), "depends on the session or the time")
    sql("DROP TEMPORARY FUNCTION past")
  }

  test("words that only look like it") {
    for ((where, condition) <- Seq(
        ("status = 'now'", "d.status = 'now'"),
        ("d > date'epoch'", "d.d > date'epoch'"),
        ("status <> 'date\\'today\\''", "d.status <> 'date\\'today\\''"),
        ("length(status) = 3", "length(d.status) = 3")
      )) {
      buildTableFilter("days", Seq("k"), Some(where))()
      checkFilters(query(condition), 1)
    }
  }

  // malformed descriptions

  for ((name, reason, change) <- Seq[(String, String, ObjectNode => Unit)](
      (
        "3,000 parentheses",
        "is not used",
        json => json.withObject("/spec").put("where", "(" * 3000 + "k >= 0" + ")" * 3000)),
      (
        "a chain of 30,000 conditions",
        "is not used",
        json =>
          json.withObject("/spec").put("where", Seq.fill(30000)("k >= 0").mkString(" AND "))),
      (
        "a sum of 1,900 terms",
        "is not used",
        json =>
          json.withObject("/spec").put("where", "k" + "+0" * 1900 + " >= 0")),
      ("no specification", "lacks 'spec'", _.putNull("spec")),
      ("a specification that is a text", "is not used", _.put("spec", "k")),
      ("keys that are no list", "is not used", _.withObject("/spec").put("keys", 3)),
      ("a condition that is no text", "is not used", _.withObject("/spec").putArray("where")),
      ("types that are no list", "is not used", _.put("key_types", 7))
    )) {
    test(s"only the filter concerned is left aside: $name") {
      buildTableFilter("days", Seq("k"))()
      buildTableFilter("days", Seq("k"), Some("k >= 0"))(change)
      val joined = query("d.k >= 0")
      checkFilters(joined, 1)
      withStore()(checkDecision(joined, "rows are dropped by the bloom filter of spark_catalog.default.days (k)"))
      withStore()(checkDecision(joined, reason))
    }
  }
}

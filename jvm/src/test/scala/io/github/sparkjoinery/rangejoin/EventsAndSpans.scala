package io.github.sparkjoinery.rangejoin

/** Two small views: `events`, which have points, and `spans`, which have intervals. */
trait EventsAndSpans extends RangeJoinChecks {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    views(
      "events" -> "SELECT id, int(id % 97) AS x, int(id % 5) AS k, timestamp_seconds(id * 60) AS ts, date_add(DATE'1970-01-01', int(id % 50)) AS d FROM range(0, 500, 1, 3)",
      "spans" -> ("SELECT id, int(id * 3) AS lo, int(id * 3 + id % 7) AS hi, int(id % 5) AS k, timestamp_seconds(id * 900) AS ts, " +
        "timestamp_seconds(id * 900 + 600) AS te, concat('v', id) AS name FROM range(0, 40, 1, 2)")
    )
  }

  /** Of INT, as rows of VALUES. */
  protected val IntsWithEnds: String =
    Seq("-2147483648", "-2147483647", "-1073741825", "-7", "0", "7", "1073741824", "2147483647")
      .map(n => s"(int(${n}L))").mkString(", ")
}

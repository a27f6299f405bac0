package io.github.sparkjoinery.filters.logical

import io.github.sparkjoinery.filters.rules.BuiltFilters

/** Tables in which the keys of a side are found, or are not. */
class KeySourceSuite extends BuiltFilters {

  private def joined(side: String): String =
    s"SELECT /*+ RUNTIME_FILTER(s) */ s.*, f.id FROM $side s JOIN fact f ON s.k = f.k"

  private val NoRows = "(SELECT * FROM small WHERE class = 77)"

  test("a correlated subquery has NULL where it finds nothing, and a key may make a value of it") {
    def side(of: String) =
      s"(SELECT l.class, ${of.replace("{found}", "(SELECT r.k FROM small r WHERE r.k = l.b AND r.name LIKE 'N1%')")} AS k FROM small l)"
    checkBuilt(joined(side("coalesce({found}, 7)")), 1)
    checkBuilt(joined(side("{found}")), 1)
    checkBuilt(joined("(SELECT l.k, (SELECT r.k FROM small r WHERE r.k = l.b) AS found FROM small l)"), 1)
  }

  test("a key without columns is in no table, which may have no rows") {
    val largest = "(SELECT max(k) FROM small WHERE class = 3) AS k"
    checkBuilt(joined(s"(SELECT l.name, $largest FROM small l LEFT ANTI JOIN $NoRows r ON l.b = r.k)"), 1)
    checkBuilt(joined(s"(SELECT l.name, $largest FROM small l LEFT JOIN $NoRows r ON l.b = r.k)"), 1)
    checkBuilt(joined(s"(SELECT count(*) AS c, $largest FROM $NoRows)"), 1)
    checkBuilt(
      joined("(SELECT l.b, l.k + (SELECT 0 * max(k) FROM small) AS k FROM small l JOIN small r ON l.b = r.k)"),
      1)
  }
}

package io.github.sparkjoinery.rangejoin.stored

import org.scalatest.Outcome

import org.apache.spark.SparkConf
import org.apache.spark.serializer.{JavaSerializer, KryoSerializer}
import org.apache.spark.sql.catalyst.expressions.BoundReference
import org.apache.spark.sql.catalyst.plans.logical.{Join => LogicalJoin, Project}
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.types.IntegerType

import io.github.sparkjoinery.Pairwise
import io.github.sparkjoinery.rangejoin.logical.RangeLayout
import io.github.sparkjoinery.rangejoin.rules.RangeJoinStrategy
import io.github.sparkjoinery.rangejoin.runtime.index.SearchableRelation

/** Queries that a range index of the artifact store serves: one index, which stays as it is. */
class StoredRangeIndexSuite extends StoredRangeIndexFixture {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    createSpans()
    withStore(buildIndex()())
  }

  override protected def afterAll(): Unit = {
    sql("DROP TABLE spans")
    super.afterAll()
  }

  override protected def withFixture(test: NoArgTest): Outcome = withStore(super.withFixture(test))

  for {
    (join, number) <-
      Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN").zipWithIndex
    (side, from) <- Seq("right" -> s"events e $join spans s", "left" -> s"spans s $join events e")
  } test(s"$join, the stored side on the $side") {
    val hint = "/*+ BROADCAST(s) */"
    val conditions = Seq(
      "e.x BETWEEN s.lo AND s.hi",
      "e.x > s.lo AND e.x < s.hi AND s.name > 'v2'",
      "e.k = s.k AND e.x BETWEEN s.lo AND s.hi")
    val settings = Seq(Nil, Interpreted, Seq("spark.sql.adaptive.enabled" -> "false"))
    for ((condition, i) <- conditions.zipWithIndex; (setting, j) <- settings.zipWithIndex)
      // each join meets each condition and setting, and three joins together every two of those
      if (Pairwise.isSoak || (i + j + number) % settings.length == 0) withConf(setting: _*) {
        checkStored(s"SELECT $hint * FROM $from ON $condition")
      }
  }

  test("an aggregate above, whatever is compiled and planned again") {
    for {
      compiled <- Seq(Interpreted, Generated)
      adaptive <- Seq("true", "false")
    } withConf(compiled :+ ("spark.sql.adaptive.enabled" -> adaptive): _*) {
      checkStored(s"SELECT count(*) AS n, sum(id) AS ids, count(name) AS names FROM ($Join)")
      checkStored(
        "SELECT x, max(name) AS name FROM (SELECT e.x, s.name FROM events e LEFT JOIN spans s ON e.x BETWEEN s.lo AND s.hi) GROUP BY x")
    }
  }

  test("a side with projections, filters and other names") {
    checkStored(
      "SELECT e.id, t.label, t.wide FROM events e JOIN (SELECT upper(name) AS label, lo AS a, hi AS b, hi - lo AS wide FROM spans " +
        "WHERE name LIKE 'v1%' AND hi IS NOT NULL) t ON e.x BETWEEN t.a AND t.b")
    checkStored(
      "SELECT e.id FROM events e JOIN (SELECT * FROM spans WHERE name = 'none') s ON e.x BETWEEN s.lo AND s.hi")
    checkStored("SELECT e.id, s.id AS sid FROM events e JOIN spans s ON e.x BETWEEN s.lo - 2 AND s.lo + 1")
    checkStored("SELECT e.id, s.id AS sid FROM events e JOIN spans s ON abs(e.x - s.lo) < 2")
    checkStored("SELECT e.id, s.id AS sid FROM events e JOIN spans s ON e.x >= s.lo AND (e.x < s.hi OR s.hi IS NULL)")
    checkStored(
      "SELECT e.id, s.id AS sid FROM events e LEFT JOIN spans s ON (s.lo IS NULL OR e.x >= s.lo) AND (e.x < s.hi OR s.name = 'v7')")
  }

  test("names of columns in another case") {
    checkStored("SELECT E.ID, S.NAME FROM events E JOIN spans S ON E.X BETWEEN S.LO AND S.Hi WHERE S.Id > 3")
  }

  test("what EXISTS and IN become") {
    for (condition <- Seq(
        "EXISTS (SELECT 1 FROM spans s WHERE e.x BETWEEN s.lo AND s.hi)",
        "NOT EXISTS (SELECT * FROM spans s WHERE e.x BETWEEN s.lo AND s.hi AND s.id > e.id)",
        "e.id = 7 OR EXISTS (SELECT 1 FROM spans s WHERE e.x BETWEEN s.lo AND s.hi AND s.name LIKE 'v1%')",
        "e.id IN (SELECT s.id FROM spans s WHERE e.x BETWEEN s.lo AND s.hi)",
        "e.id NOT IN (SELECT s.id FROM spans s WHERE e.x BETWEEN s.lo AND s.hi)"
      )) checkStored(s"SELECT e.id FROM events e WHERE $condition")
  }

  test("one side of a join loads an index, also where the rule looks once more at what EXISTS becomes") {
    // about columns of both sides, so that it stays above the join
    val query =
      """SELECT a.id FROM spans a JOIN spans b ON a.lo BETWEEN b.lo AND b.hi
        |WHERE EXISTS (SELECT 1 FROM events e WHERE e.x BETWEEN a.lo AND b.hi)""".stripMargin
    checkStored(query)
    for (join <- sql(query).queryExecution.optimizedPlan.collect { case join: LogicalJoin => join })
      assert(Seq(join.left, join.right).count(_.isInstanceOf[StoredRangeSide]) <= 1, join)
  }

  test("a side of which the optimizer leaves columns out once it has an index") {
    for (exists <- Seq("EXISTS", "NOT EXISTS")) checkRangeJoin(
      s"""SELECT a.id FROM events a WHERE $exists (SELECT e.id, s.k, s.name FROM (SELECT * FROM events WHERE id < 200) e
         |JOIN spans s ON e.x BETWEEN s.lo AND s.hi WHERE e.k = a.k)""".stripMargin)
    val side = sql(Join).queryExecution.optimizedPlan.collectFirst { case side: StoredRangeSide => side }.get
    val fewer = side.copy(Project(side.output.tail, side.child))(side.stored)
    assert(side.isCurrent && !fewer.isCurrent)
    assert(!RangeJoinStrategy(fewer).head.isInstanceOf[StoredRangeSideExec])
  }

  test("a side that computes what depends on more than its rows") {
    checkUnused(
      "cannot be computed on its rows",
      "SELECT e.id, s.id AS sid FROM events e JOIN (SELECT * FROM spans WHERE id > (SELECT count(*) / 99 FROM spans)) s " +
        "ON e.x BETWEEN s.lo AND s.hi"
    )
  }

  test("where another plan is cheaper, that is taken") {
    views("few" -> "SELECT id, int(id + 7) AS x FROM range(2)")
    checkUnused("an index of the other side is cheaper", Join.replace("events", "few"))
    withConf("spark.joinery.rangeJoin.storedIndex.enabled" -> "false")(
      assert(!planned(sql(Join)).exists(_.nodeName == Stored)))
  }

  test("two joins of one query load it once") {
    val twice = s"$Join WHERE e.id < 1000 UNION ALL $Join WHERE e.id > 2000"
    for (adaptive <- Seq("true", "false")) withConf("spark.sql.adaptive.enabled" -> adaptive) {
      checkStored(twice)
      val answer = sql(twice)
      answer.collect()
      assert(collect(plan(answer)) { case reused: ReusedExchangeExec => reused }.length == 1, plan(answer))
    }
  }

  test("two sides of one query that read other columns of it load it each for themselves") {
    val query =
      "SELECT e.id, s.{column} AS n FROM events e JOIN spans s ON e.x BETWEEN s.lo AND {end} WHERE {condition}"
    def of(column: String = "id", end: String = "s.hi", condition: String = "true") =
      query.replace("{column}", column).replace("{end}", end).replace("{condition}", condition)
    val exists = "EXISTS (SELECT 1 FROM spans s WHERE e.x BETWEEN s.lo AND s.hi AND s.{column} = 1)"
    for (adaptive <- Seq("true", "false")) withConf("spark.sql.adaptive.enabled" -> adaptive) {
      checkStored(s"${of(column = "id")} UNION ALL ${of(column = "k")}")
      checkStored(s"${of()} UNION ALL ${of(end = "s.lo + s.k")} UNION ALL ${of(end = "s.lo + s.id")}")
      checkStored(s"${of(condition = "s.id < 3")} UNION ALL ${of(condition = "s.k < 3")}")
      checkStored(
        s"SELECT e.id FROM events e WHERE ${exists.replace("{column}", "k")} AND NOT ${exists.replace("{column}", "id")}")
      checkStored(
        "SELECT e.id, s.k, t.id AS n FROM (SELECT * FROM events WHERE id < 50) e JOIN spans s ON e.x BETWEEN s.lo AND s.hi " +
          "JOIN spans t ON e.x BETWEEN t.lo AND t.hi")
    }
  }

  test("an executor has the index once it has what was broadcast, whatever the serializer") {
    val side = planned(sql(Join)).collectFirst { case side: StoredRangeSideExec => side }.get
    def bound(name: String) = BoundReference(side.output.indexWhere(_.name == name), IntegerType, nullable = true)
    val layout = RangeLayout(Nil, bound("lo"), Some(bound("hi")), keepsAll = true, side.output.length)
    val shipped = side.stored.load(layout, Iterator.empty, Long.MaxValue).get
    for (serializer <- Seq(new JavaSerializer(new SparkConf), new KryoSerializer(new SparkConf))) {
      val bytes = serializer.newInstance().serialize(shipped)
      assert(bytes.remaining < 100 * 1000)
      val received = serializer.newInstance().deserialize[SearchableRelation](bytes)
      assert(received.index.numRows == shipped.index.numRows && received.index.numRows > 200)
    }
  }
}

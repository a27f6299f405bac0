package io.github.sparkjoinery.rangejoin.stored

import java.nio.file.{Path => JavaPath}

import com.fasterxml.jackson.databind.node.ObjectNode

import io.github.sparkjoinery.artifacts.StoredArtifacts
import io.github.sparkjoinery.rangejoin.RangeJoinChecks

/** A table `spans` of intervals, indexes of it in a store, and a view `events` of points. */
trait StoredRangeIndexFixture extends RangeJoinChecks with StoredArtifacts {

  protected val Stored = "StoredRangeIndex"
  protected val Join = "SELECT e.id, s.id AS sid, s.name FROM events e JOIN spans s ON e.x BETWEEN s.lo AND s.hi"
  protected val Columns = Seq("id", "lo", "hi", "name", "k")

  /** Some of it reversed, some without one bound. */
  protected def spans(from: Int, until: Int, files: Int): String =
    s"""SELECT int(id) AS id, if(id % 11 = 3, NULL, int(id * 3 % 200)) AS lo, if(id % 13 = 5, NULL, int(id * 3 % 200 + id % 7 - 1)) AS hi,
       |concat('v', id) AS name, int(id % 5) AS k FROM range($from, $until, 1, $files)""".stripMargin

  /** It compares each of the 3,000 points with each interval. */
  override protected def oracleSettings: Seq[(String, String)] = Generated

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    views("events" -> "SELECT id, int(id % 211 - 3) AS x, int(id % 6) AS k FROM range(0, 3000, 1, 3)")
  }

  protected def withStore[T](body: => T): T =
    withConf("spark.joinery.store" -> store.toString, "spark.joinery.store.timeout" -> "60s")(body)

  protected def createSpans(): Unit = sql(s"CREATE TABLE spans USING parquet AS ${spans(0, 300, 3)}")

  /** Writes an index of `spans`, of several runs, and makes it the current one. */
  protected def buildIndex(
      table: String = "spans",
      columns: Seq[String] = Columns,
      sortedBy: Seq[String] = Seq("lo", "hi"),
      runs: Int = 2)(change: ObjectNode => Unit = _ => ()): JavaPath = {
    spark.catalog.refreshTable(table)
    val relation = s"spark_catalog.default.$table"
    val spec = mapper.createObjectNode().put("start", sortedBy.head).put("end", sortedBy.last)
    val list = spec.putArray("columns")
    columns.foreach(list.add(_))
    val version = newVersion("range_index", relation, spec)
    val rows = spark.table(table)
    val json = description(version, "range_index", relation, spec, rows, locationOf(table))
    val names = json.putArray("columns")
    columns.foreach(names.add(_))
    val order = json.putArray("sorted_by")
    sortedBy.foreach(order.add(_))
    val inRuns = json.putArray("runs")
    for (run <- 0 until runs) withConf(Plain ++ Interpreted: _*) {
      val ofRun = rows.select(columns.map(rows(_)): _*).where(s"abs(hash(id)) % $runs = $run").coalesce(1)
      ofRun.sortWithinPartitions(sortedBy.map(rows(_)): _*).write.parquet(version.resolve(s"data/run-$run").toString)
      val files = inRuns.addArray()
      listData(version, json, s"data/run-$run").foreach(path => files.add(path.stripPrefix("data/")))
    }
    json.put("rows", rows.count())
    change(json)
    publish(version, json)
    version
  }

  /** The answer is that of stock Spark, and comes from the index. */
  protected def checkStored(query: String = Join): Unit = {
    val plan = planned(checkedRangeJoin(query)._1)
    assert(plan.exists(_.nodeName == Stored), plan)
  }

  /** The answer is that of stock Spark, and does not come from the index, for this reason. */
  protected def checkUnused(reason: String, query: String = Join): Unit = {
    val plan = planned(checkedRangeJoin(query)._1)
    assert(!plan.exists(_.nodeName == Stored), plan)
    checkReason(query, plan, reason)
  }
}

package io.github.sparkjoinery.filters.rules

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.adaptive.{
  AQEShuffleReadExec,
  AdaptiveSparkPlanHelper,
  QueryStageExec,
  TableCacheQueryStageExec
}
import org.apache.spark.sql.execution.{FilterExec, InputAdapter, SparkPlan}

import io.github.sparkjoinery.filters.exec.AwaitKeysExec
import io.github.sparkjoinery.planning.explain.PlanReport
import io.github.sparkjoinery.{Answers, JoinerySession}

/** Tables, one of them small, and the check of a query against its answer without filters. */
trait BuiltFilters extends JoinerySession with AdaptiveSparkPlanHelper {

  /** Nothing is broadcast, and no side is too small to be filtered. */
  protected val Shuffled: Seq[(String, String)] =
    Seq("spark.sql.autoBroadcastJoinThreshold" -> "-1", "spark.joinery.runtimeFilter.applicationSideMinSize" -> "0")

  /** A join stays in the plan if one side turns out to have no rows. */
  protected val Whole: (String, String) =
    "spark.sql.adaptive.optimizer.excludedRules" -> "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation"

  protected val Off: (String, String) = "spark.joinery.runtimeFilter.build.enabled" -> "false"

  override protected def beforeAll(): Unit = {
    sql("DROP TABLE IF EXISTS small")
    sql("DROP TABLE IF EXISTS fact")
    sql("DROP TABLE IF EXISTS second")
    sql("""CREATE TABLE small USING parquet AS SELECT if(id % 50 = 0, NULL, int(id)) AS k, concat('N', id) AS name,
      bigint(id % 40) AS b, int(id % 10) AS class, date'2020-01-01' + int(id) AS day FROM range(400)""")
    sql("""CREATE TABLE fact USING parquet AS SELECT id, if(id % 97 = 0, NULL, int(id % 2000)) AS k,
      concat('N', id % 3000) AS name, bigint(id % 100) AS b, int(id * 7 % 5000) AS k2, date'2020-01-01' + int(id % 2000) AS day
      FROM range(20000)""")
    sql("""CREATE TABLE second USING parquet AS SELECT int(id % 5000) AS k2, int(id % 2500) AS k, id AS w,
      sha2(string(id), 256) AS pad FROM range(30000)""")
  }

  override protected def afterAll(): Unit = {
    Seq("small", "fact", "second").foreach(table => sql(s"DROP TABLE IF EXISTS $table"))
    super.afterAll()
  }

  /** Makes a view of a table's rows, from which no filter can be built before they are shuffled. */
  protected def hide(table: String): Unit = {
    val rows = spark.table(table)
    spark.createDataFrame(rows.rdd, rows.schema).createOrReplaceTempView(s"hidden_$table")
  }

  /** The answer without filters, computed in the cheapest way. */
  protected def unfiltered(query: String): Seq[String] =
    withConf(Plain ++ Interpreted :+ Off: _*)(Answers.rows(sql(query)))

  /** Runs a query with filters and without: the answers are equal, and as many tests as given are in its plan. */
  protected def checkBuilt(query: String, filters: Int, settings: (String, String)*): DataFrame = {
    val expected = withConf(settings: _*)(unfiltered(query))
    withConf(Shuffled ++ settings: _*) {
      val answer = sql(query)
      assert(Answers.rows(answer) == expected, query)
      assert(testsIn(answer) == filters, s"$query\n${answer.queryExecution}")
      answer
    }
  }

  /** A query has no filter, and a join of it says why. */
  protected def checkNone(query: String, reason: String, settings: (String, String)*): Unit = {
    val reasons = PlanReport.readFrom(plan(checkBuilt(query, 0, settings: _*))).map(_.reason)
    assert(reasons.exists(_.contains(reason)), s"$query: $reasons")
  }

  protected def plan(answer: DataFrame): SparkPlan =
    answer.asInstanceOf[org.apache.spark.sql.joinery.DataFrame].queryExecution.executedPlan

  /** The number of tests of rows not yet shuffled, in the plan that ran. */
  protected def testsIn(answer: DataFrame): Int = collect(plan(answer)) {
    case filter: FilterExec if !isShuffled(filter.child) => testsOf(filter)
  }.sum

  /** The number of tests of rows that have just been shuffled, in the plan that ran. */
  protected def testsAfterShuffle(answer: DataFrame): Int = collect(plan(answer)) {
    case filter: FilterExec if isShuffled(filter.child) => testsOf(filter)
  }.sum

  private def testsOf(filter: FilterExec): Int = "joinery_might_contain\\(".r.findAllIn(filter.condition.toString).size

  protected def isShuffled(plan: SparkPlan): Boolean = plan match {
    case InputAdapter(child) => isShuffled(child)
    case _: TableCacheQueryStageExec => false
    case _: AQEShuffleReadExec | _: QueryStageExec => true
    case _ => false
  }

  /** The number of keys of each filter in the plan that ran, and the source of the keys. */
  protected def keysIn(answer: DataFrame): Seq[(Long, String)] = collect(plan(answer)) { case filter: FilterExec =>
    "joinery_might_contain\\(.*?, (\\d+) keys of ([^()]*)\\)".r.findAllMatchIn(filter.condition.toString)
      .map(found => (found.group(1).toLong, found.group(2))).toSeq
  }.flatten

  /** The joins of a plan that wait for keys. */
  protected def waits(answer: DataFrame): Seq[AwaitKeysExec] =
    collect(plan(answer)) { case wait: AwaitKeysExec => wait }
}

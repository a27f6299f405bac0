package io.github.sparkjoinery

import org.apache.spark.serializer.JavaSerializer
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.{InputAdapter, SparkPlan, WholeStageCodegenExec}
import org.apache.spark.sql.types.DataType
import org.apache.spark.{SparkConf, SparkThrowable}

import io.github.sparkjoinery.execution.CodegenBoundaryExec
import io.github.sparkjoinery.planning.explain.PlanReport

/**
 * Assertions about the answer to a query, and about the operator that gave it. The answer alone would pass if Joinery
 * quietly left every query to Spark. The operator alone would pass if it returned wrong rows.
 */
trait LastJoinChecks extends JoinerySession with AdaptiveSparkPlanHelper {

  /** Each hint for the right side, and the operator that it asks for. */
  protected val LastJoinForms: Seq[(String, String)] =
    Seq("BROADCAST" -> "BroadcastLastJoin", "SHUFFLE_HASH" -> "ShuffledHashLastJoin", "MERGE" -> "SortMergeLastJoin")

  /** Runs queries that only give the answer to compare with. It does not depend on how Spark computes it. */
  protected def asOracle[T](body: => T): T =
    withConf(Plain ++ Interpreted :+ ("spark.joinery.rangeJoin.enabled" -> "false"): _*)(body)

  /**
   * A query gives the columns and rows of another, which stock Spark runs, and `operator` takes part in it.
   *
   * @param operator
   *   its name in EXPLAIN
   */
  protected def checkLastJoin(query: String, oracle: String, operator: String): Unit = {
    val actual = sql(query)
    val (types, rows) =
      onStockSpark(asOracle { val expected = sql(oracle); (columns(expected), Answers.rows(expected)) })
    assert(columns(actual) == types, query)
    assert(Answers.rows(actual) == rows, query)
    assert(operators(actual).contains(operator), s"$query\n${plan(actual)}")
    checkSerializable(actual)
  }

  /**
   * A plan that has run can be serialized. Tasks get all of it if an operator without generated code refers to itself.
   */
  protected def checkSerializable(query: DataFrame): Unit =
    new JavaSerializer(new SparkConf).newInstance().serialize(plan(query))

  private def columns(answer: DataFrame): Seq[(String, DataType, Boolean)] =
    answer.schema.map(field => (field.name, field.dataType, field.nullable))

  /** A join or window of the query has this reason, or a longer one that contains it. */
  protected def checkDecision(query: String, reason: String): Unit = checkReason(query, plan(sql(query)), reason)

  /** A join or window of this plan has this reason, or a longer one that contains it. */
  protected def checkReason(query: String, plan: SparkPlan, reason: String): Unit = {
    val report = PlanReport.readFrom(plan)
    assert(report.exists(_.reason.contains(reason)), report.mkString(s"$query\n", "\n", ""))
  }

  /** A statement fails with this class of error, at this part of it, and with this in the message. */
  protected def checkError(statement: String, condition: String, at: String, message: String = ""): Unit = {
    val error = intercept[Exception with SparkThrowable](sql(statement).collect())
    val shown = s"$statement\n$error"
    assert(error.getMessage.contains(s"[$condition"), shown)
    assert(error.getMessage.contains(message), shown)
    assert(placeOf(error, statement) == at, shown)
    if (condition.startsWith("JOINERY_")) assert(error.getMessageParameters.get("condition") == condition)
  }

  /** The text that an error points at; for syntax errors, from its first character to the end of that word. */
  private def placeOf(error: SparkThrowable, statement: String): String = error match {
    case syntax: ParseException =>
      val rest = statement.linesWithSeparators.drop(syntax.start.line.get - 1).mkString
      val start = rest.offsetByCodePoints(0, syntax.start.startPosition.get) // Spark counts code points
      """^(\w+|.|$)""".r.findFirstIn(rest.drop(start)).get
    case _ => error.getQueryContext.headOption.map(_.fragment).getOrElse("")
  }

  /** The physical plan, the final one if the query is adaptive and has run. */
  protected def plan(query: DataFrame): SparkPlan =
    stripAQEPlan(query.asInstanceOf[org.apache.spark.sql.joinery.DataFrame].queryExecution.executedPlan)

  /** Names of all operators of a plan, subqueries included, except the nodes that mark or separate generated code. */
  protected def operators(query: DataFrame): Seq[String] =
    collectWithSubqueries(plan(query)) {
      case node
          if !node.isInstanceOf[WholeStageCodegenExec] && !node.isInstanceOf[InputAdapter] &&
            !node.isInstanceOf[CodegenBoundaryExec] => node.nodeName
    }
}

package io.github.sparkjoinery.rangejoin

import scala.util.{Failure, Success, Try}

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec

import io.github.sparkjoinery.{Answers, LastJoinChecks}

/** Assertions about range joins: the answer of stock Spark, and the operator that gave it. */
trait RangeJoinChecks extends LastJoinChecks {

  protected val Broadcast = "BroadcastRangeJoin"
  protected val Shuffled = "ShuffledRangeJoin"

  protected def onStockJoins[T](body: => T): T = withConf("spark.joinery.rangeJoin.enabled" -> "false")(body)

  protected val Generated =
    Seq("spark.sql.codegen.wholeStage" -> "true", "spark.sql.codegen.factoryMode" -> "CODEGEN_ONLY")

  /** Settings that make Spark's own join faster, for suites in which it is slow without compiled code. */
  protected def oracleSettings: Seq[(String, String)] = Nil

  /** The plan before it runs. Adaptive execution drops sides that turn out to have no rows. */
  protected def planned(query: DataFrame): SparkPlan =
    query.asInstanceOf[org.apache.spark.sql.joinery.DataFrame].queryExecution.executedPlan match {
      case adaptive: AdaptiveSparkPlanExec => adaptive.initialPlan
      case plan => plan
    }

  /** The rows as text, sorted, or the class of the error. */
  private def outcome(query: => DataFrame): Either[String, Seq[String]] = Try(Answers.rows(query)) match {
    case Success(rows) => Right(rows)
    case Failure(error) =>
      val causes = Iterator.iterate(error)(_.getCause).takeWhile(_ != null).toVector
      Left(causes.collectFirst { case spark: SparkThrowable if spark.getErrorClass != null => spark.getErrorClass }
        .getOrElse(causes.last.toString))
  }

  /**
   * A query returns the rows of stock Spark by this operator. If stock Spark raises an error, it raises the same class
   * of error or answers.
   *
   * @return
   *   the number of rows
   */
  protected def checkRangeJoin(text: String, operator: String = Broadcast): Int =
    checkedRangeJoin(text, operator)._2

  /**
   * As `checkRangeJoin`.
   *
   * @return
   *   the query, so that tests of its plan need not plan it again, and the number of rows
   */
  protected def checkedRangeJoin(text: String, operator: String = Broadcast): (DataFrame, Int) = {
    val expected = asOracle(withConf(oracleSettings: _*)(outcome(sql(text))))
    val answer = sql(text)
    val actual = outcome(answer)
    assert(actual == expected || expected.isLeft && actual.isRight, s"$text\n${planned(answer)}")
    assert(planned(answer).exists(_.nodeName == operator), s"$text\n${planned(answer)}")
    if (actual.isRight) checkSerializable(answer)
    (answer, actual.fold(_ => 0, _.length))
  }

  /** A query is left to Spark, for this reason. */
  protected def checkLeftToSpark(text: String, reason: String): Unit = {
    checkDecision(text, reason)
    assert(!planned(sql(text)).exists(node => node.nodeName == Broadcast || node.nodeName == Shuffled), text)
  }
}

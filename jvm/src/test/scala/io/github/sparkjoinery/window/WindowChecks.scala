package io.github.sparkjoinery.window

import scala.util.{Failure, Success, Try}

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.{DataFrame, Row}

import io.github.sparkjoinery.window.WindowDimensions._
import io.github.sparkjoinery.{Answers, LastJoinChecks}

/** Assertions about windows: the answer of stock Spark, and the operator that gave it. */
trait WindowChecks extends LastJoinChecks {

  protected val Operator = "SlidingWindow"

  protected def onStockWindows[T](body: => T): T =
    withConf(Plain :+ ("spark.joinery.slidingWindow.enabled" -> "false"): _*)(body)

  /**
   * Compiles expressions. Spark's own operator adds up every frame from its first row, so this saves time over many
   * rows or large frames.
   */
  protected val CompiledExpressions: (String, String) = "spark.sql.codegen.factoryMode" -> "CODEGEN_ONLY"

  /** The plan before it runs. Adaptive execution drops inputs that turn out to have no rows. */
  protected def planned(query: DataFrame): SparkPlan =
    query.asInstanceOf[org.apache.spark.sql.joinery.DataFrame].queryExecution.executedPlan match {
      case adaptive: AdaptiveSparkPlanExec => adaptive.initialPlan
      case plan => plan
    }

  protected def isSliding(query: DataFrame): Boolean = planned(query).exists(_.nodeName == Operator)

  /** Rows by their unique first column, or the class of the error. */
  protected def outcome(query: DataFrame): Either[String, Map[Any, Row]] = Try(query.collect()) match {
    case Success(rows) =>
      val byId = rows.map(row => row.get(0) -> row).toMap
      assert(byId.size == rows.length, "rows were repeated")
      Right(byId)
    case Failure(error) => Left(condition(error))
  }

  private def condition(error: Throwable): String = {
    val causes = Iterator.iterate(error)(_.getCause).takeWhile(_ != null).toVector.reverse
    causes.collectFirst { case spark: SparkThrowable if spark.getErrorClass != null => spark.getErrorClass }
      .getOrElse(
        """executor driver\): (.*)""".r.findFirstMatchIn(causes.head.toString).fold(causes.head.toString)(_.group(1)))
  }

  /**
   * A query, whose first column is unique, returns the rows of Spark's own operator, bit for bit, or the same class of
   * error.
   *
   * @param stockSettings
   *   settings under which Spark's own operator is faster
   */
  protected def checkWindow(text: String, sliding: Boolean = true, stockSettings: Seq[(String, String)] = Nil): Unit = {
    checkWindowOf(text, sliding, stock(text, stockSettings))
  }

  private def stock(text: String, settings: Seq[(String, String)] = Nil): Either[String, Map[Any, Row]] =
    asOracle(onStockWindows(withConf(settings: _*)(outcome(sql(text)))))

  private def checkWindowOf(text: String, sliding: Boolean, expected: Either[String, Map[Any, Row]]): Unit = {
    val answer = sql(text)
    assert(shown(outcome(answer)) == shown(expected), text)
    assert(isSliding(answer) == sliding, s"$text\n${planned(answer)}")
  }

  /** Checks several columns: in one query if none of them fails, in a query for each otherwise. */
  protected def checkWindows(columns: Seq[String], from: String, sliding: Boolean = true): Unit = {
    def query(list: Seq[String]) =
      s"SELECT id, ${list.zipWithIndex.map { case (column, i) => s"$column AS c$i" }.mkString(",\n  ")}\n$from"
    val expected = stock(query(columns))
    if (expected.isLeft) columns.foreach(column => checkWindow(query(Seq(column)), sliding))
    else checkWindowOf(query(columns), sliding, expected)
  }

  private def shown(outcome: Either[String, Map[Any, Row]]): String =
    outcome.fold(identity, _.values.map(Answers.text).toSeq.sorted.mkString("\n"))

  /** None of the queries has a fault; the ten first faults are shown. */
  protected def check(queries: Iterator[WindowQuery]): Int = {
    var asked = 0
    val found = queries.flatMap { query => asked += 1; faults(query) }.take(10).toSeq
    if (found.nonEmpty) fail(found.mkString(s"after $asked queries\n", "\n\n", ""))
    asked
  }

  /** Makes the views `few` and `many` of [[WindowData]]. */
  protected def load(seed: Long): Unit = withConf("spark.sql.planChangeValidation" -> "false") {
    for ((name, rows, step) <- Seq(("few", 60, 61), ("many", 1100, 1103))) {
      sql(WindowData.sql(rows, step, seed)).localCheckpoint().createOrReplaceTempView(name)
    }
  }

  /** The differences of a query's answer and plan from the expected ones, if there are any. */
  protected def faults(query: WindowQuery): Option[String] = {
    val (expected, stock) = asOracle(onStockWindows(withConf(query.oracleSettings: _*) {
      val answer = sql(query.oracle)
      (outcome(answer), planned(answer))
    }))
    withConf(query.settings: _*) {
      val answer = sql(query.sql)
      val found = outcome(answer)
      val wrong = (expected, found) match {
        case (Right(right), Right(rows)) => different(query, right, rows)
        case (left, right) => if (left == right) Nil
          else Seq(s"expected ${left.left.getOrElse("rows")}, found ${right.left.getOrElse("rows")}")
      }
      val operators = Seq(
        "it is not in the plan" -> (query.moves && !isSliding(answer)),
        "it is in the plan though switched off" -> stock.exists(_.nodeName == Operator))
      val all = wrong ++ operators.collect { case (fault, true) => s"$Operator: $fault" }
      if (all.isEmpty) None else Some((s"${query.common}, ${all.size} faults" +: all.take(5)).mkString("\n"))
    }
  }

  private def different(query: WindowQuery, expected: Map[Any, Row], found: Map[Any, Row]): Seq[String] =
    if (expected.keySet != found.keySet)
      Seq(s"rows missing ${expected.keySet -- found.keySet}, too many ${found.keySet -- expected.keySet}")
    else query.columns.zipWithIndex.flatMap { case (column, i) =>
      val name = s"c$i"
      val wrong = expected.toSeq.filterNot { case (id, right) =>
        agree(right.getAs[Any](name), found(id).getAs[Any](name), column.precision, bound(column, right, i))
      }.sortBy(_._1.toString)
      wrong.headOption.map { case (id, right) =>
        s"${column.sql}: ${wrong.size} of ${expected.size} rows; id $id: expected ${Answers.text(right.getAs[Any](name))}, " +
          s"found ${Answers.text(found(id).getAs[Any](name))}"
      }
    }

  private def bound(column: WindowColumn, row: Row, i: Int): Double = column.precision match {
    case Rounding(_) if row.isNullAt(row.fieldIndex(s"sum_$i")) => 0
    case Rounding(_) => row.getAs[Long](s"n_$i") * Math.ulp(1.0) * row.getAs[Double](s"sum_$i")
    case _ => 0
  }

  private def agree(expected: Any, found: Any, precision: Precision, bound: Double): Boolean =
    (expected, found, precision) match {
      case (a: Double, b: Double, Rounding(_)) if finite(a) && finite(b) =>
        (a - b).abs <= bound || (a * a - b * b).abs <= bound
      case (a: Double, b: Double, Relative) if finite(a) && finite(b) => (a - b).abs <= 1e-9 * (1 + a.abs)
      case (a: Double, b: Double, Rounding(_) | Relative) => a.equals(b)
      case _ => Answers.text(expected) == Answers.text(found)
    }

  private def finite(x: Double): Boolean = !x.isNaN && !x.isInfinity
}

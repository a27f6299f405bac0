package io.github.sparkjoinery

import org.slf4j.LoggerFactory

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{ExpressionInfo, Literal}
import org.apache.spark.sql.joinery.InnermostParser

import io.github.sparkjoinery.parser.RefusingParser

/**
 * Handles a jar that is loaded by a Spark of another line than it is built for. Queries with our operators would fail
 * with NoSuchMethodError. The jar therefore leaves all queries to Spark, and rejects LAST JOIN and ASOF JOIN, which
 * Spark would read as aliases. This code uses only API that is the same in Spark 4.0 to 4.3.
 */
private[sparkjoinery] object OtherLine {
  private val Name = "joinery_misfit"

  /** The warning, with the name of the right jar; None if the jar fits. */
  lazy val misfit: Option[String] = message(SPARK_VERSION, Build.line, Build.lines)

  private lazy val warnOnce: Unit = misfit.foreach(LoggerFactory.getLogger("io.github.sparkjoinery").warn(_))

  /**
   * Adds the parser that rejects the joins, and the function `joinery_misfit()`, which tells dbt and Python the reason.
   */
  def inject(extensions: SparkSessionExtensions, why: String): Unit = {
    warnOnce
    InnermostParser.inject(extensions, new RefusingParser(why))
    extensions.injectFunction(
      (FunctionIdentifier(Name), new ExpressionInfo(getClass.getName, Name), (_: Seq[Any]) => Literal(why)))
  }

  def message(spark: String, line: String, lines: Seq[String]): Option[String] = {
    val running = spark.split('.').take(2).mkString(".")
    val right = Build.jar.replace(s"-${line}_", s"-${running}_")
    val remedy =
      if (lines.contains(running)) s"Load $right in its place"
      else s"There is no jar for Spark $running: run Spark ${lines.mkString(" or ")}, with the jar for it"
    Option.when(running != line) {
      s"Joinery's jar for Spark $line does not fit Spark $spark and does nothing there, but refuses LAST JOIN and ASOF " +
        s"JOIN. $remedy, or use the portable mode of the dbt macros, which needs no jar."
    }
  }
}

package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkSqlParser
import org.apache.spark.sql.joinery.JoineryConf

/**
 * Parses LAST JOIN and ASOF JOIN. Statements without them go to Spark's parser unchanged. Statements with them are
 * parsed by Spark's own grammar, over a rewritten token stream. [[LastJoinTokens]] makes a LAST JOIN a LEFT JOIN, and
 * [[AsOfJoinTokens]] makes an ASOF JOIN an INNER or LEFT JOIN. Tokens keep their positions in the user's text, so that
 * error messages, query contexts and stored view texts show that text.
 *
 * @param spark
 *   Spark's parser
 */
class JoineryParser(spark: ParserInterface = new SparkSqlParser) extends SparkSqlParser
  with StatementsWithParameters {

  override def parsePlan(sqlText: String): LogicalPlan = ask(sqlText)(_.parsePlan(sqlText))

  override def parseQuery(sqlText: String): LogicalPlan = ask(sqlText)(_.parseQuery(sqlText))

  override def parseExpression(sqlText: String): Expression = ask(sqlText)(_.parseExpression(sqlText))

  override protected def ask[T](sqlText: String)(call: ParserInterface => T): T = {
    val text = StatementText.substituted(sqlText)
    if (JoinWords.mayHaveLastJoin(text) && JoineryConf.lastJoinEnabled ||
      JoinWords.mayHaveAsOfJoin(text) && JoineryConf.asOfJoinEnabled) {
      val parser = new LastJoinParser
      try {
        val parsed = call(parser)
        parser.astBuilder.refusal.foreach(error => throw error)
        parsed
      } catch { case NoLastJoin => call(spark) }
    } else {
      call(spark)
    }
  }
}

package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.execution.SparkSqlParser
import org.apache.spark.sql.joinery.JoineryConf

/**
 * Reads LAST JOIN and ASOF JOIN. Statements without them go to Spark's parser untouched; those with them are parsed by
 * Spark's own grammar over a token stream in which [[LastJoinTokens]] has made LAST JOIN a LEFT JOIN, and
 * [[AsOfJoinTokens]] ASOF JOIN an INNER or LEFT JOIN. Tokens keep their places in the user's text, so error messages,
 * query contexts and stored view texts are the user's too.
 *
 * @param spark
 *   Spark's parser
 */
class JoineryParser(spark: ParserInterface = new SparkSqlParser) extends ListeningParser {

  override protected def ask[T](sqlText: String)(call: ParserInterface => T): T = {
    val text = StatementText.substituted(sqlText)
    if (LastJoinTokens.mayOccurIn(text) && JoineryConf.lastJoinEnabled ||
      AsOfJoinTokens.mayOccurIn(text) && JoineryConf.asOfJoinEnabled) {
      try call(new LastJoinParser)
      catch { case NoLastJoin => call(spark) }
    } else {
      call(spark)
    }
  }
}

package io.github.sparkjoinery.parser

import org.antlr.v4.runtime.{ParserRuleContext, Token}

import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface, SqlBaseParser}
import org.apache.spark.sql.execution.SparkSqlParser
import org.apache.spark.sql.internal.SQLConf

/**
 * Rejects LAST JOIN and ASOF JOIN, and leaves every other statement to Spark. A Spark that does not know these joins
 * may read them as aliases (`t LAST JOIN r`).
 *
 * @param why
 *   the problem and its fix
 */
class RefusingParser(why: String) extends ListeningParser {

  private val spark = new SparkSqlParser

  override protected def ask[T](sqlText: String)(call: ParserInterface => T): T = {
    val text = StatementText.substituted(sqlText)
    if (LastJoinTokens.mayOccurIn(text) || AsOfJoinTokens.mayOccurIn(text)) parse(sqlText)(refuse)
    call(spark)
  }

  private def refuse(parser: SqlBaseParser): Unit = {
    val statement = StatementTokens.read(parser)
    val refused = statement.indices.find { i =>
      isOn("spark.joinery.lastJoin.enabled", default = true) && LastJoinTokens.isLastJoin(statement, i) ||
      // Spark 4.3 itself reads ASOF JOIN if this setting is on
      !isOn("spark.sql.join.asofJoin.enabled", default = false) && AsOfJoinTokens.isAsOfJoin(statement, i)
    }
    if (!statement.isFreeText) refused.foreach(i => fail(statement.tokens(i)))
  }

  private def isOn(key: String, default: Boolean): Boolean =
    SQLConf.get.getConfString(key, default.toString).toBoolean

  private def fail(at: Token): Nothing = {
    val place = new ParserRuleContext
    place.start = at
    place.stop = at
    throw new ParseException(
      "PARSE_SYNTAX_ERROR",
      Map("error" -> s"'${at.getText}'", "hint" -> s": ${why.stripSuffix(".")}"),
      place)
  }
}

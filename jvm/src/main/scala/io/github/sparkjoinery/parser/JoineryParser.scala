package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.internal.VariableSubstitution
import org.apache.spark.sql.joinery.JoineryConf
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * Reads LAST JOIN and ASOF JOIN. Statements without them go to the delegate untouched; those with them are parsed by
 * Spark's own grammar over a token stream in which [[LastJoinTokens]] has made LAST JOIN a LEFT JOIN, and
 * [[AsOfJoinTokens]] ASOF JOIN an INNER or LEFT JOIN. Tokens keep their places in the user's text, so error messages,
 * query contexts and stored view texts are the user's too.
 *
 * @param delegate
 *   the parser of Spark or of the extension listed before this one
 */
class JoineryParser(override protected val delegate: ParserInterface)
  extends ParserInterface with StatementsWithParameters with SplitStatements {

  override def parsePlan(sqlText: String): LogicalPlan =
    parse(sqlText)(_.parsePlan(sqlText))

  override def parseQuery(sqlText: String): LogicalPlan =
    parse(sqlText)(_.parseQuery(sqlText))

  override def parseExpression(sqlText: String): Expression =
    parse(sqlText)(_.parseExpression(sqlText))

  override protected def parse[T](sqlText: String)(call: ParserInterface => T): T = {
    val text = substituted(sqlText)
    if (LastJoinTokens.mayOccurIn(text) && JoineryConf.lastJoinEnabled ||
      AsOfJoinTokens.mayOccurIn(text) && JoineryConf.asOfJoinEnabled) {
      try call(new LastJoinParser)
      catch { case NoLastJoin => call(delegate) }
    } else {
      call(delegate)
    }
  }

  /** What Spark's parser will read, which substitutes variables itself: the words may come from one. */
  private def substituted(sqlText: String): String =
    if (sqlText.contains("${")) new VariableSubstitution().substitute(sqlText) else sqlText

  override def parseTableIdentifier(sqlText: String): TableIdentifier = delegate.parseTableIdentifier(sqlText)

  override def parseFunctionIdentifier(sqlText: String): FunctionIdentifier =
    delegate.parseFunctionIdentifier(sqlText)

  override def parseMultipartIdentifier(sqlText: String): Seq[String] = delegate.parseMultipartIdentifier(sqlText)

  override def parseTableSchema(sqlText: String): StructType = delegate.parseTableSchema(sqlText)

  override def parseDataType(sqlText: String): DataType = delegate.parseDataType(sqlText)

  override def parseRoutineParam(sqlText: String): StructType = delegate.parseRoutineParam(sqlText)
}

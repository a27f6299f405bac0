package io.github.sparkjoinery.planning

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

/**
 * Rejects a LAST JOIN, an ASOF JOIN or a hint. The message starts with `[JOINERY_LAST_JOIN.<condition>]`, or with
 * `JOINERY_ASOF_JOIN` or a hint's name. It shows the position in the user's text, like Spark's errors. Programs read
 * the condition from the message parameter `condition`, and its kind from the SQLSTATE.
 *
 * @param condition
 *   the kind of error, in capitals
 * @param text
 *   the problem, the expected input and the fix
 * @param origin
 *   the position in the statement
 * @param of
 *   the kind of join, or the hint, in capitals
 */
class JoineryException(val condition: String, text: String, origin: Origin, of: String = "LAST_JOIN")
  extends AnalysisException(
    JoineryException.message(of, condition, text, origin),
    origin.line,
    origin.startPosition,
    None,
    UserError.errorClass,
    Map(
      "errorMessage" -> JoineryException.message(of, condition, text, origin),
      "condition" -> JoineryException.nameOf(of, condition)),
    origin.getQueryContext
  ) {

  override def getSqlState: String = JoineryException.sqlState(condition)
}

object JoineryException {
  private def nameOf(of: String, condition: String) = s"JOINERY_$of.$condition"

  private def message(of: String, condition: String, text: String, origin: Origin): String = {
    s"[${nameOf(of, condition)}] $text${PlaceInText.show(origin)}"
  }

  /** The SQLSTATE that Spark uses for errors of the same kind. */
  private def sqlState(condition: String): String = condition match {
    case "STREAMING" | "CORRELATED" | "ON" | "PYTHON_UDF_ON" | "SUBQUERY_ON" => "0A000" // a missing feature
    case "INVALID_HINT" => "22023"
    case "OPERATOR" => "42601"
    case "ORDER_BY_COLUMN" | "AS_OF_COLUMN" => "42703"
    case "OPERAND_TYPE" | "TOLERANCE_TYPE" => "42K09"
    case _ => "42K0E" // an expression, or a join, in a place that does not allow it
  }

  def fail(condition: String, text: String, origin: Origin): Nothing =
    throw new JoineryException(condition, text, origin)
}

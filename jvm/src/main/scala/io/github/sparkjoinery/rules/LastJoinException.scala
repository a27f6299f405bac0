package io.github.sparkjoinery.rules

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

/**
 * A LAST JOIN or ASOF JOIN that cannot be: an analysis error whose message starts with `[JOINERY_LAST_JOIN.<condition>]`
 * (or `JOINERY_ASOF_JOIN`) and shows the place in the user's text as Spark's own errors do.
 *
 * @param condition the kind of error, in capitals
 * @param text      what is wrong, what was expected and how to mend it
 * @param origin    the place in the statement
 * @param join      the kind of join, in capitals
 */
class LastJoinException(val condition: String, text: String, origin: Origin, join: String = "LAST_JOIN")
  extends AnalysisException(
    LastJoinException.message(join, condition, text, origin),
    origin.line,
    origin.startPosition,
    None,
    Some(LastJoinException.ErrorClass),
    Map("errorMessage" -> LastJoinException.message(join, condition, text, origin)),
    origin.getQueryContext)

object LastJoinException {
  // PySpark and Connect look classes up in Spark's own list and break on one they do not find there, so ours stands in
  // the message. This class's message is what it is given, without a prefix.
  private val ErrorClass = "_LEGACY_ERROR_USER_RAISED_EXCEPTION"

  private def message(join: String, condition: String, text: String, origin: Origin): String = {
    val place = origin.getQueryContext.headOption.map(context => "\n" + context.summary).getOrElse("")
    s"[JOINERY_$join.$condition] $text$place"
  }

  def fail(condition: String, text: String, origin: Origin): Nothing =
    throw new LastJoinException(condition, text, origin)
}

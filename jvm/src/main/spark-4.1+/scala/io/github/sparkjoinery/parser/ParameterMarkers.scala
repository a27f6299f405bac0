package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.parser._

/** Puts parameter values into a statement that Spark's own substitution cannot parse. */
private[parser] object ParameterMarkers {

  /**
   * Lets Spark check and substitute the markers in a stand-in statement, which has only the markers, at their original
   * positions. The same substitutions are then applied to the real statement. Positions are counted in code points, as
   * in ANTLR.
   */
  def substitute(statement: String, markers: ParameterLocationInfo, parameters: ParameterContext): PositionMapper = {
    val locations = markers.namedParameterLocations.values.flatten ++ markers.positionalParameterLocations
    val standIn = Array.fill(statement.codePointCount(0, statement.length) + 1)(' ')
    def write(text: String, at: Int): Unit = text.copyToArray(standIn, at)

    write("SELECT", 0)
    locations.toSeq.sortBy(_.start).zipWithIndex.foreach { case (location, i) =>
      if (i > 0) write(",", location.start - 1)
      write(between(statement, location.start, location.end), location.start)
    }
    val (_, mapper) = ParameterHandler.substituteParameters(new String(standIn), parameters)
    PositionMapper(statement, spliced(statement, mapper.substitutions), mapper.substitutions)
  }

  private def spliced(statement: String, substitutions: List[Substitution]): String = {
    val ordered = substitutions.sortBy(_.start)
    val starts = 0 +: ordered.map(_.end)
    val ends = ordered.map(_.start) :+ statement.codePointCount(0, statement.length)
    val pieces = starts.zip(ends).map { case (from, to) => between(statement, from, to) }
    pieces.zipAll(ordered.map(_.replacement), "", "").map { case (text, value) => text + value }.mkString
  }

  private def between(text: String, from: Int, to: Int): String =
    text.substring(text.offsetByCodePoints(0, from), text.offsetByCodePoints(0, to))
}

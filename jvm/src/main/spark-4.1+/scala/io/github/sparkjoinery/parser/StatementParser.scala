package io.github.sparkjoinery.parser

import org.antlr.v4.runtime.tree.ParseTree

import org.apache.spark.sql.catalyst.parser._
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.execution.SparkSqlParser
import org.apache.spark.sql.internal.{SQLConf, VariableSubstitution}

/**
 * Spark's parser with a hook before the grammar reads the tokens. From Spark 4.1 on, Spark parses a statement with
 * parameters twice, first with a parser of its own that finds the markers. That parser does not know LAST JOIN, so this
 * class finds the markers in the prepared tokens.
 */
abstract class StatementParser extends SparkSqlParser {

  /**
   * Called with a parser over the tokens of a statement; it may replace them.
   *
   * @return
   *   the parts that it took out of the statement and parsed separately
   */
  protected def prepare(parser: SqlBaseParser): Seq[ParseTree]

  override protected def parse[T](command: String)(toResult: SqlBaseParser => T): T =
    super.parse(command) { parser => prepare(parser); toResult(parser) }

  override def parseWithParameters[T](command: String, parameters: ParameterContext)(
      toResult: SqlBaseParser => T): T =
    if (SQLConf.get.legacyParameterSubstitutionConstantsOnly) { // the analyzer binds the parameters
      super.parseWithParameters(command, parameters) { parser => prepare(parser); toResult(parser) }
    } else {
      val original = new VariableSubstitution().substitute(command)
      val mapper = ParameterMarkers.substitute(original, parameterLocations(original), parameters)
      val origin = CurrentOrigin.get.copy(
        sqlText = Some(mapper.substitutedText),
        startIndex = Some(0),
        stopIndex = Some(mapper.substitutedText.length - 1),
        positionMapper = Some(mapper))
      CurrentOrigin.withOrigin(origin) {
        withoutVariables(parse(mapper.substitutedText)(toResult)) // a value may contain ${...}
      }
    }

  private def parameterLocations(statement: String): ParameterLocationInfo = super.parse(statement) { parser =>
    val takenOut = prepare(parser)
    val trees = parser.compoundOrSingleStatement() +: takenOut
    val found = trees.map(new SubstituteParmsAstBuilder().extractParameterLocations)
    ParameterLocationInfo(
      found.flatMap(_.namedParameterLocations.toSeq).groupMapReduce(_._1)(_._2)(_ ++ _),
      found.flatMap(_.positionalParameterLocations).sortBy(_.start).toList)
  }

  private def withoutVariables[T](body: => T): T = {
    val conf = SQLConf.get.clone()
    conf.setConf(SQLConf.VARIABLE_SUBSTITUTE_ENABLED, false)
    SQLConf.withExistingConf(conf)(body)
  }
}

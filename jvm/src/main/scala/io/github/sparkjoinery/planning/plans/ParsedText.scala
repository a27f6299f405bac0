package io.github.sparkjoinery.planning.plans

import java.util.Locale

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.execution.datasources.csv.CSVFileFormat
import org.apache.spark.sql.execution.datasources.json.JsonFileFormat
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.joinery.FilesOf
import org.apache.spark.sql.sources.DataSourceRegister

/**
 * Recognizes tables of CSV, JSON and XML. Spark parses only the columns that a query reads, and these columns decide
 * which rows are malformed. They thus decide which rows there are, which values the rows have, and which rows have a
 * corrupt record.
 */
object ParsedText extends SQLConfHelper {

  private def isParsed(files: HadoopFsRelation): Boolean = files.fileFormat match {
    case format: DataSourceRegister => Set("csv", "json", "xml")(format.shortName())
    case _ => false
  }

  def isIn(plan: LogicalPlan): Boolean = plan.collectLeaves().exists {
    case FilesOf(files) => isParsed(files)
    case _ => false
  }

  /** True for the column with the text of malformed rows. */
  def isCorruptRecord(files: HadoopFsRelation, column: String): Boolean = isParsed(files) &&
    column.equalsIgnoreCase(
      option(files, "columnNameOfCorruptRecord").getOrElse(SQLConf.get.columnNameOfCorruptRecord))

  /**
   * Returns why rows that were read with the columns `read` differ from rows read with `columns`; None if they do not.
   * An invalid value is NULL by default, and the other values of the row do not change.
   */
  def differs(files: HadoopFsRelation, read: Set[String], columns: Set[String]): Option[String] =
    if (read.exists(isCorruptRecord(files, _)) || isParsed(files) && read != columns && !isParsedByValue(files))
      Some("which rows of its text are malformed depends on the columns that are read")
    else None

  private def isParsedByValue(files: HadoopFsRelation): Boolean =
    option(files, "mode").forall(mode => mode.toUpperCase(Locale.ROOT) != "DROPMALFORMED") && (files.fileFormat match {
      case _: CSVFileFormat => true
      case _: JsonFileFormat => conf.jsonEnablePartialResults
      case _ => false
    })

  private def option(files: HadoopFsRelation, name: String): Option[String] =
    CaseInsensitiveMap(files.options).get(name)
}

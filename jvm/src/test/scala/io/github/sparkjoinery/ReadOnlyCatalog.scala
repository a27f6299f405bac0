package io.github.sparkjoinery

import java.util

import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * A catalog of tables that are only read.
 *
 * @param table
 *   makes the table of a name
 */
abstract class ReadOnlyCatalog(table: String => Table) extends TableCatalog {
  private var catalog: String = _
  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = catalog = name
  override def name: String = catalog

  override def listTables(namespace: Array[String]): Array[Identifier] = Array.empty
  override def loadTable(identifier: Identifier): Table = table(identifier.name)
  private def unsupported = throw new UnsupportedOperationException
  override def createTable(i: Identifier, s: StructType, p: Array[Transform], m: util.Map[String, String]): Table =
    unsupported
  override def alterTable(identifier: Identifier, changes: TableChange*): Table = unsupported
  override def dropTable(identifier: Identifier): Boolean = unsupported
  override def renameTable(from: Identifier, to: Identifier): Unit = unsupported
}

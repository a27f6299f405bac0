package io.github.sparkjoinery.artifacts

import org.apache.spark.sql.connector.catalog.Table

/** Reads the id and version of a table, which Spark has from 4.1 on. Both are null for tables without them. */
object TableSnapshot {
  def idOf(table: Table): Option[String] = Option(table.id)
  def versionOf(table: Table): Option[String] = Option(table.version)
}

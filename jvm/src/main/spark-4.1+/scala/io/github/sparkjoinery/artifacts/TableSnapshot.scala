package io.github.sparkjoinery.artifacts

import org.apache.spark.sql.connector.catalog.Table

/** `Table.id` and `Table.version` come with Spark 4.1; both are null for tables without them. */
object TableSnapshot {
  def idOf(table: Table): Option[String] = Option(table.id)
  def versionOf(table: Table): Option[String] = Option(table.version)
}

package io.github.sparkjoinery.artifacts

import org.apache.spark.sql.connector.catalog.Table

/** `Table.id` and `Table.version` come with Spark 4.1: before, it is not known at what a table is read. */
object TableSnapshot {
  def idOf(table: Table): Option[String] = None
  def versionOf(table: Table): Option[String] = None
}

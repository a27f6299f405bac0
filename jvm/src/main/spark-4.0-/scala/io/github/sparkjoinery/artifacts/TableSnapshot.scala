package io.github.sparkjoinery.artifacts

import org.apache.spark.sql.connector.catalog.Table

/**
 * Reads the id and version of a table. Spark has them from 4.1 on; before, the version that a query reads is unknown.
 */
object TableSnapshot {
  def idOf(table: Table): Option[String] = None
  def versionOf(table: Table): Option[String] = None
}

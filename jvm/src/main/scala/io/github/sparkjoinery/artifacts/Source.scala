package io.github.sparkjoinery.artifacts

import org.apache.spark.sql.types.StructField

/**
 * How the job read the source.
 *
 * @param schema
 *   name and type of each column, and its default in files without the column, as SQL; empty text for NULL
 */
case class Source(
    provider: String,
    options: String,
    schema: Seq[(String, String, String)],
    partitionColumns: Set[String])

object Source {

  /** Describes a column in the form of `Source.schema`. */
  def columnOf(field: StructField): (String, String, String) = {
    val default = "EXISTS_DEFAULT"
    val absent = if (field.metadata.contains(default)) field.metadata.getString(default) else ""
    (field.name, field.dataType.catalogString, absent)
  }
}

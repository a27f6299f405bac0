package io.github.sparkjoinery.artifacts

import java.util.Locale

import org.apache.hadoop.fs.Path

/**
 * Gives each relation one canonical name, by which its artifacts are found. The Python package has the same function
 * (`spark_joinery.metadata.identity`); `tests/golden/relation_identity.json` tests both.
 */
object RelationIdentity {
  private val SessionCatalog = "spark_catalog"
  private val FileFormats = Set("avro", "csv", "delta", "json", "orc", "parquet", "text")

  /**
   * @param catalog
   *   catalog name, unquoted; None for the session catalog
   * @param schema
   *   schema name, unquoted; the format for SQL on files (parquet.`/path`)
   * @param name
   *   table name, unquoted; the path for SQL on files
   * @return
   *   a URI for a path; else `catalog.schema.name`, in lower case where Spark ignores case, and with names that are not
   *   plain identifiers in backticks
   */
  def text(catalog: Option[String], schema: String, name: String): String =
    if (catalog.isEmpty && FileFormats(lower(schema)) && name.contains("/")) {
      ofPath(name)
    } else if (catalog.forall(lower(_) == SessionCatalog)) {
      quote(SessionCatalog, lower(schema), lower(name))
    } else {
      quote(catalog.get, schema, name)
    }

  /**
   * @param path
   *   absolute path or URI; a path without scheme is a local file
   * @return
   *   the URI with scheme and authority in lower case, without `.`, `..`, doubled and trailing slashes
   */
  def ofPath(path: String): String = {
    val Uri = "([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(.*)".r
    val (scheme, authority, rest) = path match {
      case Uri(scheme, authority, rest) => (scheme, Option(authority).filter(_.nonEmpty), rest)
      case local => ("file", None, local)
    }
    require(rest.startsWith("/"), s"'$path' is not an absolute path or URI")
    val place = authority.map("//" + lower(_)).getOrElse("")
    s"${lower(scheme)}:$place/${segments(rest).mkString("/")}"
  }

  private def segments(path: String): Seq[String] = path.split(Path.SEPARATOR).foldLeft(Vector.empty[String]) {
    case (kept, "" | ".") => kept
    case (kept, "..") => kept.dropRight(1)
    case (kept, segment) => kept :+ segment
  }

  private def quote(parts: String*): String = parts.map { part =>
    if (part.matches("[A-Za-z_][A-Za-z0-9_]*")) part else "`" + part.replace("`", "``") + "`"
  }.mkString(".")

  private def lower(text: String): String = text.toLowerCase(Locale.ROOT)
}

package io.github.sparkjoinery.artifacts

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/**
 * Reads the store's JSON files. Anything unexpected in them is reported as damage, since other programs may have
 * written them.
 */
object StoreJson {
  private val mapper = new ObjectMapper()

  /** @param formats format versions that the caller can read */
  def parse(bytes: Array[Byte], what: String, formats: Set[Int]): JsonNode = {
    val json =
      try mapper.readTree(bytes)
      catch {
        case _: java.io.IOException => throw new DamagedArtifactException(s"$what is not JSON")
      }
    if (json == null || !json.isObject) throw new DamagedArtifactException(s"$what is not a JSON object")
    val format = json.path("format_version")
    if (!format.isInt || !formats(format.asInt)) {
      throw new DamagedArtifactException(
        s"$what has format version ${if (format.isMissingNode) "none" else format}, which this jar does not know")
    }
    json
  }

  def child(node: JsonNode, field: String): JsonNode =
    Option(node.get(field)).filterNot(_.isNull).getOrElse(throw new DamagedArtifactException(
      s"its description lacks '$field'"))

  def text(node: JsonNode, field: String): String = child(node, field) match {
    case value if value.isTextual => value.asText
    case _ => throw new DamagedArtifactException(s"'$field' in its description is not a text")
  }

  def number(node: JsonNode, field: String): Long = child(node, field) match {
    case value if value.canConvertToLong && value.isIntegralNumber => value.asLong
    case _ => throw new DamagedArtifactException(s"'$field' in its description is not a whole number")
  }

  def texts(node: JsonNode, field: String): Seq[String] = elements(node, field).map(_.asText)

  def elements(node: JsonNode, field: String): Seq[JsonNode] = child(node, field) match {
    case value if value.isArray => value.elements().asScala.toVector
    case _ => throw new DamagedArtifactException(s"'$field' in its description is not a list")
  }
}

package io.github.sparkjoinery.artifacts

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.node.TextNode
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/**
 * Hashes a specification to the name of its artifact's folder. The Python package has the same function
 * (`spark_joinery.metadata.spec_hash`); `tests/golden/spec_hash.json` tests both.
 */
object SpecificationHash {
  private val mapper = new ObjectMapper()

  /**
   * @param specification
   *   `{"kind": ..., "spec": {...}}` with defaults filled in
   * @return
   *   the first 16 hexadecimal digits of the SHA-256 of its canonical JSON
   */
  def of(specification: JsonNode): String = {
    val digest = MessageDigest.getInstance("SHA-256").digest(canonicalJson(specification).getBytes(UTF_8))
    digest.take(8).map(byte => f"${byte & 0xff}%02x").mkString
  }

  /** Writes JSON with one spelling per value: sorted keys, no white space, no nulls in objects, plain decimals. */
  def canonicalJson(value: JsonNode): String = value match {
    case node if node.isObject =>
      node.properties().asScala.toVector
        .filterNot(_.getValue.isNull)
        .sortBy(_.getKey)
        .map { field => s"${text(field.getKey)}:${canonicalJson(field.getValue)}" }
        .mkString("{", ",", "}")
    case node if node.isArray => node.elements().asScala.map(canonicalJson).mkString("[", ",", "]")
    case node if node.isNumber => plain(node.decimalValue())
    case node => mapper.writeValueAsString(node)
  }

  private def text(value: String): String = mapper.writeValueAsString(new TextNode(value))

  private def plain(number: java.math.BigDecimal): String =
    if (number.signum() == 0) "0" else number.stripTrailingZeros().toPlainString
}

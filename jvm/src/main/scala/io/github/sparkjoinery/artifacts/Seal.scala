package io.github.sparkjoinery.artifacts

import java.nio.charset.StandardCharsets.ISO_8859_1

/**
 * The checksum that a `version.json` holds of itself: SHA-256 of its bytes with zeros in the checksum's field. The
 * checksum in `_current.json` covers only the current version; this one covers the others, too. The Python package has
 * the same function (`spark_joinery.store.seal`).
 */
object Seal {
  private val Blank = "0" * 64
  // cannot match inside a JSON string, where quotation marks are escaped
  private val Field = "\"own_sha256\": ?\"([0-9a-f]{64})\"".r

  /** True if the description has a checksum of itself. Older releases wrote none. */
  def has(json: Array[Byte]): Boolean = Field.findFirstIn(text(json)).isDefined

  /** True if the description has a checksum and it does not match. */
  def isBroken(json: Array[Byte]): Boolean = Field.findAllMatchIn(text(json)).toList match {
    case Seq() => false
    case Seq(seal) =>
      val blank = text(json).patch(seal.start(1), Blank, Blank.length)
      StoreLayout.sha256(blank.getBytes(ISO_8859_1)) != seal.group(1)
    case _ => true
  }

  /** Decodes one character per byte. */
  private def text(json: Array[Byte]): String = new String(json, ISO_8859_1)
}

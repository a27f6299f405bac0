package io.github.sparkjoinery.artifacts

import java.nio.charset.StandardCharsets.ISO_8859_1

/**
 * The checksum that a `version.json` holds of itself: SHA-256 of its bytes while zeros stand in the field.
 * `_current.json` holds that of one version alone; a version that is to stand for it must prove that nothing in it has
 * changed. The Python package has the same (`spark_joinery.store.seal`).
 */
object Seal {
  private val Blank = "0" * 64
  // a quotation mark inside a text is escaped, so that no text can look like the field
  private val Field = "\"own_sha256\": ?\"([0-9a-f]{64})\"".r

  /** Whether there is a checksum; older releases wrote none. */
  def has(json: Array[Byte]): Boolean = Field.findFirstIn(text(json)).isDefined

  /** Whether there is a checksum, and it is not that of the content. */
  def isBroken(json: Array[Byte]): Boolean = Field.findAllMatchIn(text(json)).toSeq match {
    case Seq() => false
    case Seq(seal) =>
      val blank = text(json).patch(seal.start(1), Blank, Blank.length)
      StoreLayout.sha256(blank.getBytes(ISO_8859_1)) != seal.group(1)
    case _ => true
  }

  /** One character for each byte. */
  private def text(json: Array[Byte]): String = new String(json, ISO_8859_1)
}

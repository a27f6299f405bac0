package io.github.sparkjoinery.artifacts

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import org.apache.hadoop.fs.Path

/**
 * The paths of an artifact below the store's root:
 * {{{
 * <root>/<kind>/<relation folder>/<specification hash>/_current.json            the version in use
 *                                                     /versions/<version>/version.json
 *                                                                        /data/    Parquet, never changed
 * }}}
 *
 * The Python package has the same layout (`spark_joinery.store.layout`); `tests/golden/relation_folder.json` tests
 * both.
 */
object StoreLayout {
  val Current = "_current.json"
  val Description = "version.json"

  /** Most bytes of a `_current.json`. Every release writes about two hundred. */
  val MaxPointer: Long = 64L << 10

  /**
   * Most bytes of a `version.json`. 16 MiB list some 70,000 source files and take twenty times as much in memory. The
   * Python package has the same limits; `tests/golden/store_limits.json` tests both.
   */
  val MaxDescription: Long = 16L << 20
  private val Longest = 180
  private val Plain = (('a' to 'z') ++ ('0' to '9') ++ "_.").toSet

  /** The folder of one relation's artifacts of one kind. */
  def folder(root: String, kind: String, relation: String): Path =
    new Path(new Path(root, kind), relationFolder(relation))

  def versions(artifact: Path): Path = new Path(artifact, "versions")

  def version(artifact: Path, name: String): Path = new Path(versions(artifact), name)

  /**
   * @param relation
   *   an identity, see [[RelationIdentity]]
   * @return
   *   a unique folder name of at most 180 ASCII characters; other characters, and a leading `.` or `_`, become `~` and
   *   two hex digits per UTF-8 byte
   */
  def relationFolder(relation: String): String = {
    val bytes = relation.getBytes(UTF_8)
    val name = bytes.zipWithIndex.map { case (byte, at) =>
      val char = (byte & 0xff).toChar
      if (Plain(char) && !(at == 0 && "._".contains(char))) char.toString else f"~${byte & 0xff}%02x"
    }.mkString
    if (name.length <= Longest) name
    else s"${name.take(Longest - 34)}~~${sha256(bytes).take(32)}" // no plain name contains "~~"
  }

  /** SHA-256 in hex digits. */
  def sha256(bytes: Array[Byte]): String = hex(MessageDigest.getInstance("SHA-256").digest(bytes))

  def hex(bytes: Array[Byte]): String = bytes.map(byte => f"${byte & 0xff}%02x").mkString
}

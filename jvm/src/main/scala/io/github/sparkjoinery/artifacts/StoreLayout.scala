package io.github.sparkjoinery.artifacts

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import org.apache.hadoop.fs.Path

/**
 * Where an artifact lies below the store's root:
 * {{{
 * <root>/<kind>/<relation folder>/<specification hash>/_current.json            the version in use
 *                                                     /versions/<version>/version.json
 *                                                                        /data/    Parquet, never changed
 * }}}
 * The Python package has the same (`spark_joinery.store.layout`); `tests/golden/relation_folder.json` keeps both in
 * step.
 */
object StoreLayout {
  val Current = "_current.json"
  val Description = "version.json"

  /** Bytes of a pointer: two hundred are usual, and no release writes so many. */
  val MaxPointer: Long = 64L << 10

  /**
   * Bytes of a description. It takes twenty times as many in memory, and 16 MiB list some 70,000 files of a source. The
   * Python package has the same limits; `tests/golden/store_limits.json` keeps both in step.
   */
  val MaxDescription: Long = 16L << 20
  private val Longest = 180
  private val Plain = (('a' to 'z') ++ ('0' to '9') ++ "_.").toSet

  /** The folder of a relation's artifacts of one kind. */
  def folder(root: String, kind: String, relation: String): Path =
    new Path(new Path(root, kind), relationFolder(relation))

  /** The folder of an artifact's versions. */
  def versions(artifact: Path): Path = new Path(artifact, "versions")

  /** The folder of a version. */
  def version(artifact: Path, name: String): Path = new Path(versions(artifact), name)

  /**
   * @param relation
   *   an identity, see [[RelationIdentity]]
   * @return
   *   a name of at most 180 ASCII characters, which no other relation has; odd characters, and a `.` or `_` in front,
   *   as `~` and two hex digits for each byte of UTF-8
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

  /** In hex digits. */
  def sha256(bytes: Array[Byte]): String = hex(MessageDigest.getInstance("SHA-256").digest(bytes))

  def hex(bytes: Array[Byte]): String = bytes.map(byte => f"${byte & 0xff}%02x").mkString
}

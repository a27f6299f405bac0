package io.github.sparkjoinery.artifacts

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.types.StructField

/** An artifact that must not be used; the message is the reason, one line. */
class DamagedArtifactException(reason: String) extends RuntimeException(reason)

/**
 * A version that must not be used.
 *
 * @param version
 *   its name; None where the name itself is lost
 */
case class Damage(version: Option[String], reason: String)

/**
 * One version of an artifact: what its `version.json` says. Nothing of its data has been read.
 *
 * @param folder
 *   where it lies
 * @param name
 *   of the version
 * @param standsFor
 *   what is wrong with newer versions of the artifact, if this is not the one that was published last
 */
class ArtifactVersion(val folder: Path, val name: String, json: JsonNode, val standsFor: Seq[Damage] = Nil) {
  import StoreJson._

  def standingFor(newer: Seq[Damage]): ArtifactVersion = new ArtifactVersion(folder, name, json, newer)

  /** What was asked for, as in `meta.joinery`. */
  def spec: JsonNode = child(json, "spec")

  /** Of format 1 there is none. */
  lazy val source: Option[Source] = Option(json.get("source")).filter(_.isObject).map { node =>
    Source(
      text(node, "provider"),
      text(node, "options"),
      elements(node, "schema").map(column => (column.path(0).asText, column.path(1).asText, column.path(2).asText)),
      texts(node, "partition_columns").toSet
    )
  }

  /**
   * Spark's settings when the source was read, None where Spark had none of the name; of older releases there are none
   * at all.
   */
  lazy val settings: Option[Map[String, Option[String]]] = Option(json.get("settings")).filter(_.isObject).map { node =>
    node.properties().asScala.map(setting => setting.getKey -> Option(setting.getValue.textValue)).toMap
  }

  lazy val fingerprint: Fingerprint = {
    val node = child(json, "fingerprint")
    text(node, "type") match {
      case "files" => Files(elements(node, "files").map { file =>
          text(file, "path") -> ((number(file, "length"), number(file, "modified_ms")))
        }.toMap)
      case "snapshot" => Snapshot(Option(node.path("table_id").textValue), text(node, "version"))
      case _ => NoFingerprint(node.path("reason").asText("it is unknown"))
    }
  }

  /**
   * The files of `data/`, of which there is at least one. An entry that is no file of the folder itself refuses the
   * version: whoever passed it over would read less than was written.
   */
  lazy val data: Seq[StoredFile] = {
    val files =
      elements(json, "files").map(file => StoredFile(text(file, "path"), number(file, "length"), text(file, "sha256")))
    def refuse(why: String): Nothing = throw new DamagedArtifactException(s"version $name: $why")
    // a range index has a folder for each of its runs
    val folders = if (field("kind") == RangeIndexVersion.Kind) "(data/run-[0-9]+|state)" else "(data|state)"
    files.map(_.path).find(path => !path.matches(s"$folders/[^/._][^/]*")).foreach { path =>
      refuse(s"its description lists '$path', which is no file of its data")
    }
    if (files.map(_.path).distinct.length < files.length) refuse("its description lists a file twice")
    val found = files.filter(_.path.startsWith("data/"))
    if (found.isEmpty) refuse("its description lists no data")
    found
  }

  /**
   * Files of the source that may have changed while it was read: whether their rows are in the data nobody can tell.
   */
  def uncovered: Long = {
    val node = child(json, "fingerprint")
    if (node.hasNonNull("uncovered")) number(node, "uncovered") else 0
  }

  /** Fields of the kind. */
  def field(name: String): String = text(json, name)
  def count(name: String): Long = number(json, name)
  def has(name: String): Boolean = json.hasNonNull(name)
  def names(name: String): Seq[String] = texts(json, name)
  def lists(name: String): Seq[Seq[String]] = elements(json, name).map(_.elements().asScala.map(_.asText).toSeq)
}

/**
 * How the source was read.
 *
 * @param schema
 *   name and type of each column, and what it is in files that lack it, as SQL; nothing for NULL
 */
case class Source(
    provider: String,
    options: String,
    schema: Seq[(String, String, String)],
    partitionColumns: Set[String])

object Source {

  /** A column of a relation, as `schema` has it. */
  def columnOf(field: StructField): (String, String, String) = {
    val default = "EXISTS_DEFAULT"
    val absent = if (field.metadata.contains(default)) field.metadata.getString(default) else ""
    (field.name, field.dataType.catalogString, absent)
  }
}

case class StoredFile(path: String, length: Long, sha256: String)

/** What the source looked like. */
sealed trait Fingerprint

/** @param files by canonical URI: length, and time of the last change in milliseconds */
case class Files(files: Map[String, (Long, Long)]) extends Fingerprint

/** @param tableId None where versions of different tables never are the same */
case class Snapshot(tableId: Option[String], version: String) extends Fingerprint
case class NoFingerprint(reason: String) extends Fingerprint

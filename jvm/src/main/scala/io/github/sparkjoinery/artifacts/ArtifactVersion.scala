package io.github.sparkjoinery.artifacts

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import org.apache.hadoop.fs.Path

/** The artifact is damaged and must not be used. The message is the reason, on one line. */
class DamagedArtifactException(reason: String) extends RuntimeException(reason)

/**
 * A damaged version and the reason.
 *
 * @param version
 *   its name; None if the name itself cannot be read
 */
case class Damage(version: Option[String], reason: String)

/**
 * The description of one version of an artifact, from its `version.json`. No data has been read yet.
 *
 * @param folder
 *   the folder of the version
 * @param name
 *   the name of the version
 * @param standsFor
 *   damaged newer versions that this one replaces; empty if this is the current version
 */
class ArtifactVersion(val folder: Path, val name: String, json: JsonNode, val standsFor: Seq[Damage] = Nil) {
  import StoreJson._

  def standingFor(newer: Seq[Damage]): ArtifactVersion = new ArtifactVersion(folder, name, json, newer)

  /** The specification, as declared in `meta.joinery`. */
  def spec: JsonNode = child(json, "spec")

  /** How the source was read; None in descriptions of format 1. */
  lazy val source: Option[Source] = Option(json.get("source")).filter(_.isObject).map { node =>
    Source(
      text(node, "provider"),
      text(node, "options"),
      elements(node, "schema").map(column => (column.path(0).asText, column.path(1).asText, column.path(2).asText)),
      texts(node, "partition_columns").toSet
    )
  }

  /**
   * Spark's settings when the source was read; a value is None if the setting was not set. The whole map is None if an
   * older release built the version.
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
   * The files in `data/`, at least one. An entry with any other path makes the version unusable, since skipping the
   * entry would lose rows.
   */
  lazy val data: Seq[StoredFile] = {
    val files =
      elements(json, "files").map(file => StoredFile(text(file, "path"), number(file, "length"), text(file, "sha256")))
    def refuse(why: String): Nothing = throw new DamagedArtifactException(s"version $name: $why")
    // a range index has one folder per sorted run
    val folders = if (field("kind") == RangeIndexVersion.Kind) "(data/run-[0-9]+|state)" else "(data|state)"
    files.map(_.path).find(path => !path.matches(s"$folders/[^/._][^/]*")).foreach { path =>
      refuse(s"its description lists '$path', which is no file of its data")
    }
    if (files.map(_.path).distinct.length < files.length) refuse("its description lists a file twice")
    val found = files.filter(_.path.startsWith("data/"))
    if (found.isEmpty) refuse("its description lists no data")
    found
  }

  /** Number of source files that may have changed while the job read them. Their rows may or may not be in the data. */
  def uncovered: Long = {
    val node = child(json, "fingerprint")
    if (node.hasNonNull("uncovered")) number(node, "uncovered") else 0
  }

  /** A field that only this kind of artifact has. */
  def field(name: String): String = text(json, name)
  def count(name: String): Long = number(json, name)
  def has(name: String): Boolean = json.hasNonNull(name)
  def names(name: String): Seq[String] = texts(json, name)
  def lists(name: String): Seq[Seq[String]] = elements(json, name).map(_.elements().asScala.map(_.asText).toVector)
}

case class StoredFile(path: String, length: Long, sha256: String)

package io.github.sparkjoinery.artifacts

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files => JavaFiles, Path => JavaPath}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.DataFrame

import io.github.sparkjoinery.LastJoinChecks

/** Versions of artifacts as the jobs write them. */
trait StoredArtifacts extends LastJoinChecks {

  protected val mapper = new ObjectMapper()
  protected lazy val store: JavaPath = JavaFiles.createTempDirectory("store")

  /** The folder of a new version of an artifact. */
  protected def newVersion(kind: String, relation: String, spec: ObjectNode): JavaPath = {
    val artifact = JavaPath.of(StoreLayout.folder(store.toString, kind, relation).toString).resolve(hash(kind, spec))
    artifact.resolve("versions").resolve(f"20260101T000000000000Z-${System.nanoTime() & 0xffffffffL}%08x")
  }

  private def hash(kind: String, spec: ObjectNode): String =
    SpecificationHash.of(mapper.createObjectNode().put("kind", kind).set[ObjectNode]("spec", spec))

  /**
   * The description of a version, without its data.
   *
   * @param rows
   *   the relation as Spark reads it
   * @param folder
   *   contains the relation's files. The version covers all of them.
   */
  protected def description(
      version: JavaPath,
      kind: String,
      relation: String,
      spec: ObjectNode,
      rows: DataFrame,
      folder: String,
      provider: String = "parquet",
      options: String = "",
      partitionColumns: Seq[String] = Nil): ObjectNode = {
    val json = mapper.createObjectNode().put("format_version", 2).put("kind", kind).put("relation", relation)
      .put("spec_hash", hash(kind, spec)).put("version", version.getFileName.toString)
    json.set[ObjectNode]("spec", spec)
    val source = json.putObject("source").put("provider", provider).put("options", options)
    val schema = source.putArray("schema")
    rows.schema.map(Source.columnOf).foreach { case (name, dataType, absent) =>
      val column = schema.addArray().add(name).add(dataType)
      if (absent.nonEmpty) column.add(absent)
    }
    val partitions = source.putArray("partition_columns")
    partitionColumns.foreach(partitions.add(_))
    val settings = json.putObject("settings")
    ReadingSettings.current(spark).foreach { case (key, value) => settings.put(key, value.orNull) }
    val covered = json.putObject("fingerprint").put("type", "files").putNull("reason").putArray("files")
    filesBelow(folder).foreach { case (path, length, modified) =>
      covered.addObject().put("path", path).put("length", length).put("modified_ms", modified)
    }
    json
  }

  /** Lists a version's data, which is below this folder of it, in the order of the files' names. */
  protected def listData(version: JavaPath, json: ObjectNode, folder: String = "data"): Seq[String] = {
    val files = json.withArray[com.fasterxml.jackson.databind.node.ArrayNode]("files")
    JavaFiles.list(version.resolve(folder)).iterator.asScala.filter(
      _.toString.endsWith(".parquet")).toVector.sorted.map {
      file =>
        val bytes = JavaFiles.readAllBytes(file)
        val path = s"$folder/${file.getFileName}"
        files.addObject().put("path", path).put("length", bytes.length).put("sha256", StoreLayout.sha256(bytes))
        path
    }
  }

  /** Writes `version.json`, with its own checksum, and `_current.json`. */
  protected def publish(version: JavaPath, json: ObjectNode): Unit = {
    val blank = mapper.writeValueAsString(json.put("own_sha256", "0" * 64))
    val text = mapper.writeValueAsBytes(json.put("own_sha256", StoreLayout.sha256(blank.getBytes(UTF_8))))
    JavaFiles.write(version.resolve("version.json"), text)
    val current = mapper.createObjectNode().put("format_version", 2).put("version", version.getFileName.toString)
      .put("version_sha256", StoreLayout.sha256(text))
    JavaFiles.write(
      version.getParent.getParent.resolve("_current.json"),
      mapper.writeValueAsString(current).getBytes(UTF_8))
  }

  protected def filesBelow(folder: String): Seq[(String, Long, Long)] = {
    val root = new Path(folder)
    val files = root.getFileSystem(spark.sessionState.newHadoopConf()).listFiles(root, true)
    Iterator.continually(files).takeWhile(_.hasNext).map(_.next()).filterNot(_.getPath.getName.startsWith("_"))
      .map(file => (file.getPath.toString, file.getLen, file.getModificationTime)).toSeq
  }

  protected def locationOf(table: String): String =
    spark.sessionState.catalog.getTableMetadata(
      spark.sessionState.sqlParser.parseTableIdentifier(table)).location.toString
}

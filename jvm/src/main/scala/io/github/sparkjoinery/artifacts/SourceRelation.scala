package io.github.sparkjoinery.artifacts

import java.util.Locale

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.datasources.{
  CatalogFileIndex,
  FileIndex,
  HadoopFsRelation,
  InMemoryFileIndex,
  LogicalRelation
}
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.{StructType, TimestampType}

/**
 * A table or path as the query will read it.
 *
 * @param identity
 *   see [[RelationIdentity]]
 * @param leaf
 *   its node in the plan
 * @param schema
 *   the schema of the whole relation, including columns that the query does not use
 * @param partitionColumns
 *   partition columns of a catalog table; their values are in the catalog and in no file
 * @param providers
 *   names of its format
 * @param options
 *   read options that can change which rows are read
 * @param snapshot
 *   the version that a Delta or Iceberg scan will read
 * @param files
 *   the relation to list files of; None for table formats that keep their own list
 */
case class SourceRelation(
    identity: String,
    leaf: LogicalPlan,
    schema: StructType,
    partitionColumns: Set[String],
    providers: Set[String],
    options: Map[String, String],
    snapshot: Option[Snapshot],
    files: Option[HadoopFsRelation]) {

  /** True for a DataSourceV2 table, such as Iceberg's. */
  def isVersioned: Boolean = leaf.isInstanceOf[DataSourceV2Relation]

  def output: AttributeSet = leaf.outputSet

  /** The column's name in the source's own case; a query may use another case. */
  def nameOf(column: Attribute): String = leaf.output.find(_.exprId == column.exprId).fold(column.name)(_.name)

  /**
   * Names the time zone that timestamps among these columns depend on when read. None if there are no timestamps, or if
   * the files store them independently of a time zone.
   */
  def clockOf(columns: Seq[Attribute]): Option[String] = {
    val timestamps = columns.filter(_.dataType == TimestampType)
    if (timestamps.isEmpty) None
    else if (timestamps.exists(column => namedColumns(nameOf(column))))
      Some("the session's time zone from the names of folders")
    else if (providers.exists(SourceRelation.Text)) Some("the session's time zone from text")
    else if (providers("orc")) Some("the time zone of the JVM from ORC")
    else None
  }

  /** Partition columns, whose values Spark parses from folder names. */
  private def namedColumns: Set[String] = files.fold(Set.empty[String])(_.partitionSchema.fieldNames.toSet)
}

object SourceRelation {
  private val Text = Set("csv", "json", "text", "xml")

  /**
   * Describes a leaf of the plan. None for leaves that cannot have artifacts: JDBC, cached and generated data, several
   * paths at once.
   */
  def find(plan: LogicalPlan): Option[SourceRelation] = plan match {
    case relation: LogicalRelation if !relation.isStreaming =>
      relation.relation match {
        case files: HadoopFsRelation => ofFiles(relation, files)
        case _ => None
      }
    case relation: DataSourceV2Relation =>
      for (catalog <- relation.catalog; identifier <- relation.identifier) yield {
        val table = relation.table
        SourceRelation(
          RelationIdentity.text(Some(catalog.name), identifier.namespace.mkString("."), identifier.name),
          relation,
          relation.schema,
          partitionColumns = Set.empty,
          providers = Option(table.properties.get("provider")).map(lower).toSet,
          options = changingRows(relation.options.asScala.toMap),
          snapshot =
            TableSnapshot.versionOf(table).map(version => Snapshot(TableSnapshot.idOf(table), snapshotOf(version))),
          files = None
        )
      }
    case _ => None
  }

  /**
   * Drops the options that only affect speed. Any other option of a DataSourceV2 table may change which rows are read.
   */
  private def changingRows(options: Map[String, String]): Map[String, String] =
    options.filterNot { case (name, _) => Harmless(lower(name)) }

  private val Harmless =
    Set("path", "split-size", "lookback", "file-open-cost", "vectorization-enabled", "batch-size", "locality")

  private def ofFiles(relation: LogicalRelation, files: HadoopFsRelation): Option[SourceRelation] = {
    val table = relation.catalogTable
    val identity = table match {
      case Some(described) => Some(RelationIdentity.text(
          described.identifier.catalog,
          described.identifier.database.getOrElse("default"),
          described.identifier.table))
      case None if files.location.rootPaths.size == 1 =>
        Some(RelationIdentity.ofPath(files.location.rootPaths.head.toString))
      case None => None
    }
    val snapshot = deltaSnapshot(files.location)
    val format = files.fileFormat match {
      case named: DataSourceRegister => lower(named.shortName())
      case other => other.getClass.getName
    }
    identity.map { name =>
      SourceRelation(
        name,
        relation,
        files.schema,
        if (table.isDefined) files.partitionSchema.fieldNames.toSet else Set.empty,
        if (snapshot.isDefined) Set("delta") else table.flatMap(_.provider).map(lower).toSet + format,
        files.options, // for a catalog table, too: the query may have added options
        snapshot,
        Some(files).filter(_ => isListed(files.location))
      )
    }
  }

  /**
   * True if the index is a plain listing of folders. Other indexes decide differently which files belong to the
   * relation.
   */
  private def isListed(index: FileIndex): Boolean =
    index.isInstanceOf[CatalogFileIndex] || index.isInstanceOf[InMemoryFileIndex] || index.isInstanceOf[FrozenFileIndex]

  /**
   * The version of a Delta table that the scan reads. Reflection calls Delta's `SnapshotDescriptor` methods, because
   * Joinery is built without Delta.
   */
  private def deltaSnapshot(index: FileIndex): Option[Snapshot] =
    try {
      def call(target: AnyRef, method: String): AnyRef = target.getClass.getMethod(method).invoke(target)
      val isDelta = Iterator.iterate[Class[_]](index.getClass)(_.getSuperclass).takeWhile(_ != null)
        .exists(_.getName == "org.apache.spark.sql.delta.files.TahoeFileIndex")
      if (isDelta) Some(Snapshot(Some(call(call(index, "metadata"), "id").toString), call(index, "version").toString))
      else None
    } catch {
      // an unknown Delta release: without a snapshot and without listed files the query gets no filter
      case _: ReflectiveOperationException => None
    }

  /** Drops the branch from Iceberg's version, since the snapshot alone determines the rows. */
  private def snapshotOf(version: String): String = version.replaceFirst("^branch_.*_snapshot_", "")

  private def lower(text: String): String = text.toLowerCase(Locale.ROOT)
}

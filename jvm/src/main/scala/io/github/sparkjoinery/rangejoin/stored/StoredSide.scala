package io.github.sparkjoinery.rangejoin.stored

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.joinery.SparkSession
import org.apache.spark.sql.types._

import io.github.sparkjoinery.artifacts._
import io.github.sparkjoinery.planning.plans.ParsedText

/**
 * A side of a join that only filters and projects a relation, so that a stored index of the relation can replace it.
 *
 * @param plan
 *   the side
 * @param columns
 *   the side's columns, over the relation's columns
 * @param predicates
 *   the side's predicates, over the relation's columns
 */
private[rangejoin] class StoredSide(
    plan: LogicalPlan,
    columns: Seq[NamedExpression],
    predicates: Seq[Expression],
    source: SourceRelation,
    session: SparkSession) {
  private val used = AttributeSet((columns ++ predicates).flatMap(_.references)).toSeq
  private val names = used.map(source.nameOf).toSet

  /**
   * Returns why an index cannot replace the side, as far as that shows without listing files.
   *
   * @param start
   *   the value by which the join indexes the side's rows
   */
  def unfit(version: ArtifactVersion, start: Expression): Option[String] = {
    val computed = columns ++ predicates
    lazy val startOfRelation = start.transform {
      case column: Attribute => columns.find(_.exprId == column.exprId).collect { case alias: Alias => alias.child }
          .getOrElse(column)
    }
    if (!version.has("columns")) Some("an older release built it: refresh it")
    else if (!startOfRelation.references.exists(source.nameOf(_) == RangeIndexVersion.sortedBy(version).head))
      Some("the join does not compare its first column")
    else names.diff(RangeIndexVersion.columns(version).toSet).toSeq.sorted.headOption
      .map(missing => s"it lacks the column $missing")
      .orElse(if (used.forall(source.output.contains)) None
      else Some("the query reads columns that are not in the files"))
      .orElse(names.find(source.partitionColumns).map(column =>
        s"$column is a partition column, whose values can be changed without any file"))
      .orElse(used.find(column => !StoredSide.isStored(column)).map(column =>
        s"columns of type ${column.dataType.sql} are not read from it"))
      .orElse(if (computed.forall(isPlain)) None else Some("the side computes what cannot be computed on its rows"))
      .orElse(source.files.flatMap(ParsedText.differs(_, names, RangeIndexVersion.columns(version).toSet)))
      .orElse(Validity.mismatch(version, source))
      .orElse(ReadingSettings.ofColumns(version, session)(names))
      .orElse(source.clockOf(used).map(clock => s"it has timestamps, which are read by $clock"))
  }

  private def isPlain(expression: Expression): Boolean =
    expression.deterministic && !SubqueryExpression.hasSubquery(expression) && !expression.exists {
      case _: Attribute => false
      case _: Unevaluable | _: UserDefinedExpression => true
      case _ => false
    }

  /**
   * Opens the index if all files that it was built from are still unchanged in the relation. Newer files may have been
   * added.
   */
  def index(version: ArtifactVersion, store: StoreAccess): Either[String, StoredRangeIndex] =
    store.begin(version.folder.toString, Validity.slowListing(source)) {
      Validity.filesSince(version, source, session).flatMap(added(version, _)).map { added =>
        new StoredRangeIndex(
          s"the range index of ${source.identity}${StoredSide.nameOf(version)}",
          StoredRows.load(version, columns, predicates.reduceOption(And(_, _)), source.leaf.output, session),
          () => StoredSide.check(version, store),
          isShared(version),
          plan,
          added,
          session
        )
      }
    }.await().flatMap(identity)

  /**
   * Restricts the side to files that the index does not cover. Returns a reason if they are too large a part of the
   * source.
   */
  private def added(version: ArtifactVersion, files: Set[String]): Either[String, Option[LogicalPlan]] =
    if (files.isEmpty) Right(None)
    else {
      val relation = source.files.get
      val some = new FileSubsetIndex(relation.location, files)
      if (some.sizeInBytes * StoredSide.LeastStored > relation.location.sizeInBytes)
        Left(s"${files.size} files of the source are new: refresh it")
      else Right(Some(plan.transform {
        case leaf: LogicalRelation if leaf eq source.leaf =>
          leaf.copy(relation = relation.copy(location = some)(session))
      }))
    }

  /** True if executors can read the store. */
  private def isShared(version: ArtifactVersion): Boolean =
    session.sparkContext.isLocal || version.folder.toUri.getScheme != "file"
}

private[rangejoin] object StoredSide {

  // Paths of verified versions. One check is enough: versions never change, and reads verify Parquet page checksums.
  private val checked = ConcurrentHashMap.newKeySet[String]()

  /** Verifies a version's data, once in this process. */
  private def check(version: ArtifactVersion, store: StoreAccess): Unit =
    if (!checked.contains(version.folder.toString)) {
      store.files.check(version)
      checked.add(version.folder.toString)
    }

  /** Names the columns that an index is sorted by, for messages. */
  def nameOf(version: ArtifactVersion): String =
    if (version.has("sorted_by")) RangeIndexVersion.sortedBy(version).mkString(" (", ", ", ")") else ""

  /** An index is used if the new files are at most one part in `LeastStored` of the source's bytes. */
  val LeastStored = 4

  /** True if Parquet files of the store return the column's values exactly as they were. */
  def isStored(column: Attribute): Boolean = !column.metadata.contains("__CHAR_VARCHAR_TYPE_STRING") &&
    (column.dataType match {
      case BooleanType | ByteType | ShortType | IntegerType | LongType | FloatType | DoubleType => true
      case DateType | TimestampType | TimestampNTZType | BinaryType => true
      case _: DecimalType | _: StringType | _: YearMonthIntervalType | _: DayTimeIntervalType => true
      case _ => false
    })
}

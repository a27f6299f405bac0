package io.github.sparkjoinery.rangejoin.stored

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildSide}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types._

import io.github.sparkjoinery.artifacts._
import io.github.sparkjoinery.rangejoin.RangeTerms

/** Looks for a range index of the artifact store that can stand for a side of a join. */
private[stored] object StoredRangeSearch {

  /** The indexes of a side's relation: one that will do, or the reason why one does not, for each. */
  def apply(
      join: Join,
      buildSide: BuildSide,
      terms: RangeTerms,
      hasKeys: Boolean,
      store: StoreAccess,
      session: SparkSession): Seq[Either[String, StoredRangeIndex]] = {
    val plan = if (buildSide == BuildLeft) join.left else join.right
    plan match {
      case PhysicalOperation(columns, predicates, leaf) =>
        SourceRelation.of(leaf).toSeq.flatMap { source =>
          val side = new StoredSide(plan, columns, predicates, source, session)
          val versions = store.begin(s"range indexes of ${source.identity}") {
            ArtifactStore.versions(store, RangeIndexVersion.Kind, source.identity)
          }.await()
          versions.fold(
            reason => Seq(Left(s"no range index of ${source.identity}: $reason")),
            _.map(_.left.map(unused(source, "", _)).flatMap { version =>
              val why =
                try side.unfit(version, terms).orElse(StoredRangeCost.dear(join, buildSide, hasKeys, version, session))
                catch { case StoreAccess.Trouble(damage) => Some(StoreAccess.reason(damage)) }
              why.toLeft(version).flatMap(side.index(_, store)).left.map(unused(source, nameOf(version), _))
            })
          )
        }
      case _ => Nil
    }
  }

  private def unused(source: SourceRelation, columns: String, reason: String): String =
    s"the range index of ${source.identity}$columns is not used: $reason"

  def nameOf(version: ArtifactVersion): String =
    if (version.has("sorted_by")) RangeIndexVersion.sortedBy(version).mkString(" (", ", ", ")") else ""
}

/**
 * A side of a join whose rows are rows of a relation.
 *
 * @param plan
 *   the side
 * @param columns
 *   of the side, over the relation's
 * @param predicates
 *   that its rows pass, over the relation's columns
 */
private[stored] class StoredSide(
    plan: LogicalPlan,
    columns: Seq[NamedExpression],
    predicates: Seq[Expression],
    source: SourceRelation,
    session: SparkSession) {
  private val used = AttributeSet((columns ++ predicates).flatMap(_.references)).toSeq
  private val names = used.map(_.name).toSet

  /** Why an index cannot stand for the side, as far as that can be told without listing files. */
  def unfit(version: ArtifactVersion, terms: RangeTerms): Option[String] = {
    val computed = columns ++ predicates
    lazy val start = terms.bounds.head.indexed.transform {
      case column: Attribute => columns.find(_.exprId == column.exprId).collect { case alias: Alias => alias.child }
          .getOrElse(column)
    }
    if (!version.has("columns")) Some("an older release built it: refresh it")
    else if (!start.references.exists(_.name == RangeIndexVersion.sortedBy(version).head))
      Some(s"the join does not compare its first column")
    else names.diff(RangeIndexVersion.columns(version).toSet).toSeq.sorted.headOption
      .map(missing => s"it lacks the column $missing")
      .orElse(if (used.forall(source.output.contains)) None
      else Some("the query reads columns that are not in the files"))
      .orElse(names.find(source.partitionColumns).map(column =>
        s"$column is a partition column, whose values can be changed without any file"))
      .orElse(used.find(column => !StoredSide.isStored(column)).map(column =>
        s"columns of type ${column.dataType.sql} are not read from it"))
      .orElse(if (computed.forall(isPlain)) None else Some("the side computes what cannot be computed on its rows"))
      .orElse(Validity.mismatch(version, source))
      .orElse(ReadingSettings.ofColumns(version, session)(names))
      .orElse(source.clockOf(used.map(_.dataType)).map(clock => s"it has timestamps, which are read by $clock"))
  }

  private def isPlain(expression: Expression): Boolean =
    expression.deterministic && !SubqueryExpression.hasSubquery(expression) && !expression.exists {
      case _: Attribute => false
      case _: Unevaluable | _: UserDefinedExpression => true
      case _ => false
    }

  /** The index, if the files of the relation are those that it was built from, or more. */
  def index(version: ArtifactVersion, store: StoreAccess): Either[String, StoredRangeIndex] =
    store.begin(version.folder.toString, Validity.slowListing(source)) {
      Validity.filesSince(version, source, session).flatMap(added(version, _)).map { added =>
        new StoredRangeIndex(
          s"the range index of ${source.identity}${StoredRangeSearch.nameOf(version)}",
          StoredRows.of(version, columns, predicates.reduceOption(And(_, _)), source.leaf.output, session),
          () => store.files.check(version),
          isShared(version),
          plan,
          added,
          session
        )
      }
    }.await().flatMap(identity)

  /** The side, of the files that the index does not have; or why they are too much. */
  private def added(version: ArtifactVersion, files: Set[String]): Either[String, Option[LogicalPlan]] =
    if (files.isEmpty) Right(None)
    else {
      val relation = source.files.get
      val some = new SomeFiles(relation.location, files)
      if (some.sizeInBytes * StoredSide.LeastStored > relation.location.sizeInBytes)
        Left(s"${files.size} files of the source are new: refresh it")
      else Right(Some(plan.transform {
        case leaf @ LogicalRelation(_: HadoopFsRelation, _, _, _, _) if leaf eq source.leaf =>
          leaf.copy(relation = relation.copy(location = some)(session))
      }))
    }

  /** Whether executors see the store as the driver does. */
  private def isShared(version: ArtifactVersion): Boolean =
    session.sparkContext.isLocal || version.folder.toUri.getScheme != "file"
}

private object StoredSide {

  /** Of the source, in files that the index has, times the share of those that are new. */
  val LeastStored = 4

  /** Whether a column comes out of a Parquet file of the store as it went in. */
  def isStored(column: Attribute): Boolean = !column.metadata.contains("__CHAR_VARCHAR_TYPE_STRING") &&
    (column.dataType match {
      case BooleanType | ByteType | ShortType | IntegerType | LongType | FloatType | DoubleType => true
      case DateType | TimestampType | TimestampNTZType | BinaryType => true
      case _: DecimalType | _: StringType | _: YearMonthIntervalType | _: DayTimeIntervalType => true
      case _ => false
    })
}

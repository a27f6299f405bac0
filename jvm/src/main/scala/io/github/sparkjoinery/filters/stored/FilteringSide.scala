package io.github.sparkjoinery.filters.stored

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}

import io.github.sparkjoinery.artifacts.{ArtifactVersion, SourceRelation}
import io.github.sparkjoinery.expressions.HashedKey
import io.github.sparkjoinery.filters.logical.Equalities
import io.github.sparkjoinery.planning.plans.ParsedText

/**
 * The creation side of a stored filter: a side of a join that only projects and filters a relation.
 *
 * @param source
 *   the relation
 * @param predicates
 *   predicates that all rows of the side satisfy, over the relation's columns
 * @param keys
 *   columns of the relation with the keys of the other side that they are compared with
 * @param other
 *   the application side
 */
case class FilteringSide(
    source: SourceRelation,
    predicates: Seq[Expression],
    keys: Seq[(Attribute, Expression)],
    other: LogicalPlan) extends PredicateHelper {

  /** Returns the keys that the filter hashes, for both sides, or the reason why the filter does not fit. */
  def keysFor(version: ArtifactVersion): Either[String, Seq[HashedPair]] = {
    val names = version.spec.path("keys")
    val types = version.names("key_types")
    val columns = (0 until names.size).map(names.get(_).asText)
    val found = columns.zip(types).map { case (name, hashed) =>
      keys.find { case (column, key) =>
        source.nameOf(column) == name && HashedKey.typeOf(column.dataType).exists(_.catalogString == hashed) &&
        HashedKey.typeOf(column.dataType) == HashedKey.typeOf(key.dataType)
      }.flatMap { case (column, key) =>
        for (mine <- HashedKey.hashable(column); theirs <- HashedKey.hashable(key)) yield HashedPair(mine, theirs)
      }
    }
    if (columns.isEmpty || types.length != columns.length || !found.forall(_.isDefined)) {
      Left(s"its keys (${columns.mkString(", ")}) are not all joined on")
    } else if (!columns.forall(name =>
        keys.exists { case (column, key) =>
          source.nameOf(column) == name && Equalities.isHarmless(key, other)
        })) {
      Left("the other side's key is long, or computed above a join or by a function of the user's")
    } else if (columns.exists(source.partitionColumns)) {
      Left("its keys are partition columns, whose values can be changed without any file")
    } else if (columns.exists(name => source.files.exists(ParsedText.isCorruptRecord(_, name)))) {
      Left("its keys are corrupt records: which rows have one depends on the columns that are read")
    } else {
      source.clockOf(keys.collect { case (column, _) if columns.contains(source.nameOf(column)) => column })
        .map(clock => s"its keys are timestamps, which are read by $clock").toLeft(found.flatten)
    }
  }
}

object FilteringSide extends PredicateHelper {

  /**
   * The creation side of a join, if it only projects and filters a relation and is joined on its columns.
   *
   * @param side
   *   the creation side
   * @param other
   *   the application side
   */
  def find(join: Join, side: LogicalPlan, other: LogicalPlan): Option[FilteringSide] = side match {
    case PhysicalOperation(columns, predicates, relation) =>
      for {
        source <- SourceRelation.find(relation)
        pairs = Equalities.pairsIn(join.condition, side, other)
        aliases = getAliasMap(columns)
        keys = pairs.flatMap { case (mine, others) =>
          HashedKey.column(replaceAlias(mine, aliases)).filter(c => source.output.contains(c) && !isPadded(c)).map(
            column => (column, others))
        }
        if keys.nonEmpty
      } yield FilteringSide(source, predicates.flatMap(splitConjunctivePredicates), keys, other)
    case _ => None
  }

  /** True for char(n), whose padding depends on the reader. */
  private def isPadded(column: Attribute): Boolean = column.metadata.contains("__CHAR_VARCHAR_TYPE_STRING")
}

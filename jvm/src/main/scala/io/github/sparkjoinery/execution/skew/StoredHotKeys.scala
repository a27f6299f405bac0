package io.github.sparkjoinery.execution.skew

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.{Left => _, _}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, SinglePartition}
import org.apache.spark.sql.execution.adaptive.{LogicalQueryStage, ShuffleQueryStageExec}
import org.apache.spark.sql.joinery.SparkSession

import io.github.sparkjoinery.artifacts.{ArtifactStore, Distribution, SourceRelation, StoreAccess}

/** Reads the hot keys of a relation from the distribution in the artifact store, so that no sample is needed. */
object StoredHotKeys extends AliasHelper with Logging {

  /**
   * Evaluates expressions at the boundaries of each hot key.
   *
   * @param columns
   *   expressions over the side's columns; they may use the keys and the columns of `time`
   * @return
   *   the relation's identity, and per boundary the values of `columns` and the number of rows that it represents
   */
  def boundaries(
      side: Option[LogicalPlan],
      keys: Seq[Expression],
      time: Expression,
      columns: Seq[Expression]): Option[(String, Seq[(Seq[Any], Double)])] =
    try {
      for {
        access <- StoreAccess.open(SparkSession.active)
        plan <- side
        (source, aliases) <- relationBelow(plan)
        distribution <- find(access, source, keys.map(replaceAlias(_, aliases)), replaceAlias(time, aliases))
      } yield {
        def value(expression: Expression, of: Map[String, Any]): Any = replaceAlias(expression, aliases).transform {
          case column: AttributeReference => Literal(of(source.nameOf(column)), column.dataType)
        }.eval()
        val rows =
          for (hot <- distribution.hot; key = distribution.keys.zip(hot.key).toMap; at <- hot.boundaries) yield {
            val row = key + (distribution.time -> at)
            (columns.map(value(_, row)), hot.rows.toDouble / (hot.boundaries.length + 1))
          }
        (source.identity, rows)
      }
    } catch {
      case StoreAccess.Trouble(failure) =>
        logInfo("no stored distribution for a skewed shuffle", failure)
        None
    }

  /** Returns the expression that computes a key's partition in the shuffle. */
  def partitioner(stage: ShuffleQueryStageExec, keys: Seq[Expression]): Option[Expression] =
    stage.shuffle.outputPartitioning match {
      case hashed: HashPartitioning => Some(HashPartitioning(keys, hashed.numPartitions).partitionIdExpression)
      case SinglePartition if keys.isEmpty => Some(Literal(0))
      case _ => None
    }

  private def relationBelow(side: LogicalPlan): Option[(SourceRelation, AttributeMap[Alias])] = side match {
    case stage: LogicalQueryStage => relationBelow(stage.logicalPlan)
    case PhysicalOperation(columns, _, relation) => SourceRelation.find(relation).map((_, getAliasMap(columns)))
    case _ => None
  }

  /** Finds the distribution whose key and time columns are exactly these. */
  private def find(
      access: StoreAccess,
      source: SourceRelation,
      keys: Seq[Expression],
      time: Expression): Option[Distribution] = {
    def columnsOf(expressions: Seq[Expression]): Set[String] =
      AttributeSet.fromAttributeSets(expressions.map(_.references)).filter(source.output.contains).map(
        source.nameOf).toSet
    val loaded = access.begin(s"${Distribution.Kind} ${source.identity}") {
      val fitting = ArtifactStore.versions(access, Distribution.Kind, source.identity).filter(_.forall { version =>
        val (partitionBy, orderBy) = Distribution.columns(version)
        partitionBy.toSet == columnsOf(keys) && Set(orderBy) == columnsOf(Seq(time))
      })
      fitting.map(_.flatMap(ArtifactStore.distribution(access, _, source)))
    }.await()
    val found = loaded.fold(reason => Seq(Left(reason)), identity)
    found.flatMap(_.left.toOption).foreach { reason =>
      logInfo(s"a distribution of ${source.identity} is not used for a skewed shuffle: $reason")
    }
    found.flatMap(_.toOption).headOption
  }
}

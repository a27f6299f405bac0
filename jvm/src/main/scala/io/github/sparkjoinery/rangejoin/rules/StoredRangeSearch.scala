package io.github.sparkjoinery.rangejoin.rules

import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildSide}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.joinery.SparkSession

import io.github.sparkjoinery.artifacts._
import io.github.sparkjoinery.rangejoin.logical.RangeTerms
import io.github.sparkjoinery.rangejoin.stored.{StoredRangeIndex, StoredSide}

/** Looks for a range index in the artifact store that can replace a side of a join. */
private[rangejoin] object StoredRangeSearch {

  /** The range indexes of a side's relation: each is a usable index, or the reason why it cannot be used. */
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
        SourceRelation.find(leaf).toSeq.flatMap { source =>
          val side = new StoredSide(plan, columns, predicates, source, session)
          val versions = store.begin(s"range indexes of ${source.identity}") {
            ArtifactStore.versions(store, RangeIndexVersion.Kind, source.identity)
          }.await()
          versions.fold(
            reason => Seq(Left(s"no range index of ${source.identity}: $reason")),
            _.map(_.left.map(unused(source, "", _)).flatMap { version =>
              val why =
                try side.unfit(version, terms.bounds.head.indexed).orElse(StoredRangeCost.dear(
                    join,
                    buildSide,
                    hasKeys,
                    version,
                    session))
                catch { case StoreAccess.Trouble(damage) => Some(StoreAccess.reason(damage)) }
              why.toLeft(version).flatMap(side.index(_, store)).left.map(unused(source, StoredSide.nameOf(version), _))
            })
          )
        }
      case _ => Nil
    }
  }

  private def unused(source: SourceRelation, columns: String, reason: String): String =
    s"the range index of ${source.identity}$columns is not used: $reason"
}

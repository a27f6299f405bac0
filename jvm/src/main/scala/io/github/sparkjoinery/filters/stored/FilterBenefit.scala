package io.github.sparkjoinery.filters.stored

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.joinery.JoineryConf

import io.github.sparkjoinery.artifacts.ArtifactVersion
import io.github.sparkjoinery.filters.logical.FilterableJoin

/** Estimates if a filter saves more than it costs. */
object FilterBenefit {

  /** Returns the reason why the filter would not pay off; None if it would. */
  def missing(join: Join, side: FilteringSide, version: ArtifactVersion): Option[String] = {
    val size = side.other.stats.sizeInBytes
    val least = JoineryConf.runtimeFilterMinSize
    if (FilterableJoin.isBroadcast(join))
      Some("the join is a broadcast join, which shuffles no rows that could be dropped")
    else if (size < least)
      Some(s"the side to filter is small ($size bytes, spark.joinery.runtimeFilter.applicationSideMinSize is $least)")
    else distinctKeys(side).filter(_ <= version.count("keys")).map { distinct =>
      s"it has ${version.count("keys")} keys, and the side to filter has no more than $distinct, so that few rows would be dropped"
    }
  }

  /** Estimates the most distinct keys of the application side, if statistics are known. */
  private def distinctKeys(side: FilteringSide): Option[BigInt] = {
    val stats = side.other.stats
    val ofKey = side.keys match {
      case Seq((_, key: Attribute)) => stats.attributeStats.get(key).flatMap(_.distinctCount)
      case _ => None
    }
    ofKey.orElse(stats.rowCount)
  }
}

package io.github.sparkjoinery.planning.plans

import org.apache.spark.sql.catalyst.plans.logical._

/**
 * Joinery's hints on one side of a join.
 *
 * @param names
 *   the names of the hints
 * @param strategy
 *   Spark's hint on the same side
 */
class JoineryHint(val names: Set[String], strategy: Option[JoinStrategyHint]) extends HintInfo(strategy) {
  override def merge(other: HintInfo, handler: HintErrorHandler): HintInfo =
    new JoineryHint(names ++ JoineryHint.namesOf(other), super.merge(other, handler).strategy)
  // Not equal to a hint of Spark alone, or Spark would keep that one.
  override def canEqual(that: Any): Boolean = that.isInstanceOf[JoineryHint]
  override def equals(that: Any): Boolean = that match {
    case hint: JoineryHint => hint.names == names && super.equals(that)
    case _ => false
  }
  override def hashCode(): Int = super.hashCode() + names.hashCode
  override def toString: String = (names.toSeq.sorted ++ strategy.map(_.displayName)).mkString(", ")
}

object JoineryHint {
  private def namesOf(hint: HintInfo): Set[String] = hint match {
    case hint: JoineryHint => hint.names
    case _ => Set.empty
  }

  /** True if one side of a join has a hint. */
  def isOn(name: String, side: Option[HintInfo]): Boolean = side.exists(namesOf(_).contains(name))
}

package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/**
 * Marks a `LastJoin` without ORDER BY whose right columns the query is sorted by directly after ON: most likely that
 * ORDER BY was meant to say which row is last.
 */
object OrderAfterOn {
  private val Tag = TreeNodeTag[Unit]("joinery_order_after_on")

  val Note: String = "it has no ORDER BY of its own, so any match is taken; the ORDER BY after ON sorts the result. " +
    "To choose the last row, write LAST JOIN ... ORDER BY ... ON ..."

  /** @param join the join, which has no order */
  def mark(join: LastJoin): Unit = join.setTagValue(Tag, ())

  /** What there is to say about a join, as an addition to other words about it. */
  def noteOn(join: LastJoin): String = join.getTagValue(Tag).map(_ => s"; $Note").getOrElse("")
}

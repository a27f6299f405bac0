package io.github.sparkjoinery.lastjoin.logical

import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/**
 * Marks a `LastJoin` without ORDER BY whose result is sorted by right columns directly after ON. The user most likely
 * meant that ORDER BY to choose the last row.
 */
object OrderAfterOn {
  private val Tag = TreeNodeTag[Unit]("joinery_order_after_on")

  val Note: String = "it has no ORDER BY of its own, so any match is taken; the ORDER BY after ON sorts the result. " +
    "To choose the last row, write LAST JOIN ... ORDER BY ... ON ..."

  /** @param join a join without an order */
  def mark(join: LastJoin): Unit = join.setTagValue(Tag, ())

  /** Returns the note as an addition to other text about the join; empty if the join is not marked. */
  def noteOn(join: LastJoin): String = join.getTagValue(Tag).map(_ => s"; $Note").getOrElse("")
}

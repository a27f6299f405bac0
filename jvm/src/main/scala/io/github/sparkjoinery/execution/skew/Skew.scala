package io.github.sparkjoinery.execution.skew

import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive._
import org.apache.spark.sql.execution.exchange.ENSURE_REQUIREMENTS
import org.apache.spark.sql.internal.SQLConf

/**
 * How Spark's own rule for skewed joins looks at one side: which partitions of a shuffle are skewed
 * (`spark.sql.adaptive.skewJoin.*`).
 *
 * @param minPartition
 *   bytes, in place of Spark's threshold
 * @param minPart
 *   bytes that a part of a skewed partition is to have at least; Spark's advisory size as a rule
 */
private[sparkjoinery] class Skew(
    stage: ShuffleQueryStageExec,
    minPartition: Long,
    minPart: Long = SQLConf.get.getConf(SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES)) {
  private val conf = SQLConf.get
  val sizes: Array[Long] = stage.mapStats.get.bytesByPartitionId
  private val median = { val sorted = sizes.sorted; sorted(sorted.length / 2).max(1) }
  private val threshold = minPartition.max((median * conf.getConf(SQLConf.SKEW_JOIN_SKEWED_PARTITION_FACTOR)).toLong)
  private val target = {
    val even = sizes.filter(_ <= threshold)
    if (even.isEmpty) minPart else minPart.max(even.sum / even.length)
  }

  def isSkewed(i: Int): Boolean = sizes(i) > threshold
  def any: Boolean = sizes.indices.exists(isSkewed)
  def parts(i: Int): Int = if (isSkewed(i)) math.max(2, ((sizes(i) + target - 1) / target).min(1 << 16).toInt) else 1
  def whole(i: Int): CoalescedPartitionSpec = CoalescedPartitionSpec(i, i + 1, sizes(i))
  def byMapper(i: Int): Seq[ShufflePartitionSpec] = {
    val split =
      if (isSkewed(i)) ShufflePartitionsUtil.createSkewPartitionSpecs(stage.mapStats.get.shuffleId, i, target) else None
    split.getOrElse(Seq(whole(i)))
  }
}

private[sparkjoinery] object Skew {

  /**
   * Whether the sizes of a shuffle's partitions are known, nobody asked for just these partitions, and it is one of
   * rows.
   */
  def isKnown(stage: ShuffleQueryStageExec): Boolean =
    stage.isMaterialized && stage.mapStats.isDefined && stage.shuffle.shuffleOrigin == ENSURE_REQUIREMENTS &&
      !stage.supportsColumnar
}

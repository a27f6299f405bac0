package io.github.sparkjoinery.execution.skew

import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive._
import org.apache.spark.sql.execution.exchange.ENSURE_REQUIREMENTS
import org.apache.spark.sql.internal.SQLConf

/**
 * Decides which partitions of a shuffle are skewed, as Spark's rule for skewed joins does
 * (`spark.sql.adaptive.skewJoin.*`).
 *
 * @param minPartition
 *   smallest skewed partition in bytes, in place of Spark's threshold
 * @param minPart
 *   smallest part of a skewed partition in bytes; Spark's advisory size by default
 */
private[sparkjoinery] class SkewDetector(
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

private[sparkjoinery] object SkewDetector {

  /**
   * True if the shuffle's partition sizes are known, Spark and not the user asked for the shuffle, and it shuffles rows
   * instead of columnar batches.
   */
  def isKnown(stage: ShuffleQueryStageExec): Boolean =
    stage.isMaterialized && stage.mapStats.isDefined && stage.shuffle.shuffleOrigin == ENSURE_REQUIREMENTS &&
      !stage.supportsColumnar
}

package io.github.sparkjoinery.execution.skew

/** Settings under which adaptive execution finds partitions of a few KB skewed. */
trait SkewedPartitions {

  /** A shuffle has five partitions, and none is coalesced with others. */
  protected val FewPartitions: Seq[(String, String)] = Seq(
    "spark.sql.adaptive.enabled" -> "true",
    "spark.sql.shuffle.partitions" -> "5",
    "spark.sql.adaptive.coalescePartitions.enabled" -> "false"
  )

  /** A partition is skewed if it is half as large again as the median, and has parts of a few KB. */
  protected val SmallParts: Seq[(String, String)] = Seq(
    "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "4KB",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor" -> "1.5"
  )

  /** Settings for joins whose sides are both shuffled. */
  protected val SkewedJoins: Seq[(String, String)] = FewPartitions ++ SmallParts ++ Seq(
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" -> "2KB"
  )
}

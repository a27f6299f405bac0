package org.apache.spark.sql.joinery

import java.util.Locale
import java.util.concurrent.TimeUnit

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.internal.SQLConf

/**
 * Every setting of Joinery, with its meaning and default. They are registered with Spark, so `SET -v` lists them and
 * `SET` rejects wrong values. (This object is in Spark's package because Spark's config builder is private to it.)
 */
object JoineryConf {

  private def boolean(key: String, doc: String, default: Boolean): ConfigEntry[Boolean] =
    SQLConf.buildConf(key).doc(doc).version("joinery 0.1.0").booleanConf.createWithDefault(default)

  private def bytes(key: String, doc: String, default: String): ConfigEntry[Long] =
    SQLConf.buildConf(key).doc(doc).version("joinery 0.1.0").bytesConf(ByteUnit.BYTE).createWithDefaultString(default)

  private val LAST_JOIN_ENABLED = boolean(
    "spark.joinery.lastJoin.enabled",
    "Read `FROM t LAST JOIN r` as a LAST JOIN. When false, as stock Spark does: an inner join of t AS last.",
    default = true
  )

  private val LAST_JOIN_MAX_HASH_PARTITION = bytes(
    "spark.joinery.lastJoin.maxHashPartition",
    "Largest partition of the right side of a LAST JOIN for ShuffledHashLastJoin, rather than SortMergeLastJoin. -1: " +
      "only under a hint.",
    default = "128MB"
  )

  private val LAST_JOIN_MAX_BROADCAST = bytes(
    "spark.joinery.lastJoin.maxBroadcast",
    "Largest right side of a LAST JOIN, in memory, that is broadcast, even under a hint. " +
      "spark.sql.maxBroadcastTableSize holds, too.",
    default = "512MB"
  )

  private val LAST_JOIN_SKEW_SPLIT = boolean(
    "spark.joinery.lastJoin.skewSplit.enabled",
    "Split skewed partitions of a LAST JOIN among several tasks, under adaptive execution.",
    default = true
  )

  private val ASOF_JOIN_ENABLED = boolean(
    "spark.joinery.asofJoin.enabled",
    "Run ASOF JOIN, in SQL (even on Spark 4.1) and from DataFrames, with the operators of LAST JOIN.",
    default = true
  )

  private val RANGE_JOIN_ENABLED = boolean(
    "spark.joinery.rangeJoin.enabled",
    "Run range joins (point in interval, overlap, one inequality) with an index on one side.",
    default = true
  )

  private val RANGE_JOIN_MAX_BROADCAST = bytes(
    "spark.joinery.rangeJoin.maxBroadcast",
    "Largest index of a range join, in memory, that is broadcast, even under a hint. A third of the driver's heap " +
      "and spark.sql.maxBroadcastTableSize hold, too.",
    default = "1GB"
  )

  // For tests: a small value makes several index parts of a few rows.
  private val RANGE_JOIN_MAX_INDEX = SQLConf.buildConf("spark.joinery.rangeJoin.maxIndexPart")
    .internal()
    .doc(
      "Largest index that a task of ShuffledRangeJoin builds at a time, if its memory allows as much. A task with more " +
        "rows indexes them part by part, and reads the other side's rows once for each.")
    .version("joinery 0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .createWithDefaultString("4GB")

  private val RANGE_JOIN_STORED_INDEX = boolean(
    "spark.joinery.rangeJoin.storedIndex.enabled",
    "Load a valid range index from the artifact store into BroadcastRangeJoin instead of building one, if that is " +
      "cheaper.",
    default = true
  )

  private val RANGE_JOIN_SKEW_SPLIT = boolean(
    "spark.joinery.rangeJoin.skewSplit.enabled",
    "Split skewed partitions of ShuffledRangeJoin among several tasks, under adaptive execution.",
    default = true
  )

  private val EXPLAIN = boolean(
    "spark.joinery.explain",
    "Show in EXPLAIN which operator runs each join and window, or why Joinery left it to Spark.",
    default = false)

  private val STORE = SQLConf.buildConf("spark.joinery.store")
    .doc("Root directory of the artifact store, on any Hadoop file system.")
    .version("joinery 0.1.0")
    .stringConf
    .createOptional

  private val STORE_TIMEOUT = SQLConf.buildConf("spark.joinery.store.timeout")
    .doc("Longest wait of a query's planning for the artifact store. The rest is read in the background, for later " +
      "queries.")
    .version("joinery 0.1.0")
    .timeConf(TimeUnit.MILLISECONDS)
    .checkValue(_ >= 0, "The time must not be negative.")
    .createWithDefaultString("2s")

  private val STORE_MAX_ARTIFACT_SIZE = bytes(
    "spark.joinery.store.maxArtifactSize",
    "Largest artifact that a query's planning takes into the driver's memory, by its files or its filter.",
    default = "64MB"
  )

  private val RUNTIME_FILTER_ENABLED = boolean(
    "spark.joinery.runtimeFilter.enabled",
    "Drop rows that match nothing before a join shuffles them, by a filter of the other side's keys.",
    default = true
  )

  private val RUNTIME_FILTER_BUILD_ENABLED = boolean(
    "spark.joinery.runtimeFilter.build.enabled",
    "Let queries build filters. When false, only filters from spark.joinery.store are used.",
    default = true
  )

  private val RUNTIME_FILTER_MAX_KEYS = SQLConf.buildConf("spark.joinery.runtimeFilter.maxKeys")
    .doc("Most distinct keys of a filter that the query builds. If there are more, only bounds of them are used.")
    .version("joinery 0.1.0")
    .intConf
    .checkValue(keys => keys > 0 && keys <= 50000000, "The number must be between 1 and 50,000,000.")
    .createWithDefault(1000000)

  private val RUNTIME_FILTER_MIN_SIZE = bytes(
    "spark.joinery.runtimeFilter.applicationSideMinSize",
    "Smallest side of a join, in estimated bytes, that is worth a filter.",
    default = "10MB"
  )

  private val SLIDING_WINDOW_ENABLED = boolean(
    "spark.joinery.slidingWindow.enabled",
    "Compute window functions over moving frames with SlidingWindow, in constant time per row.",
    default = true
  )

  private val SLIDING_WINDOW_SKEW_SPLIT = boolean(
    "spark.joinery.slidingWindow.skewSplit.enabled",
    "Compute hot keys of a window in several tasks, by a distribution in the artifact store. When false, only under " +
      "a hint SKEW_WINDOW(parts).",
    default = true
  )

  private val SHUFFLE_WIDTH = SQLConf.buildConf("spark.joinery.shuffleWidth")
    .doc(
      "Which plans get as many shuffle partitions as their bytes need: ours (with an operator or filter of Joinery), " +
        "all, or off. Needs adaptive execution, and spark.sql.shuffle.partitions not set.")
    .version("joinery 0.1.0")
    .stringConf
    .transform(_.toLowerCase(Locale.ROOT))
    .checkValues(Set("ours", "all", "off"))
    .createWithDefault("ours")

  private val BUFFERED_SHUFFLE = boolean(
    "spark.joinery.bufferedShuffle.enabled",
    "Write and read shuffles through buffers: in adaptive plans with an operator or filter of Joinery, or in every " +
      "plan if spark.joinery.shuffleWidth is all.",
    default = true
  )

  private val SKEW_SPLIT_MIN_PARTITION = bytes(
    "spark.joinery.skewSplit.minPartition",
    "Smallest skewed partition, hot key of a window, or part of a range join's partition. " +
      "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes holds if it is smaller.",
    default = "32MB"
  )

  def lastJoinEnabled: Boolean = SQLConf.get.getConf(LAST_JOIN_ENABLED)
  def maxHashPartition: Long = SQLConf.get.getConf(LAST_JOIN_MAX_HASH_PARTITION)
  def maxBroadcast: Long = SQLConf.get.getConf(LAST_JOIN_MAX_BROADCAST).min(BroadcastLimit.bytes)
  def skewSplit: Boolean = SQLConf.get.getConf(LAST_JOIN_SKEW_SPLIT)
  def skewSplitMinPartition: Long = SQLConf.get.getConf(SKEW_SPLIT_MIN_PARTITION)
    .min(SQLConf.get.getConf(SQLConf.SKEW_JOIN_SKEWED_PARTITION_THRESHOLD))
  def asOfJoinEnabled: Boolean = SQLConf.get.getConf(ASOF_JOIN_ENABLED)
  def slidingWindowEnabled: Boolean = SQLConf.get.getConf(SLIDING_WINDOW_ENABLED)
  def windowSkewSplit: Boolean = SQLConf.get.getConf(SLIDING_WINDOW_SKEW_SPLIT)
  def rangeJoinEnabled: Boolean = SQLConf.get.getConf(RANGE_JOIN_ENABLED)
  def rangeJoinMaxBroadcast: Long =
    SQLConf.get.getConf(RANGE_JOIN_MAX_BROADCAST).min(BroadcastLimit.bytes).min(Runtime.getRuntime.maxMemory / 3)
  def mostBroadcast: Long = BroadcastLimit.bytes
  def rangeJoinStoredIndex: Boolean = SQLConf.get.getConf(RANGE_JOIN_STORED_INDEX)
  def rangeJoinMaxIndexPart: Long = SQLConf.get.getConf(RANGE_JOIN_MAX_INDEX)
  def rangeJoinSkewSplit: Boolean = SQLConf.get.getConf(RANGE_JOIN_SKEW_SPLIT)
  def shuffleWidth: String = SQLConf.get.getConf(SHUFFLE_WIDTH)
  def bufferedShuffle: Boolean = SQLConf.get.getConf(BUFFERED_SHUFFLE)
  def explain: Boolean = SQLConf.get.getConf(EXPLAIN)
  def store: Option[String] = SQLConf.get.getConf(STORE).filter(_.nonEmpty)
  def storeTimeoutMs: Long = SQLConf.get.getConf(STORE_TIMEOUT)
  def maxArtifactSize: Long = SQLConf.get.getConf(STORE_MAX_ARTIFACT_SIZE)
  def runtimeFilter: Boolean = SQLConf.get.getConf(RUNTIME_FILTER_ENABLED)
  def runtimeFilterBuild: Boolean = runtimeFilter && SQLConf.get.getConf(RUNTIME_FILTER_BUILD_ENABLED)
  def runtimeFilterMaxKeys: Int = SQLConf.get.getConf(RUNTIME_FILTER_MAX_KEYS)
  def runtimeFilterMinSize: Long = SQLConf.get.getConf(RUNTIME_FILTER_MIN_SIZE)

  /** Registers the entries, by loading this object, before a session reads its configuration. */
  def register(): Unit = ()
}

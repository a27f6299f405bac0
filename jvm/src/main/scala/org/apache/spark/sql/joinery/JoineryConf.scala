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
    "Read `l LAST JOIN r` as a LAST JOIN. When false, statements reach Spark's parser untouched, so that " +
      "`FROM t LAST JOIN r` gives t the alias `last` as on stock Spark.",
    default = true
  )

  private val LAST_JOIN_MAX_HASH_PARTITION = bytes(
    "spark.joinery.lastJoin.maxHashPartition",
    "Largest partition of the right side of a LAST JOIN that ShuffledHashLastJoin is chosen for, by its shuffled or " +
      "estimated size; beyond it, SortMergeLastJoin. -1 chooses ShuffledHashLastJoin under a hint only.",
    default = "128MB"
  )

  private val LAST_JOIN_MAX_BROADCAST = bytes(
    "spark.joinery.lastJoin.maxBroadcast",
    "Largest right side of a LAST JOIN, in memory, that is broadcast, also under a BROADCAST hint. Under adaptive " +
      "execution a hinted right side that is estimated at more than an eighth of it is measured before it is broadcast. " +
      "spark.sql.maxBroadcastTableSize holds, too.",
    default = "512MB"
  )

  private val LAST_JOIN_SKEW_SPLIT = boolean(
    "spark.joinery.lastJoin.skewSplit.enabled",
    "Under adaptive execution, read a skewed partition of a LAST JOIN in several tasks, split by time where ON has an as-of " +
      "comparison. Which partitions are skewed is up to spark.sql.adaptive.skewJoin.* and spark.joinery.skewSplit.minPartition.",
    default = true
  )

  private val ASOF_JOIN_ENABLED = boolean(
    "spark.joinery.asofJoin.enabled",
    "Run ASOF JOIN, in SQL (on Spark 4.1, too) and from DataFrames and pandas-on-Spark, by the operators of LAST JOIN. When " +
      "false, statements and plans with it are left to Spark.",
    default = true
  )

  private val RANGE_JOIN_ENABLED = boolean(
    "spark.joinery.rangeJoin.enabled",
    "Run joins whose condition compares terms of the two sides (point in interval, overlap, one inequality) with an index on one side, by " +
      "BroadcastRangeJoin or ShuffledRangeJoin. When false, by Spark's operators.",
    default = true
  )

  private val RANGE_JOIN_MAX_BROADCAST = bytes(
    "spark.joinery.rangeJoin.maxBroadcast",
    "Largest side of a range join, as an index in memory, that is broadcast, also under a hint. A side that proves larger is read, and " +
      "indexed part by part, by each task; without a hint, one that is estimated at more than a quarter is not tried. A third of the " +
      "driver's heap, and spark.sql.maxBroadcastTableSize, hold, too.",
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
    "Where the artifact store has a valid range index of a side that BroadcastRangeJoin may index, load that instead of building one, if " +
      "that is the cheaper plan. Without spark.joinery.store there is none.",
    default = true
  )

  private val RANGE_JOIN_SKEW_SPLIT = boolean(
    "spark.joinery.rangeJoin.skewSplit.enabled",
    "Under adaptive execution, read a skewed partition of ShuffledRangeJoin in several tasks. Which partitions are skewed is up to " +
      "spark.sql.adaptive.skewJoin.* and spark.joinery.skewSplit.minPartition.",
    default = true
  )

  private val EXPLAIN = boolean(
    "spark.joinery.explain",
    "Show in EXPLAIN, for each join and window, the operator chosen or the reason why Joinery left it to Spark.",
    default = false)

  private val STORE = SQLConf.buildConf("spark.joinery.store")
    .doc("Root directory of the artifact store that the nightly jobs write, on any Hadoop file system.")
    .version("joinery 0.1.0")
    .stringConf
    .createOptional

  private val STORE_TIMEOUT = SQLConf.buildConf("spark.joinery.store.timeout")
    .doc("How long the planning of a query, with its subqueries, may wait for the artifact store. The rest is read " +
      "in the background, for later queries; each query lists the files of its sources again, within the same time.")
    .version("joinery 0.1.0")
    .timeConf(TimeUnit.MILLISECONDS)
    .checkValue(_ >= 0, "The time must not be negative.")
    .createWithDefaultString("2s")

  private val STORE_MAX_ARTIFACT_SIZE = bytes(
    "spark.joinery.store.maxArtifactSize",
    "Largest artifact that a query's planning takes into the driver's memory, in bytes of its files, or of the filter that is " +
      "made of them. Larger ones are left aside.",
    default = "64MB"
  )

  private val RUNTIME_FILTER_ENABLED = boolean(
    "spark.joinery.runtimeFilter.enabled",
    "Drop rows of a join's side that match nothing before they are shuffled, by a filter of the other side's keys: from the artifact " +
      "store, or built by the query.",
    default = true
  )

  private val RUNTIME_FILTER_BUILD_ENABLED = boolean(
    "spark.joinery.runtimeFilter.build.enabled",
    "Build filters while the query runs, where the small side's keys seem few. When false, only filters from spark.joinery.store are used.",
    default = true
  )

  private val RUNTIME_FILTER_MAX_KEYS = SQLConf.buildConf("spark.joinery.runtimeFilter.maxKeys")
    .doc("Most distinct keys that a query builds a filter of. A side that turns out to have more gives none; bounds of its keys are " +
      "used all the same.")
    .version("joinery 0.1.0")
    .intConf
    .checkValue(keys => keys > 0 && keys <= 50000000, "The number must be between 1 and 50,000,000.")
    .createWithDefault(1000000)

  private val RUNTIME_FILTER_MIN_SIZE = bytes(
    "spark.joinery.runtimeFilter.applicationSideMinSize",
    "Smallest side of a join, in estimated bytes, that is worth a filter. Of a filter that the query builds it is the largest of the " +
      "tables that the side reads.",
    default = "10MB"
  )

  private val SLIDING_WINDOW_ENABLED = boolean(
    "spark.joinery.slidingWindow.enabled",
    "Compute window functions over moving frames with SlidingWindow, in constant time per row. When false, with Spark's operator.",
    default = true
  )

  private val SLIDING_WINDOW_SKEW_SPLIT = boolean(
    "spark.joinery.slidingWindow.skewSplit.enabled",
    "Compute hot keys of a window, those in the distribution that the artifact store has for its keys and order, in several tasks: cut along " +
      "the first ORDER BY column before the shuffle. A hint SKEW_WINDOW(parts) insists on it, with or without a distribution.",
    default = true
  )

  private val SHUFFLE_WIDTH = SQLConf.buildConf("spark.joinery.shuffleWidth")
    .doc("Plans whose shuffles get as many partitions as their bytes need, where spark.sql.shuffle.partitions is not set: those with an " +
      "operator or filter of Joinery (ours), every plan (all), or none (off). Adaptive execution must be on.")
    .version("joinery 0.1.0")
    .stringConf
    .transform(_.toLowerCase(Locale.ROOT))
    .checkValues(Set("ours", "all", "off"))
    .createWithDefault("ours")

  private val BUFFERED_SHUFFLE = boolean(
    "spark.joinery.bufferedShuffle.enabled",
    "Write and read the rows of shuffles through buffers, in Spark's own format, in adaptive plans with an operator or filter of " +
      "Joinery; in every plan if spark.joinery.shuffleWidth is all.",
    default = true
  )

  private val SKEW_SPLIT_MIN_PARTITION = bytes(
    "spark.joinery.skewSplit.minPartition",
    "Smallest shuffled partition that may count as skewed, smallest hot key of a window, and smallest part of a range join's " +
      "partition, in bytes; spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes where that is smaller.",
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

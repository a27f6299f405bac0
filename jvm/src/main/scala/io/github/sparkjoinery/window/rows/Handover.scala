package io.github.sparkjoinery.window.rows

import org.apache.spark.SparkEnv
import org.apache.spark.sql.joinery.BuildMemory

/**
 * Rows leave memory for a sort that spills: what they take is given back as they go. The sort gets a page or two before
 * the first has gone, or it could take none; no more than that is in use without being accounted for.
 *
 * @param memory
 *   all that the rows take
 */
private[window] final class Handover(memory: BuildMemory) {
  private val total = memory.acquired
  private val ahead = math.min(total, SparkEnv.get.memoryManager.pageSizeBytes * Handover.Pages)
  private var gone = 0L
  memory.release(ahead)

  /** So many bytes are in use no longer. */
  def gave(bytes: Long): Unit = if (bytes > 0) {
    gone += bytes
    memory.release(math.min(memory.acquired, math.max(gone + ahead - (total - memory.acquired), 0)))
  }

  /** All have gone. */
  def end(): Unit = memory.release(memory.acquired)
}

private object Handover {
  private val Pages = 2
}

package io.github.sparkjoinery.rangejoin

import scala.util.control.NonFatal

import org.apache.spark.TaskContext

/**
 * Of a row for which one match is enough: the first error of its candidates. It counts only where no other candidate is
 * a match, because Spark ends at the first match, in an order of its own. One for each task; not for several threads.
 *
 * @param most
 *   errors that are waited with
 */
private[rangejoin] final class FirstError(most: Int) {
  def this() = this(FirstError.Most)

  private var first: Throwable = _
  private var count = 0

  /** With a row that has none yet. */
  def clear(): Unit = { first = null; count = 0 }

  /**
   * The condition fails for a candidate. Where it fails for so many, it is likely to be about the searched row alone,
   * and no other candidate a match; nor is anything tried after an error that is not about rows.
   */
  def defer(error: Throwable): Unit = {
    val task = TaskContext.get()
    if (!NonFatal(error) || task != null && task.isInterrupted()) throw error
    if (first == null) first = error
    count += 1
    if (count == most) throw first
  }

  /** No candidate is a match. */
  def raise(): Unit = if (first != null) throw first

  /** The error, if there is one. */
  def get: Option[Throwable] = Option(first)
}

private object FirstError {
  val Most = 1000
}

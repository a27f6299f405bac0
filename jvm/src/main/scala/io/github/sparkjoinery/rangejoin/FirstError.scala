package io.github.sparkjoinery.rangejoin

import scala.util.control.NonFatal

import org.apache.spark.TaskContext

/**
 * The first error of candidates where one match is enough. It counts only where no other candidate is a match, because
 * Spark ends at the first match, in an order of its own. One for each task; not for several threads.
 *
 * @param most
 *   errors that are waited with
 */
private[rangejoin] final class FirstError(most: Int) {
  def this() = this(FirstError.MostOfRow)

  private var first: Throwable = _
  private var number = 0

  def clear(): Unit = { first = null; number = 0 }

  /**
   * The condition fails for a candidate. Where it fails for so many, no other is likely to be a match; nor is anything
   * tried after an error that is not about rows.
   */
  def defer(error: Throwable): Unit = {
    val task = TaskContext.get()
    if (!NonFatal(error) || task != null && task.isInterrupted()) throw error
    defer(error, 1)
  }

  /** As many errors. */
  def defer(error: Throwable, more: Int): Unit = {
    if (first == null) first = error
    number += more
    if (number >= most) throw first
  }

  /** No candidate is a match. */
  def raise(): Unit = if (first != null) throw first

  /** The error, if there is one. */
  def get: Option[Throwable] = Option(first)

  /** How many there were. */
  def count: Int = number
}

private object FirstError {
  val MostOfRow = 1000
}

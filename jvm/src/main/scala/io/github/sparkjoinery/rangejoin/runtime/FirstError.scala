package io.github.sparkjoinery.rangejoin.runtime

/**
 * Keeps the first error of a row's candidates until it is known that none of them matches. A join that needs one match
 * stops at the first, and tries candidates in its own order. Creating an error takes microseconds, so the number of
 * errors per row is limited.
 */
private[rangejoin] final class FirstError {
  private var first: Exception = _
  private var count = 0

  def clear(): Unit = {
    first = null
    count = 0
  }

  def add(error: Exception): Unit = {
    if (first == null) first = error
    count += 1
    if (count == FirstError.Most) throw first
  }

  def get: Option[Exception] = Option(first)

  def raise(): Unit = if (first != null) throw first
}

private object FirstError {
  val Most = 1000
}

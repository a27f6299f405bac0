package io.github.sparkjoinery.rangejoin

import org.apache.spark.util.collection.BitSet

/**
 * Which rows have a candidate for which the condition fails, where it is known only later whether they have a match,
 * next to which no error counts; see [[FirstError]]. It keeps the first error, which is raised in the place of all
 * others. One for each task, or part of a task; not for several threads.
 */
private[rangejoin] final class ErrorsOfRows {
  private val numbers = new java.util.BitSet
  private val first = new FirstError(ErrorsOfRows.Most)

  /** The condition fails for a candidate of a row. */
  def defer(number: Int, error: Throwable): Unit = {
    first.defer(error)
    numbers.set(number)
  }

  /** The condition fails for some of a row's candidates. */
  def defer(number: Int, errors: FirstError): Unit =
    for (error <- errors.get) {
      first.defer(error, errors.count)
      numbers.set(number)
    }

  /** A row has no match. */
  def raise(number: Int): Unit = if (numbers.get(number)) first.raise()

  /** It is known of all rows whether they have a match. */
  def raiseBut(matched: BitSet): Unit = numbers.stream.forEach(number => if (!matched.get(number)) first.raise())

  /** The rows, and the error. */
  def found: Option[(java.util.BitSet, Throwable)] = first.get.map((numbers, _))
}

private object ErrorsOfRows {
  // To make an error takes microseconds, and all of these take seconds.
  val Most = 100000
}

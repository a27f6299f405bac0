package io.github.sparkjoinery.window.parts

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.{SpillingSort, SpillingSorts}

import io.github.sparkjoinery.execution.rows.TotalOrder

/** Rows of halos that there is no memory for: sorted by key, and nearest first; spilled, as Spark's sort does. */
private[window] final class SpilledHalos(terms: SplitTerms, output: Seq[Attribute], sorts: SpillingSorts) {
  private val order = terms.keys.map(SortOrder(_, Ascending)) ++ terms.order
  private def newSort(reversed: Boolean) =
    new SpillingSort(order, output, sorts, TotalOrder(order, output), reversed)
  private val befores = newSort(reversed = true)
  private val afters = newSort(reversed = false)
  private val keyOf = UnsafeProjection.create(terms.keys, output)

  /** @param isBefore whether it comes before the part whose halo it may be of */
  def add(row: UnsafeRow, isBefore: Boolean): Unit = (if (isBefore) befores else afters).insert(row)

  /** @return false if there is no memory for the row, which is not taken then */
  def offer(row: UnsafeRow, isBefore: Boolean): Boolean = (if (isBefore) befores else afters).offer(row)

  /**
   * After the last row: each with a number that changes with its key; either those before their parts or those after
   * them.
   *
   * @return
   *   rows that are good until the next
   */
  def rows(areBefore: Boolean): Iterator[(Int, UnsafeRow)] = {
    var key: UnsafeRow = null
    var number = 0
    (if (areBefore) befores else afters).sorted().map { row =>
      val here = keyOf(row)
      if (key != here) {
        number += 1
        key = here.copy()
      }
      (number, row)
    }
  }
}

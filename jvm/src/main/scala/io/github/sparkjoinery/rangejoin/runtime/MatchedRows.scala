package io.github.sparkjoinery.rangejoin.runtime

import java.util.BitSet

import scala.util.Try

import org.apache.spark.SparkException
import org.apache.spark.sql.joinery.JavaBytes

/**
 * The numbers of rows that have a match, and of rows with a candidate that fails. An error counts only if its row has
 * no match in the end. Other parts of the index or other tasks may find one.
 */
private[rangejoin] final class MatchedRows extends Serializable {
  private val matched = new BitSet
  private val failed = new BitSet
  private var error: Exception = _ // one error for all rows
  private var errors = 0

  def contains(row: Int): Boolean = matched.get(row)

  def add(row: Int): Unit = matched.set(row)

  /** Records that the condition fails for a candidate of a row. */
  def fail(row: Int, error: Exception): Unit = {
    if (this.error == null) this.error = error
    failed.set(row)
    errors += 1
    if (errors == MatchedRows.MostErrors) throw this.error
  }

  /** Throws the error if the row, which has no match, has a candidate that fails. */
  def raise(row: Int): Unit = if (failed.get(row)) throw error

  /** Throws the error if any row without a match has a candidate that fails. */
  def raise(): Unit = {
    failed.andNot(matched)
    if (!failed.isEmpty) throw error
  }

  /** Serializes these numbers for another task. An error that Java cannot serialize is replaced by its text. */
  def toBytes: Array[Byte] = {
    failed.andNot(matched)
    if (failed.isEmpty) error = null
    Try(JavaBytes.write(this)).getOrElse {
      error = new SparkException(error.toString)
      JavaBytes.write(this)
    }
  }
}

private[rangejoin] object MatchedRows {
  private val MostErrors = 100000 // creating them takes seconds

  /** Merges the results of several tasks. Throws the error if its row has no match in any task. */
  def ofTasks(tasks: Iterator[Array[Byte]]): MatchedRows = {
    val all = new MatchedRows
    tasks.map(JavaBytes.read[MatchedRows](_)).foreach { rows =>
      all.matched.or(rows.matched)
      all.failed.or(rows.failed)
      if (all.error == null) all.error = rows.error
    }
    all.raise()
    all
  }
}

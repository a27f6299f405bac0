package io.github.sparkjoinery.window.parts

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeRow}

import io.github.sparkjoinery.execution.skew.Reservoir

/** A row of a sample, or of a stored distribution, and the number of rows that it stands for. */
private[window] case class SampledTime(hash: Long, time: Long, from: Long, to: Long, weight: Double)

/** @param wraps whether the bound of a row, be it in the sample or not, has wrapped around */
private[window] case class Sample(times: Seq[SampledTime], wraps: Boolean) {

  /** For a sample of a sample. */
  def scaled(by: Double): Sample =
    if (by == 1) this else copy(times = times.map(time => time.copy(weight = time.weight * by)))
}

private[window] object Sample {

  /** What is asked of a row: its key's hash, its time, and the bounds of its RANGE frames. */
  def columns(terms: SplitTerms): Seq[Expression] = Seq(terms.hash, terms.time.word) ++ terms.bounds

  /** Of one task's rows. All of them are looked at only if their bounds may wrap. */
  final class OfTask(terms: SplitTerms, size: Int) extends Serializable {
    private val width = terms.bounds.length + 2
    private val nullWord = terms.time.nullWord
    private val shifts = terms.shifts.zipWithIndex.collect { case (Some(shift), i) => (i + 2, shift) }.toArray

    /** @param project makes the columns of a row */
    def take(rows: Iterator[InternalRow], project: InternalRow => UnsafeRow): Sample = {
      val reservoir = new Reservoir[UnsafeRow](size)
      var wraps = false
      while (rows.hasNext) {
        val row = rows.next()
        if (shifts.nonEmpty) wraps |= shifts.exists { case (i, shift) => isShifted(project(row), i, shift) }
        if (reservoir.wantsNext) reservoir.keep(project(row).copy()) else reservoir.skip()
      }
      Sample(reservoir.kept.map(of(_, width, nullWord, reservoir.rowsPerKept)), wraps)
    }

    private def isShifted(row: UnsafeRow, bound: Int, by: Long): Boolean =
      !row.isNullAt(1) && !row.isNullAt(bound) && BigInt(row.getLong(bound)) - row.getLong(1) != by
  }

  /** @param row with the columns */
  def of(row: UnsafeRow, width: Int, nullWord: Long, weight: Double): SampledTime = {
    val time = if (row.isNullAt(1)) nullWord else row.getLong(1)
    val bounds = (2 until width).map(i => if (row.isNullAt(i)) None else Some(row.getLong(i)))
    // without a bound, as by an error that is Spark's to raise: everything
    if (bounds.contains(None)) SampledTime(row.getLong(0), time, Long.MinValue, Long.MaxValue, weight)
    else {
      // A bound may be where its row is, by rounding or at infinity, and so may that of a row before. Where all bounds are
      // before this row, those of earlier rows are, too.
      val latest = bounds.flatten.filter(_ >= time).maxOption
      SampledTime(
        row.getLong(0),
        time,
        (time +: bounds.flatten).min,
        latest.getOrElse(math.max(time, Long.MinValue + 1) - 1),
        weight)
    }
  }

  def all(samples: Iterable[Sample]): Sample = Sample(samples.flatMap(_.times).toSeq, samples.exists(_.wraps))
}

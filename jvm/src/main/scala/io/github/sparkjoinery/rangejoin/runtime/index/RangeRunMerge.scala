package io.github.sparkjoinery.rangejoin.runtime.index

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.joinery.{BuildMemory, InParallel}

import io.github.sparkjoinery.execution.rows.{LongKeyIndex, RowEntries, RowPages, RowsInOrder}

/**
 * All rows of a side, in runs that tasks have sorted. A caller that expects rows reads them one by one.
 *
 * @param numFields
 *   the number of columns
 */
private[rangejoin] final class RangeRunMerge(runs: Seq[RangeRun], numFields: Int) extends Iterator[InternalRow] {
  import RangeRunMerge._

  private lazy val rows: Iterator[InternalRow] = {
    val row = new UnsafeRow(numFields)
    runs.iterator.map(_.read(firstPage = 0)).flatMap { run =>
      val pages = RowPages.wrap(run.pages)
      run.addresses.iterator.map(pages.read(_, row))
    }
  }
  override def hasNext: Boolean = rows.hasNext
  override def next(): InternalRow = rows.next()

  /** True if the longs of all runs can be compared, because their texts share one prefix. */
  def shareOnePrefix: Boolean = runs.forall(run => java.util.Arrays.equals(run.prefix, runs.head.prefix))

  /** Builds an index of all runs, which share one prefix. None if memory is too short or the rows are too many. */
  def index(memory: BuildMemory): Option[RangeIndex] = {
    val begun = System.nanoTime()
    val count = runs.map(_.numBounded.toLong).sum
    val bytes = runs.map(run => run.pageBytes + run.numRows * BytesPerRow).sum
    if (count > RowEntries.Most || !memory.acquire(bytes)) None
    else {
      val firstPages = runs.scanLeft(0)(_ + _.pages)
      val read = InParallel(runs.zip(firstPages), "joinery-range-index") { case (run, page) => run.read(page) }
      val hasEnds = read.exists(_.ends != null) // a run of points has none
      val merged = merge(read.zip(runs).map { case (rows, run) =>
        Stretch(
          rows.starts,
          if (rows.ends == null && hasEnds) rows.starts.clone() else rows.ends,
          if (run.numBounded == run.numRows) rows.addresses else rows.addresses.take(run.numBounded)
        )
      })
      val others = read.zip(runs).flatMap { case (rows, run) => rows.addresses.drop(run.numBounded) }
      val keys = new LongKeyIndex(memory)
      if (count > 0) keys.add(0L)
      val pages = RowPages.wrap(read.flatMap(_.pages).toArray)
      val addresses = if (others.isEmpty) merged.addresses else merged.addresses ++ others
      val (rows, places) =
        if (runs.length > 1 && isDeep(merged) && memory.acquire(pages.bytes)) {
          val moved = RowsInOrder(pages, addresses)
          memory.release(pages.bytes)
          moved
        } else (pages, addresses)
      val index = RangeIndex.build(
        numFields,
        keys,
        rows,
        if (keys.size == 0) Array(0) else Array(0, count.toInt),
        places,
        merged.starts,
        merged.ends,
        runs.headOption.fold(Array.emptyByteArray)(_.prefix),
        begun
      )
      Some(index)
    }
  }
}

private object RangeRunMerge {
  private val BytesPerRow = 2 * 24L + 10 + RankDirectory.BytesPerValue // twice, because a merge copies the arrays

  private val SampledRows = 1000
  private val LeastOpen = 2.0

  /** Sorted rows. */
  private case class Stretch(starts: Array[Long], ends: Array[Long], addresses: Array[Long]) {
    def length: Int = starts.length
  }

  /**
   * True if intervals overlap so much that a search usually finds several, whose starts are neighbours. Their rows
   * should be neighbours, too, so that reading one row brings the next into the processor's cache. Moving all rows does
   * not pay if a search finds only one.
   */
  private def isDeep(rows: Stretch): Boolean = rows.ends != null && rows.length > 0 && {
    val (first, last) = (rows.starts.head, rows.starts.last)
    val sample = rows.starts.indices by math.max(1, rows.length / SampledRows)
    val reach = sample.map(place => math.max(0, math.min(rows.ends(place), last).toDouble - rows.starts(place))).sum
    val open = reach / sample.length * rows.length / math.max(1, last.toDouble - first) // open intervals, on average
    open >= LeastOpen
  }

  /** Merges two by two, so that each row is moved once for each binary digit in the number of stretches. */
  private def merge(stretches: Seq[Stretch]): Stretch = stretches match {
    case Seq() => Stretch(Array.empty, null, Array.empty)
    case Seq(one) => one
    case several => merge(InParallel(several.grouped(2).toVector, "joinery-range-index") {
        case Seq(left, right) => merge(left, right)
        case Seq(one) => one
      })
  }

  private def merge(left: Stretch, right: Stretch): Stretch = {
    val length = left.length + right.length
    val starts, addresses = new Array[Long](length)
    val ends = if (left.ends == null) null else new Array[Long](length)
    def copy(from: Stretch, at: Int, count: Int, to: Int): Unit = {
      System.arraycopy(from.starts, at, starts, to, count)
      System.arraycopy(from.addresses, at, addresses, to, count)
      if (ends != null) System.arraycopy(from.ends, at, ends, to, count)
    }
    var (l, r) = (0, 0)
    if (left.length > 0 && right.length > 0 && left.starts.last > right.starts.head)
      while (l < left.length && r < right.length) {
        val isLeft = left.starts(l) <= right.starts(r)
        val from = if (isLeft) left else right
        val at = if (isLeft) l else r
        starts(l + r) = from.starts(at)
        addresses(l + r) = from.addresses(at)
        if (ends != null) ends(l + r) = from.ends(at)
        if (isLeft) l += 1 else r += 1
      }
    copy(left, l, left.length - l, l + r)
    copy(right, r, right.length - r, left.length + r)
    Stretch(starts, ends, addresses)
  }
}

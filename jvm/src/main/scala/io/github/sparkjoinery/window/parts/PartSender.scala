package io.github.sparkjoinery.window.parts

import java.util

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.joinery.{DriverBuildMemory, ExecutionMemory, SpillingSorts, TaskBuildMemory}

import io.github.sparkjoinery.execution.rows.{LongKeyIndex, TotalOrder}

/**
 * Tells, in a task before the shuffle, which parts a row goes to: its own; those whose RANGE frames hold it; and, known
 * after the last row, those whose frames of rows may hold it, among all tasks' rows. Each task sends the nearest of its
 * own, and the part's task picks among them.
 */
final class PartSender private[window] (
    hotKeys: Map[Long, HotKeyParts],
    terms: SplitTerms,
    output: Seq[Attribute],
    spillSize: SQLMetric) {
  private val indexOfHash = new LongKeyIndex(new DriverBuildMemory(Long.MaxValue))
  private val hot = hotKeys.filter(_._2.cuts.times.nonEmpty).toArray.map { case (hash, parts) =>
    indexOfHash.add(hash); new HotHash(parts)
  }
  private val memory = new HaloMemory(TaskBuildMemory(), ExecutionMemory.shareOfTask / 3)
  private var spilled: SpilledHalos = _ // where that does not suffice
  private var unsorted: UnsortedHalos = _ // ... and there is no memory to sort them either
  private val order = TotalOrder(terms.order, output)
  private val ranges = terms.bounds.nonEmpty
  private val framesOfRows = terms.rowsBefore + terms.rowsAfter > 0
  private var hash: HotHash = _
  private var time = 0L
  private var place = 0
  private var others = new Array[Long](4)

  /** How many parts beside its own the row goes to at once. */
  var copies = 0

  /**
   * The part of a row whose key has this hash, or -1: the key is not hot. What is asked of it next holds for this row.
   */
  def partOf(keyHash: Long, time: Long): Long = {
    copies = 0
    val index = indexOfHash.find(keyHash)
    if (index < 0) -1L
    else {
      hash = hot(index)
      this.time = time
      place = hash.cuts.partOf(time)
      if (ranges) findCopies()
      hash.numbers(place)
    }
  }

  /** See `copies`. */
  def copy(i: Int): Long = others(i)

  private def findCopies(): Unit = {
    val parts = hash.cuts.times.length + 1
    var part = place + 1
    while (part < parts && time >= hash.leastFroms(part - 1)) { copyTo(part); part += 1 }
    part = place - 1
    while (part >= 0 && time <= hash.greatestTos(part)) { copyTo(part); part -= 1 }
  }

  /** Where its frames hold the row. */
  private def copyTo(part: Int): Unit = if (hash.sends(time, place, part)) {
    if (copies == others.length) others = util.Arrays.copyOf(others, copies * 2)
    others(copies) = hash.numbers(part)
    copies += 1
  }

  /** Whether the row has to be offered. */
  def isNear(key: UnsafeRow): Boolean = framesOfRows && hash.of(key).isNear(time, place)

  def offer(row: UnsafeRow): Unit = {
    val edges = hash.current
    if (edges.hasNext(place)) keep(edges.last(place), row, isBefore = true)
    if (place > 0) keep(edges.first(place), row, isBefore = false)
  }

  private def keep(halo: HaloRows, row: UnsafeRow, isBefore: Boolean): Unit =
    if (!halo.isTooFar(time) && (spilled != null || !halo.offer(row, time))) {
      if (spilled == null) spill()
      toDisk(row, isBefore)
    }

  private def spill(): Unit = {
    val handover = memory.handover()
    spilled = new SpilledHalos(terms, output, new SpillingSorts(spillSize))
    for (hash <- hot; edges <- hash.keys.values.asScala;
      (halos, isBefore) <- Seq(edges.first -> false, edges.last -> true))
      halos.foreach(halo => handover.gave(halo.drain(toDisk(_, isBefore))))
    handover.end()
  }

  /** What shuffles the rows of this task may have taken all its memory, and gives none of it back. */
  private def toDisk(row: UnsafeRow, isBefore: Boolean): Unit =
    if (unsorted != null || !spilled.offer(row, isBefore)) {
      if (unsorted == null) unsorted = new UnsortedHalos(output.length, spillSize)
      unsorted.add(row, isBefore)
    }

  private final class HotHash(parts: HotKeyParts) {
    val cuts: KeyCuts = parts.cuts
    def sends(time: Long, place: Int, part: Int): Boolean = parts.sends(time, place, part)
    val numbers: Array[Long] = parts.numbers

    // A cut at a row without a bound wants all rows, also where the cuts between it and them want few: by cut, what any
    // from there on wants.
    val leastFroms: Array[Long] = cuts.froms.scanRight(Long.MaxValue)(math.min).init
    val greatestTos: Array[Long] = cuts.tos.scanLeft(Long.MinValue)(math.max).tail

    val keys = new util.HashMap[UnsafeRow, EdgeRows]()
    var current: EdgeRows = _
    private var currentKey: UnsafeRow = _

    def of(key: UnsafeRow): EdgeRows = {
      if (currentKey == null || currentKey != key) { // two keys may have one hash
        currentKey = key.copy()
        current = keys.computeIfAbsent(currentKey, _ => new EdgeRows(parts))
      }
      current
    }
  }

  private def newHalo(count: Int, isLast: Boolean): HaloRows = new HaloRows(count, isLast, order, memory, _ => ())

  /** The first and last of a key's rows in each of its parts. */
  private final class EdgeRows(parts: HotKeyParts) {
    private val count = parts.numbers.length
    val first: Array[HaloRows] = Array.fill(count)(newHalo(terms.rowsAfter, isLast = false))
    val last: Array[HaloRows] = Array.fill(count)(newHalo(terms.rowsBefore, isLast = true))

    def isNear(time: Long, place: Int): Boolean =
      place < count - 1 && !last(place).isTooFar(time) || place > 0 && !first(place).isTooFar(time)

    def hasNext(place: Int): Boolean = place < count - 1

    def halos: Iterator[(Long, UnsafeRow)] = {
      val (firsts, lasts) = (first.map(_.sorted()), last.map(_.sorted()))
      Iterator.range(0, count).flatMap { part =>
        val before = Iterator.range(part - 1, -1, -1).flatMap(place => lasts(place).iterator.map(place -> _)).take(
          terms.rowsBefore)
        val after =
          Iterator.range(part + 1, count).flatMap(place => firsts(place).iterator.map(place -> _)).take(terms.rowsAfter)
        (before ++ after).collect {
          case (place, row) if !ranges || !parts.sends(timeOf(row), place, part) =>
            parts.numbers(part) -> row
        }
      }
    }
  }

  /** The same of rows that were spilled: to which parts each of them goes. */
  private def spilledHalos(areBefore: Boolean): Iterator[(Long, UnsafeRow)] = {
    var (key, nearer) = (0, Array.emptyIntArray) // of the key, by place: how many rows have come
    spilled.rows(areBefore).flatMap { case (number, row) =>
      partOf(hashOf(row), timeOf(row))
      if (number != key) {
        key = number
        nearer = new Array[Int](hash.numbers.length)
      }
      toParts(row, nearer, nearer(place), areBefore)
    }
  }

  /** The same of rows in no order: of their own place none is known to be nearer than the next. */
  private def unsortedHalos(areBefore: Boolean): Iterator[(Long, UnsafeRow)] = if (unsorted == null) Iterator.empty
  else {
    val nearer = mutable.Map.empty[EdgeRows, Array[Int]]
    unsorted.rows(areBefore).flatMap { row =>
      partOf(hashOf(row), timeOf(row))
      val come = nearer.getOrElseUpdate(hash.of(keyOf(row)), new Array[Int](hash.numbers.length))
      toParts(row, come, 0, areBefore)
    }
  }

  /**
   * To those parts of the row whose key and place were just asked for that have no halo's worth of nearer rows.
   *
   * @param nearer
   *   by place, how many rows of the key have come; the row is counted
   * @param count
   *   how many of its own place are nearer
   */
  private def toParts(row: UnsafeRow, nearer: Array[Int], count: Int, isBefore: Boolean): Seq[(Long, UnsafeRow)] = {
    val (step, most) = if (isBefore) (1, terms.rowsBefore) else (-1, terms.rowsAfter)
    val to = mutable.ArrayBuffer.empty[(Long, UnsafeRow)]
    var (part, known) = (place + step, count)
    while (part >= 0 && part < nearer.length && known < most) {
      if (!ranges || !hash.sends(time, place, part)) to += hash.numbers(part) -> row
      known += nearer(part)
      part += step
    }
    nearer(place) += 1
    to.toSeq
  }

  private lazy val keyOf = UnsafeProjection.create(terms.keys, output)

  private lazy val projectHash = UnsafeProjection.create(Seq(terms.hash), output)
  private def hashOf(row: UnsafeRow): Long = projectHash(row).getLong(0)

  private lazy val projectTime = UnsafeProjection.create(Seq(terms.time.word), output)
  private def timeOf(row: UnsafeRow): Long = terms.time.of(projectTime(row))

  private var halos: Iterator[(Long, UnsafeRow)] = _
  var row: UnsafeRow = _
  var part = 0L

  /** After the last row: goes on to the next row of a halo, `row`, and the `part` that it goes to. */
  def nextOfHalo(): Boolean = {
    if (halos == null) halos =
      if (spilled == null) hot.iterator.flatMap(_.keys.values.iterator.asScala).flatMap(_.halos)
      else Iterator(true, false).flatMap(areBefore => spilledHalos(areBefore) ++ unsortedHalos(areBefore))
    halos.hasNext && {
      val (to, of) = halos.next()
      row = of
      part = to
      true
    }
  }
}

/** Goes to the executors. */
final case class PartSenderFactory private[window] (
    hotKeys: Map[Long, HotKeyParts],
    terms: SplitTerms,
    output: Seq[Attribute],
    spillSize: SQLMetric) {
  def create(): PartSender = new PartSender(hotKeys, terms, output, spillSize)
}

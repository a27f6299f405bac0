package io.github.sparkjoinery.execution.window.skew

import java.util

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.TaskBuildMemory

import io.github.sparkjoinery.execution.rows.{DriverBuildMemory, LongKeyIndex, TotalOrder}

/**
 * Tells, in a task before the shuffle, which parts a row goes to: its own; those whose RANGE frames hold it; and, known after the last row, those
 * whose frames of rows may hold it, among all tasks' rows. Each task sends the nearest of its own, and the part's task picks among them.
 */
final class PartSender private[skew] (hotKeys: Map[Long, HotKeyParts], terms: SplitTerms, output: Seq[Attribute]) {
  private val indexOfHash = new LongKeyIndex(new DriverBuildMemory(Long.MaxValue))
  private val hot = hotKeys.filter(_._2.cuts.times.nonEmpty).toArray.map { case (hash, parts) => indexOfHash.add(hash); new HotHash(parts) }
  private val memory = TaskBuildMemory()
  private val order = TotalOrder(terms.order, output)
  private val ranges = terms.bounds.nonEmpty
  private val framesOfRows = terms.rowsBefore + terms.rowsAfter > 0
  private var hash: HotHash = _
  private var time = 0L
  private var place = 0
  private var others = new Array[Long](4)

  /** How many parts beside its own the row goes to at once. */
  var copies = 0

  /** The part of a row whose key has this hash, or -1: the key is not hot. What is asked of it next holds for this row. */
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
    val cuts = hash.cuts
    var part = place + 1
    while (part <= cuts.times.length && time >= cuts.froms(part - 1)) { addCopy(part); part += 1 }
    part = place - 1
    while (part >= 0 && time <= cuts.tos(part)) { addCopy(part); part -= 1 }
  }

  private def addCopy(part: Int): Unit = {
    if (copies == others.length) others = util.Arrays.copyOf(others, copies * 2)
    others(copies) = hash.numbers(part)
    copies += 1
  }

  /** Whether the row has to be offered. */
  def isNear(key: UnsafeRow): Boolean = framesOfRows && hash.of(key).isNear(time, place)

  def offer(row: UnsafeRow): Unit = hash.current.offer(row, time, place)

  private final class HotHash(parts: HotKeyParts) {
    val cuts: KeyCuts = parts.cuts
    val numbers: Array[Long] = parts.numbers
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

  /** The first and last of a key's rows in each of its parts. */
  private final class EdgeRows(parts: HotKeyParts) {
    private val count = parts.numbers.length
    private val first = Array.fill(count)(new HaloRows(terms.rowsAfter, isLast = false, order, memory, _ => ()))
    private val last = Array.fill(count)(new HaloRows(terms.rowsBefore, isLast = true, order, memory, _ => ()))

    def isNear(time: Long, place: Int): Boolean =
      place < count - 1 && !last(place).isTooFar(time) || place > 0 && !first(place).isTooFar(time)

    def offer(row: UnsafeRow, time: Long, place: Int): Unit = {
      if (place < count - 1) last(place).offer(row, time)
      if (place > 0) first(place).offer(row, time)
    }

    def halos: Iterator[(Long, UnsafeRow)] = {
      val (firsts, lasts) = (first.map(_.sorted()), last.map(_.sorted()))
      Iterator.range(0, count).flatMap { part =>
        val before = Iterator.range(part - 1, -1, -1).flatMap(place => lasts(place).iterator.map(place -> _)).take(terms.rowsBefore)
        val after = Iterator.range(part + 1, count).flatMap(place => firsts(place).iterator.map(place -> _)).take(terms.rowsAfter)
        def sent(time: Long, place: Int): Boolean = place < part && time >= parts.cuts.froms(part - 1) || place > part && time <= parts.cuts.tos(part)
        (before ++ after).filterNot { case (place, row) => ranges && sent(timeOf(row), place) }.map { case (_, row) => parts.numbers(part) -> row }
      }
    }
  }

  private lazy val projectTime = UnsafeProjection.create(Seq(terms.time.word), output)
  private def timeOf(row: UnsafeRow): Long = terms.time.of(projectTime(row))

  private var halos: Iterator[(Long, UnsafeRow)] = _
  var row: UnsafeRow = _
  var part = 0L

  /** After the last row: goes on to the next row of a halo, `row`, and the `part` that it goes to. */
  def nextOfHalo(): Boolean = {
    if (halos == null) halos = hot.iterator.flatMap(_.keys.values.iterator.asScala).flatMap(_.halos)
    halos.hasNext && {
      val (to, of) = halos.next()
      row = of
      part = to
      true
    }
  }
}

/** Goes to the executors. */
final case class PartSenderFactory private[skew] (hotKeys: Map[Long, HotKeyParts], terms: SplitTerms, output: Seq[Attribute]) {
  def create(): PartSender = new PartSender(hotKeys, terms, output)
}

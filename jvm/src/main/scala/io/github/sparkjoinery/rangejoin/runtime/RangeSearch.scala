package io.github.sparkjoinery.rangejoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._

import io.github.sparkjoinery.rangejoin.logical.{RangeTerms, SharedPrefix}
import io.github.sparkjoinery.rangejoin.runtime.index.RangeIndexReader

/**
 * Searches matches without generated code.
 *
 * @param reader
 *   the reader of the index, or of its current part
 */
private[rangejoin] class RangeSearch(
    terms: RangeTerms,
    streamed: Seq[Attribute],
    indexed: Seq[Attribute],
    reader: => RangeIndexReader) {
  private val longKey = terms.longKey
  private val reaches = terms.reaches.map(_._2).toArray
  private val prefix = new SharedPrefix
  private val fields = UnsafeProjection.create(
    Seq(longKey.getOrElse(Literal(0L)), terms.lowerLong(prefix), terms.upperLong(prefix)) ++ terms.reaches.map(_._1),
    streamed)
  private val rowKey = UnsafeProjection.create(terms.streamedKeys, streamed)
  private val residual = terms.residual.map(Predicate.create(_, streamed ++ indexed)).orNull
  private val pair = new JoinedRow
  private val errors = new FirstError

  def begin(row: InternalRow): Unit = {
    pair.withLeft(row)
    if (reader.isEmpty) reader.none() // as in Spark's joins, keys are not evaluated
    else search(row)
  }

  private def search(row: InternalRow): Unit = {
    prefix.set(reader.prefix)
    val found = fields(row)
    val key =
      if (longKey.isDefined) { if (found.isNullAt(0)) -1 else reader.numberOf(found.getLong(0)) }
      else {
        val key = rowKey(row)
        if (key.anyNull) -1 else reader.numberOf(key)
      }
    if (key < 0 || found.isNullAt(1) || found.isNullAt(2)) reader.none()
    else if (!areWithinReach(key, found)) reader.all(key)
    else reader.between(key, found.getLong(1), found.getLong(2))
  }

  private def areWithinReach(key: Int, found: UnsafeRow): Boolean = {
    var i = 0
    while (i < reaches.length) {
      val point = RangeSearch.FirstPoint + i
      if (!found.isNullAt(point) && !reader.areWithin(reaches(i), found.getLong(point), key)) return false
      i += 1
    }
    true
  }

  private def isMatch(place: Int): Boolean = residual == null || residual.eval(pair.withRight(reader.row(place)))

  /** The place of the next match, or -1. */
  def next(): Int = {
    var place = reader.next()
    while (place >= 0 && !isMatch(place)) place = reader.next()
    place
  }

  /**
   * True if there is a match.
   *
   * @param missed
   *   takes the first error of the candidates if there is no match
   */
  def hasMatch(missed: FirstError => Unit = _.raise()): Boolean = {
    errors.clear()
    var isFound = false
    var place = reader.next()
    while (!isFound && place >= 0) {
      try isFound = isMatch(place)
      catch { case error: Exception => errors.add(error) }
      if (!isFound) place = reader.next()
    }
    if (!isFound) missed(errors)
    isFound
  }

  /** Adds the places of all indexed rows that match. */
  def mark(matched: MatchedRows): Unit = {
    var place = reader.next()
    while (place >= 0) {
      try if (!matched.contains(place) && isMatch(place)) matched.add(place)
      catch { case error: Exception => matched.fail(place, error) }
      place = reader.next()
    }
  }

  def row(place: Int): InternalRow = reader.row(place)
  def candidates(): Long = reader.candidates()
}

private object RangeSearch {
  val FirstPoint = 3 // index among the fields
}

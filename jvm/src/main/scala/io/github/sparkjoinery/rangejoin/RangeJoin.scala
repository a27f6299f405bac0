package io.github.sparkjoinery.rangejoin

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution.metric.SQLMetric

import io.github.sparkjoinery.rangejoin.index.{RangeIndex, RangeIndexReader, SearchableRelation, SharedPrefix}

/**
 * The description of a range join that is sent to the executors in place of the plan.
 *
 * @param output
 *   the columns of the join
 */
private[rangejoin] case class RangeJoin(
    joinType: JoinType,
    indexedSide: BuildSide,
    terms: RangeTerms,
    streamed: Seq[Attribute],
    indexed: Seq[Attribute],
    output: Seq[Attribute],
    metrics: Map[String, SQLMetric]) {

  /** True if the join emits a streamed row without a match, with NULLs. */
  def keepsStreamed: Boolean = joinType match {
    case FullOuter => true
    case LeftOuter => indexedSide == BuildRight
    case RightOuter => indexedSide != BuildRight
    case _ => false
  }

  /** True if the join emits indexed rows by themselves: it preserves the indexed side. */
  def givesOutIndexed: Boolean = RangeJoinType.givesOutIndexed(joinType, indexedSide)

  /** True if the join emits pairs of rows; false if it emits rows of one side. */
  def givesPairs: Boolean = joinType match {
    case LeftSemi | LeftAnti | _: ExistenceJoin => false
    case _ => true
  }

  /** The same join with the other side indexed. */
  def reversed: RangeJoin =
    copy(
      indexedSide = if (indexedSide == BuildRight) BuildLeft else BuildRight,
      terms = terms.reversed,
      streamed = indexed,
      indexed = streamed)

  /**
   * A join that emits the streamed rows without a match. They are not counted as output, because other rows are made
   * from them.
   */
  def unmatchedOnly: RangeJoin =
    copy(joinType = LeftAnti, indexedSide = BuildRight, output = streamed, metrics = metrics - RangeJoin.OutputRows)

  def task(index: RangeIndex): RangeJoinTask = new RangeJoinTask(this, index)

  /**
   * The indexed rows that the join emits by themselves. One task emits them, once each partition has reported which of
   * them match.
   *
   * @param places
   *   the [[MatchedRows]] of each partition
   */
  def indexedRows(places: RDD[InternalRow], relation: Broadcast[SearchableRelation]): RDD[InternalRow] =
    places.map(_.getBinary(0)).coalesce(1, shuffle = true).mapPartitions { ofPartitions =>
      task(relation.value.index).indexedRows(MatchedRows.ofTasks(ofPartitions))
    }
}

private[rangejoin] object RangeJoin {
  val OutputRows = "numOutputRows"
}

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

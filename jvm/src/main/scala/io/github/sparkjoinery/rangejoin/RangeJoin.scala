package io.github.sparkjoinery.rangejoin

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.util.collection.BitSet

import io.github.sparkjoinery.rangejoin.index.RangeIndex

/**
 * A range join where no code is generated. It goes to the executors, the plan does not.
 *
 * @param output
 *   of the join
 */
private[rangejoin] case class RangeJoin(
    joinType: JoinType,
    indexedSide: BuildSide,
    terms: RangeTerms,
    streamed: Seq[Attribute],
    indexed: Seq[Attribute],
    output: Seq[Attribute],
    metrics: Map[String, SQLMetric]) {

  def task(index: RangeIndex): RangeJoinTask = new RangeJoinTask(this, index)

  /**
   * Where indexed rows are given out for what they are: what the streamed rows give, and then, in one more task, the
   * indexed rows, once it is known of each whether it has a match.
   */
  def withIndexedRows(rows: RDD[InternalRow], relation: Broadcast[RangeIndex]): RDD[InternalRow] = {
    val matched = rows.mapPartitions(rows => Iterator(task(relation.value).matchedPlaces(rows)))
    val indexedRows = matched.coalesce(1, shuffle = true).mapPartitions { sets =>
      val all = sets.foldLeft(new BitSet(relation.value.numRows))(_ | _)
      task(relation.value).indexedRows(all)
    }
    joinType match {
      case FullOuter | LeftOuter | RightOuter =>
        rows.mapPartitions(rows => task(relation.value).join(rows)).union(indexedRows)
      case _ => indexedRows
    }
  }
}

/** The rows of one task. */
private[rangejoin] class RangeJoinTask(rangeJoin: RangeJoin, index: RangeIndex) {
  import rangeJoin._

  private val search = new RangeSearch(terms, streamed, indexed, index)
  private val (numOutputRows, probes, candidates) =
    (metrics("numOutputRows"), metrics("probes"), metrics("candidates"))
  private val joined = new JoinedRow

  def join(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val joinedRows = joinType match {
      case LeftSemi => rows.filter(hasMatch)
      case LeftAnti => rows.filterNot(hasMatch)
      case _: ExistenceJoin =>
        val exists = new GenericInternalRow(1)
        rows.map { row =>
          exists.setBoolean(0, hasMatch(row))
          joined(row, exists)
        }
      case _ => rows.flatMap(pairs)
    }
    given(joinedRows)
  }

  private def hasMatch(row: InternalRow): Boolean = {
    begin(row)
    val found = search.next() >= 0
    candidates += search.candidates()
    found
  }

  private def begin(row: InternalRow): Unit = {
    probes += 1
    search.begin(row)
  }

  private val nulls = new GenericInternalRow(indexed.length)
  private val keepsStreamed = joinType match {
    case FullOuter => true
    case LeftOuter => indexedSide == BuildRight
    case RightOuter => indexedSide != BuildRight
    case _ => false
  }

  /** A streamed row beside each match, or beside NULLs. */
  private def pairs(row: InternalRow): Iterator[InternalRow] = {
    begin(row)
    new Iterator[InternalRow] {
      private var place = search.next()
      private var isOwed = keepsStreamed && place < 0
      if (place < 0) candidates += search.candidates()

      override def hasNext: Boolean = isOwed || {
        if (place == RangeJoinTask.Unknown) {
          place = search.next()
          if (place < 0) candidates += search.candidates()
        }
        place >= 0
      }
      override def next(): InternalRow = {
        if (!hasNext) throw new NoSuchElementException
        if (isOwed) {
          isOwed = false
          sided(row, nulls)
        } else {
          val indexedRow = search.row(place)
          place = RangeJoinTask.Unknown
          sided(row, indexedRow)
        }
      }
    }
  }

  private def sided(streamedRow: InternalRow, indexedRow: InternalRow): InternalRow =
    if (indexedSide == BuildRight) joined(streamedRow, indexedRow) else joined(indexedRow, streamedRow)

  private def given(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    // What an outer join has no row for is NULL, whatever the side's own columns say.
    val toUnsafe = UnsafeProjection.create(output, output.map(_.withNullability(true)))
    rows.map { row =>
      numOutputRows += 1
      toUnsafe(row)
    }
  }

  /** The places of indexed rows that have a match among these. */
  def matchedPlaces(rows: Iterator[InternalRow]): BitSet = {
    val places = new BitSet(index.numRows)
    rows.foreach { row =>
      search.begin(row)
      var place = search.next()
      while (place >= 0) {
        places.set(place)
        place = search.next()
      }
    }
    places
  }

  /** The indexed rows that the join gives out for what they are. */
  def indexedRows(matched: BitSet): Iterator[InternalRow] = {
    val places = Iterator.range(0, index.numRows)
    val streamedNulls = new GenericInternalRow(streamed.length)
    val exists = new GenericInternalRow(1)
    val rows = joinType match {
      case LeftSemi => places.filter(matched.get).map(search.row)
      case LeftAnti => places.filterNot(matched.get).map(search.row)
      case _: ExistenceJoin => places.map { place =>
          exists.setBoolean(0, matched.get(place))
          joined(search.row(place), exists)
        }
      case _ => places.filterNot(matched.get).map(place => sided(streamedNulls, search.row(place)))
    }
    given(rows)
  }
}

private[rangejoin] object RangeJoinTask {
  val Unknown = Int.MinValue
}

/** The search of matches where no code is generated. */
private[rangejoin] class RangeSearch(
    terms: RangeTerms,
    streamed: Seq[Attribute],
    indexed: Seq[Attribute],
    index: RangeIndex) {
  private val reader = terms.reader(index)
  private val longKey = terms.longKey
  private val fields = UnsafeProjection.create(
    Seq(longKey.getOrElse(Literal(0L)), terms.lowerLong, terms.upperLong, terms.probeFails),
    streamed)
  private val rowKey = UnsafeProjection.create(terms.streamedKeys, streamed)
  private val residual = terms.residual.map(Predicate.create(_, streamed ++ indexed))
  private val pair = new JoinedRow

  def begin(row: InternalRow): Unit = {
    pair.withLeft(row)
    val found = fields(row)
    val key =
      if (longKey.isDefined) { if (found.isNullAt(0)) -1 else reader.numberOf(found.getLong(0)) }
      else {
        val key = rowKey(row)
        if (key.anyNull) -1 else reader.numberOf(key)
      }
    val fails = !found.isNullAt(3) && found.getBoolean(3)
    if (key < 0 || !fails && (found.isNullAt(1) || found.isNullAt(2))) reader.none()
    else if (fails) reader.all(key)
    else reader.between(key, found.getLong(1), found.getLong(2))
  }

  /** The place of the next match, or -1. */
  def next(): Int = {
    var place = reader.next()
    while (place >= 0 && !residual.forall(_.eval(pair.withRight(reader.row(place))))) place = reader.next()
    place
  }

  def row(place: Int): InternalRow = reader.row(place)
  def candidates(): Long = reader.candidates()
}

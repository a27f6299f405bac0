package io.github.sparkjoinery.rangejoin.runtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._

import io.github.sparkjoinery.rangejoin.runtime.index.RangeIndex

/** One task of a broadcast range join without generated code. */
private[rangejoin] class RangeJoinTask(rangeJoin: RangeJoin, index: RangeIndex) {
  import rangeJoin._

  private val reader = index.reader(terms)
  private val search = new RangeSearch(terms, streamed, indexed, reader)
  private val (probes, candidates) = (metrics("probes"), metrics("candidates"))
  private val output = new RangeJoinOutput(rangeJoin)
  import output._

  /** The rows that the join emits for these streamed rows. */
  def join(rows: Iterator[InternalRow]): Iterator[InternalRow] = given(joinType match {
    case LeftSemi => rows.filter(hasMatch)
    case LeftAnti => rows.filterNot(hasMatch)
    case _: ExistenceJoin => rows.map(row => flagged(row, hasMatch(row)))
    case _ => rows.flatMap(pairs)
  })

  private def hasMatch(row: InternalRow): Boolean = {
    begin(row)
    val found = search.hasMatch()
    candidates += search.candidates()
    found
  }

  private def begin(row: InternalRow): Unit = {
    probes += 1
    search.begin(row)
  }

  /** A streamed row with each of its matches. A row without a match is emitted with NULLs if it is preserved. */
  private def pairs(row: InternalRow): Iterator[InternalRow] = {
    begin(row)
    new Iterator[InternalRow] {
      private var place = find()
      private var isOwed = keepsStreamed && place < 0

      private def find(): Int = {
        val place = search.next()
        if (place < 0) candidates += search.candidates()
        place
      }

      override def hasNext: Boolean = isOwed || {
        if (place == RangeJoinTask.Unknown) place = find()
        place >= 0
      }

      override def next(): InternalRow =
        if (!hasNext) Iterator.empty.next()
        else if (isOwed) {
          isOwed = false
          unmatched(row)
        } else {
          val indexedRow = search.row(place)
          place = RangeJoinTask.Unknown
          sided(row, indexedRow)
        }
    }
  }

  /** The indexed rows that match one of these rows. */
  def mark(rows: Iterator[InternalRow]): MatchedRows = {
    val matched = new MatchedRows
    rows.foreach { row =>
      begin(row)
      search.mark(matched)
      candidates += search.candidates()
    }
    matched
  }

  /** The indexed rows that the join emits by themselves. */
  def indexedRows(matched: MatchedRows): Iterator[InternalRow] = {
    val places = Iterator.range(0, index.numRows)
    given(joinType match {
      case LeftSemi => places.filter(matched.contains).map(search.row)
      case LeftAnti => places.filterNot(matched.contains).map(search.row)
      case _: ExistenceJoin => places.map(place => flagged(search.row(place), matched.contains(place)))
      case _ => places.filterNot(matched.contains).map(place => unmatchedIndexed(search.row(place)))
    })
  }
}

private object RangeJoinTask {
  val Unknown: Int = Int.MinValue
}

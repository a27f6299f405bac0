package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.sql.catalyst.InternalRow

/** Iterator over the left rows of one task, with the match of the current row. */
trait LastJoinTask extends Iterator[InternalRow] {

  /** The match of the row that `next` returned last, or null. */
  def matched: InternalRow
}

/** Starts the tasks of a join. */
trait LastJoinTaskFactory extends Serializable {
  def start(leftRows: Iterator[InternalRow], rightRows: Iterator[InternalRow]): LastJoinTask
}

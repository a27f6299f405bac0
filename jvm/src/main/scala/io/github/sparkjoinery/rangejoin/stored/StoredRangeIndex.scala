package io.github.sparkjoinery.rangejoin.stored

import scala.concurrent.duration.Duration
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.joinery.PlanRows

import io.github.sparkjoinery.artifacts.StoreAccess
import io.github.sparkjoinery.rangejoin.index.{IndexedRows, RangeLayout, SearchableRelation}

/**
 * An index of the artifact store as it is good for one side of a join.
 *
 * @param name
 *   of the relation and of the columns that it is sorted by
 * @param rows
 *   that it holds
 * @param check
 *   reads its files to see that they are what was written
 * @param isShared
 *   whether executors can read its files
 * @param all
 *   the side, from the relation itself
 * @param added
 *   the side, from files that came since; None if there are none
 */
class StoredRangeIndex(
    name: String,
    rows: StoredRows,
    check: () => Unit,
    isShared: Boolean,
    all: LogicalPlan,
    added: Option[LogicalPlan],
    val session: SparkSession) extends Logging {

  /** The columns that its rows have. */
  val output: Seq[Attribute] = all.output

  /** The same for what holds the same rows. */
  def key: Seq[Any] = Seq(rows.key, added.map(_.canonicalized))

  def describe: String =
    s"$name, ${rows.count} rows${if (added.isDefined) " and those of files that came since" else ""}"

  /**
   * Gives a broadcast the index in the place of the side's rows, and the number of those rows. Executors load the index
   * for themselves, where they can. Spark hears the number only after the index has been read and its rows counted. An
   * index that cannot be read after all is left aside, and the rows come from the relation.
   *
   * @param limit
   *   bytes that the index may take
   */
  def collect(layout: RangeLayout, limit: Long): (Long, Iterator[InternalRow]) = {
    val (number, further) = added.fold((0L, Iterator.empty[InternalRow]))(PlanRows.collect(_, session))
    val loaded =
      try Right(load(layout, further, limit))
      catch { case NonFatal(failure) => Left(StoreAccess.reason(failure)) }
    loaded match {
      case Right(Some(index)) => (rows.count + number, new IndexedRows(Some(index)))
      case Right(None) => (PlanRows.count(PlanRows.rdd(all, session)), new IndexedRows(None))
      case Left(reason) =>
        logWarning(s"$name is not used: $reason. The index is built from the relation.")
        PlanRows.collect(all, session)
    }
  }

  /**
   * The index, with further rows, as it is shipped to executors. None if it is too large. Fails if its data is not what
   * its description says.
   */
  private[stored] def load(
      layout: RangeLayout,
      further: Iterator[InternalRow],
      limit: Long): Option[SearchableRelation] = {
    val recipe = StoredRangeRecipe(rows, layout, further.map(_.asInstanceOf[UnsafeRow].copy()).toArray, limit)
    val checked = Future(check())(ExecutionContext.global)
    val index = recipe.load()
    Await.result(checked, Duration.Inf)
    index.map(loaded => if (isShared) new StoredRangeRelation(loaded, recipe.toBytes) else loaded)
  }
}

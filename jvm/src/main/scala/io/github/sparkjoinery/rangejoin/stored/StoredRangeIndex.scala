package io.github.sparkjoinery.rangejoin.stored

import scala.concurrent.duration.Duration
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.joinery.ShippedRelation
import org.apache.spark.sql.joinery.PlanRows

import io.github.sparkjoinery.artifacts.StoreAccess
import io.github.sparkjoinery.rangejoin.index.RangeLayout

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
   * The rows that are to be indexed on top of the stored ones, and how many there are of both: adaptive execution would
   * take a side without rows for an empty one.
   */
  def addedRows: (Long, Iterator[InternalRow]) = {
    val (number, further) = added.fold((0L, Iterator.empty[InternalRow]))(PlanRows.collect(_, session))
    (rows.count + number, further)
  }

  /**
   * The index, with further rows, as it is shipped to executors; or, if it cannot be read after all, what is built from
   * the relation. None if it is too large.
   *
   * @param limit
   *   bytes that it may take
   * @param build
   *   builds an index of rows
   */
  def load(layout: RangeLayout, further: Iterator[InternalRow], limit: Long)(
      build: Iterator[InternalRow] => Option[ShippedRelation]): Option[ShippedRelation] =
    try {
      val recipe = StoredRangeRecipe(rows, layout, further.map(_.asInstanceOf[UnsafeRow].copy()).toArray, limit)
      val checked = Future(check())(ExecutionContext.global)
      val index = recipe.load()
      Await.result(checked, Duration.Inf)
      index.map(loaded => if (isShared) new StoredRangeRelation(loaded, recipe.toBytes) else loaded)
    } catch {
      case NonFatal(failure) =>
        logWarning(s"$name is not used: ${StoreAccess.reason(failure)}. The index is built from the relation.")
        build(PlanRows.collect(all, session)._2)
    }
}

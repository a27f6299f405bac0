package io.github.sparkjoinery.rangejoin.stored

import scala.concurrent.duration.Duration
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.joinery.RunSubplan
import org.apache.spark.sql.joinery.SparkSession

import io.github.sparkjoinery.artifacts.StoreAccess
import io.github.sparkjoinery.rangejoin.logical.RangeLayout
import io.github.sparkjoinery.rangejoin.runtime.index.{PrebuiltIndex, SearchableRelation}

/**
 * A stored range index that is valid for one side of a join.
 *
 * @param name
 *   the relation and the columns that the index is sorted by
 * @param rows
 *   the rows of the index
 * @param check
 *   verifies the checksums of its files
 * @param isShared
 *   true if executors can read its files
 * @param all
 *   the side, read from the relation
 * @param added
 *   the side, read only from files newer than the index; None if there are none
 */
class StoredRangeIndex(
    name: String,
    rows: StoredRows,
    check: () => Unit,
    isShared: Boolean,
    all: LogicalPlan,
    added: Option[LogicalPlan],
    val session: SparkSession) extends Logging {

  /** The columns of its rows. */
  val output: Seq[Attribute] = all.output

  /** Equal for two indexes of the same rows. */
  def key: Seq[Any] = Seq(rows.key, added.map(_.canonicalized))

  def describe: String =
    s"$name, ${rows.count} rows${if (added.isDefined) " and those of files that came since" else ""}"

  /**
   * Collects the index, instead of the side's rows, for a broadcast, and returns the number of rows with it. Executors
   * load the index themselves where they can read the store. The rows have been counted before Spark gets their number.
   * If the index cannot be read after all, the rows are collected from the relation.
   *
   * @param limit
   *   most bytes of the index
   */
  def collect(layout: RangeLayout, limit: Long): (Long, Iterator[InternalRow]) = {
    val (number, further) = added.fold((0L, Iterator.empty: Iterator[InternalRow]))(RunSubplan.collect(_, session))
    val loaded =
      try Right(load(layout, further, limit))
      catch { case NonFatal(failure) => Left(StoreAccess.reason(failure)) }
    loaded match {
      case Right(Some(index)) => (rows.count + number, new PrebuiltIndex(Some(index)))
      case Right(None) => (RunSubplan.count(RunSubplan.rdd(all, session)), new PrebuiltIndex(None))
      case Left(reason) =>
        logWarning(s"$name is not used: $reason. The index is built from the relation.")
        RunSubplan.collect(all, session)
    }
  }

  /**
   * Loads the index, adds further rows, and returns it in the form that is shipped to executors. None if it is too
   * large. Throws if the data does not match its description.
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

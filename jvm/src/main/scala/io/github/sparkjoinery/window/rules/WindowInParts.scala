package io.github.sparkjoinery.window.rules

import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils
import org.apache.spark.sql.joinery.SparkSession
import org.apache.spark.sql.types._

import io.github.sparkjoinery.planning.explain.Decision
import io.github.sparkjoinery.window.logical.{CopyRows, CutTerms, FrameReach, HotKey}
import io.github.sparkjoinery.window.stored.StoredCuts

/**
 * A window whose hot keys are computed in parts. A row goes to its own part, and a copy of it to each other part whose
 * frames may hold it.
 * {{{
 *   Window f PARTITION BY k        Project *, f
 *   +- rows               ==>      +- Filter part >= 0
 *                                     +- Window f PARTITION BY k, abs(part)
 *                                        +- CopyRows part
 *                                           +- rows
 * }}}
 * Parts depend only on a row's key and time. Copies are therefore made before the shuffle, and tied rows share a part.
 *
 * @param window
 *   a window whose frames have both ends
 */
private[window] class WindowInParts(window: Window, reach: FrameReach) extends SQLConfHelper {
  import WindowInParts._

  private val terms = CutTerms(window.partitionSpec, window.orderSpec.head)
  private val child = window.child
  private val sums = SumOverflowRewrite.find(window.windowExpressions)

  /** The plan with cuts from a distribution; None if no key can be cut. */
  def byStore(stored: StoredCuts, parts: Int, mostCopied: Option[Double]): Option[LogicalPlan] = {
    val found = HotKey.find(stored.times, parts, reach, conf.numShufflePartitions, mostCopied, StoredCuts.LeastPoints)
    val cuts = Literal.create(HotKey.toValue(found), HotKey.ManyType)
    if (found.isEmpty) None else Some(plan(cuts, s"$parts parts by the distribution of ${stored.relation}"))
  }

  def bySample(parts: Int): LogicalPlan = {
    val share = shareOfSample
    val names = Seq(terms.id, terms.spread, terms.time).map(Alias(_, "sampled")())
    val Seq(id, spread, time) = names.map(_.toAttribute)
    val sampled = if (share == 1) child else Filter(LessThan(new Rand(Literal(0L)), Literal(share)), child)
    val found = SampledHotKeys(id, spread, time, terms.nullTime, parts, reach, conf.numShufflePartitions)
    plan(subquery(found, optimized(Project(names, sampled))), s"$parts parts by a sample")
  }

  private def plan(hotKeys: Expression, source: String): LogicalPlan = {
    val counted = if (reach.countsRows) withRowsOverCuts(hotKeys) else hotKeys
    val part = AttributeReference(PartName, IntegerType, nullable = false)()
    val unlessOneWraps = reach.wrapsBelow.fold(counted)(unlessWrapped(counted, _))
    val copies = CopyRows(terms.id, terms.time, terms.nullTime, unlessOneWraps, source, part, child)
    val own = Filter(
      GreaterThanOrEqual(part, Literal(0)),
      windows(Abs(part, failOnError = false), copies, s"hot keys cut into $source"))
    Project(child.output ++ sums.results, own)
  }

  /**
   * The windows over the copies. Tied rows may come in any order, but in the same order in all parts. ROWS frames tell
   * tied rows apart, so they get one more ORDER BY term. RANGE frames cannot have one.
   */
  private def windows(part: Expression, copies: LogicalPlan, decision: String): LogicalPlan = {
    val columns = child.output.filter(column => isHashable(column.dataType))
    val (ordered, tied) =
      if (!reach.countsRows || columns.isEmpty) (Nil, sums.computed)
      else sums.computed.partition(functionsOf(_).forall(FrameReach.frameOf(_).frameType == RowFrame))
    val tieBreaker = SortOrder(new XxHash64(columns), Ascending)
    Seq(ordered -> (window.orderSpec :+ tieBreaker), tied -> window.orderSpec).filter(_._1.nonEmpty)
      .foldLeft(copies) { case (rows, (expressions, order)) =>
        val keys = window.partitionSpec :+ part
        val over = expressions.map(_.transform { case function: WindowExpression =>
          function.copy(windowSpec = function.windowSpec.copy(partitionSpec = keys, orderSpec = order))
        }.asInstanceOf[NamedExpression])
        val cut = window.copy(windowExpressions = over, partitionSpec = keys, orderSpec = order, child = rows)
        Decision.record(cut, Decision.WindowParts, decision)
        cut
      }
  }

  /** Reads the rows once more, and counts those near cuts by bucket. */
  private def withRowsOverCuts(hotKeys: Expression): Expression = {
    val whole = if (terms.keys.length == 1) terms.keys.head else CreateStruct(Literal(0) +: terms.keys)
    val bucket = Alias(BucketOfRow(terms.id, whole, terms.time, terms.nullTime, hotKeys, reach), "bucket")()
    val keys = window.partitionSpec.map(Alias(_, "key")())
    val rows = Project(keys :+ bucket, optimized(Project(AttributeSet(terms.keys :+ terms.order.child).toSeq, child)))
    val near = Filter(IsNotNull(bucket.toAttribute), rows)
    val count = Alias(Count(Literal(1)).toAggregateExpression(), "count")()
    val key = keys.map(_.toAttribute)
    val counts = Aggregate(key :+ bucket.toAttribute, key ++ Seq(bucket.toAttribute, count), near)
    val struct = CreateStruct(Seq(
      CutTerms(key, terms.order).id,
      if (key.isEmpty) CreateStruct(Seq(Literal(0))) else CreateStruct(key),
      bucket.toAttribute,
      count.toAttribute))
    val collected = CollectList(struct).toAggregateExpression()
    val result = WithRowsOverCuts(hotKeys, collected, math.max(key.length, 1), reach)
    ScalarSubquery(Aggregate(Nil, Seq(Alias(result, "hotKeys")()), counts))
  }

  /** The hot keys, or NULL if a bound wraps around: its frame holds rows far from its row. */
  private def unlessWrapped(hotKeys: Expression, wrapsBelow: Long): Expression = {
    val time = Alias(terms.time, "time")()
    val earliest = subquery(Min(time.toAttribute), optimized(Project(Seq(time), child)))
    If(LessThan(earliest, Literal(wrapsBelow)), Literal(null, HotKey.ManyType), hotKeys)
  }

  private def subquery(function: AggregateFunction, rows: LogicalPlan): ScalarSubquery =
    ScalarSubquery(Aggregate(Nil, Seq(Alias(function.toAggregateExpression(), "found")()), rows))

  /** Optimizes the plan of a subquery. The optimizer has finished with subqueries by the time that windows are cut. */
  private def optimized(rows: LogicalPlan): LogicalPlan =
    SparkSession.active.sessionState.optimizer.execute(Subquery(rows, correlated = false)) match {
      case subquery: Subquery => subquery.child
      case other => other
    }

  /** The share of rows that are sampled. Rows that the scan skips cost next to nothing. */
  private def shareOfSample: Double = {
    val count = child.stats.sizeInBytes.toDouble / EstimationUtils.getSizePerRow(child.output).toDouble
    math.min(math.max(SampleSize / count, LeastShare), 1)
  }
}

private[window] object WindowInParts {
  private val PartName = "joinery_part"
  private val SampleSize = 1 << 19 // the number of rows is an estimate
  private val LeastShare = 0.01

  /** True if a window is one that this class has made. */
  def isCut(window: Window): Boolean = window.partitionSpec.lastOption.exists {
    case Abs(part: Attribute, _) => part.name == PartName
    case _ => false
  }

  def functionsOf(column: Expression): Seq[WindowExpression] = column.collect { case window: WindowExpression =>
    window
  }

  private def isHashable(dataType: DataType): Boolean = dataType match {
    case ArrayType(element, _) => isHashable(element)
    case MapType(key, value, _) => isHashable(key) && isHashable(value)
    case struct: StructType => struct.forall(field => isHashable(field.dataType))
    case _: NumericType | _: StringType | BooleanType | BinaryType | DateType | TimestampType | TimestampNTZType => true
    case _: DayTimeIntervalType | _: YearMonthIntervalType | CalendarIntervalType | NullType => true
    case _ => false
  }
}

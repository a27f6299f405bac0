package io.github.sparkjoinery.filters.built

import java.util.UUID

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{Max, Min}
import org.apache.spark.sql.catalyst.optimizer.ColumnPruning
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types._

import io.github.sparkjoinery.expressions.{HashedKey, SplitBlockFilter}
import io.github.sparkjoinery.planning.{ListOnce, PinnedTable}

/**
 * What a filter is made of: one row of one struct, `filter` (of all keys together; NULL where there are none), then the
 * smallest and largest value of each term that has a bound. Equal summaries in a query are one subquery, which Spark
 * runs once.
 *
 * @param plan
 *   whose rows have all keys that matter
 * @param keys
 *   its keys, as they are hashed; none for bounds only
 * @param terms
 *   of `plan`, of types that [[KeySummary.extremes]] knows
 */
case class KeySummary(plan: LogicalPlan, keys: Seq[Expression], terms: Seq[Expression]) {

  /** The field of the smallest value of a term; that of the largest is the next. */
  def fieldOf(term: Expression): Int = 1 + 2 * terms.indexWhere(_.semanticEquals(term))

  /** @param limit most keys that a filter is built for */
  def collected(limit: Int): FilterKeys = {
    val struct =
      StructType(StructField("filter", if (keys.isEmpty) NullType else BinaryType) +: terms.zipWithIndex.flatMap {
        case (term, i) =>
          Seq(StructField(s"min$i", term.dataType), StructField(s"max$i", term.dataType))
      })
    val columns = AttributeSet.fromAttributeSets((keys ++ terms).map(_.references))
    FilterKeys(
      keys,
      terms,
      limit,
      AttributeReference("keys", struct, nullable = false)(),
      read(columns))
  }

  /** These columns of the plan, with no others in between. */
  private def read(columns: AttributeSet): LogicalPlan = plan match {
    case PhysicalOperation(output, predicates, table: LeafNode) =>
      val rows = predicates.reduceOption(And(_, _)).fold[LogicalPlan](table)(Filter(_, table))
      Project(output.filter(column => columns.contains(column.toAttribute)), rows)
    case _ => pruned(Project(columns.toSeq, plan))
  }

  private def pruned(plan: LogicalPlan): LogicalPlan = {
    val next = ColumnPruning(plan)
    if (next.fastEquals(plan)) plan else pruned(next)
  }
}

/**
 * The row of a [[KeySummary]]. It becomes an ordinary aggregate, but not before the query is planned: Spark merges
 * aggregates over the same table, and then one waits for the other.
 *
 * What it is of is no child, as there is nothing left for Spark to optimize in it: a filter is in a plan as often as it
 * and its bounds are used, and so, in each, is the filter that it was built of itself. To look at all of them again and
 * again would take longer than to plan the rest of the query.
 *
 * @param child
 *   the rows, read with no other columns
 * @param versions
 *   of the tables that have some, see [[VersionedScans]]; None if they are changing
 */
case class FilterKeys(
    keys: Seq[Expression],
    terms: Seq[Expression],
    limit: Int,
    summary: AttributeReference,
    child: LogicalPlan,
    versions: Option[Seq[String]] = Some(Nil)) extends LeafNode {
  override def output: Seq[Attribute] = Seq(summary)
  override def producedAttributes: AttributeSet = outputSet ++ child.outputSet
  override def maxRows: Option[Long] = Some(1)
  override def computeStats(): Statistics = Statistics(sizeInBytes = summary.dataType.defaultSize, rowCount = Some(1))
  override def innerChildren: Seq[QueryPlan[_]] = Seq(child) // so that EXPLAIN shows it

  override protected def doCanonicalize(): LogicalPlan = {
    def overChild(terms: Seq[Expression]) = terms.map(QueryPlan.normalizeExpressions(_, child.output))
    copy(
      overChild(keys),
      overChild(terms),
      summary = AttributeReference("none", summary.dataType, nullable = false)(ExprId(0)),
      child = child.canonicalized)
  }

  /** Reads the files that the query reads: no others, though they be of the same folder. */
  def listedOnce(listings: ListOnce): FilterKeys = {
    val listed = listings.in(child)(PinnedTable.isOfFiles)
    if (listed.fastEquals(child)) this else copy(child = listed)
  }

  def withScans: FilterKeys = VersionedScans.of(child) match {
    case Some((scans, found)) =>
      if (scans.fastEquals(child) && versions.contains(found)) this else copy(child = scans, versions = Some(found))
    case None => copy(versions = None)
  }

  /** What is planned: nothing is known of the keys if the query reads another version of a table. */
  def planned: LogicalPlan =
    if (versions.contains(VersionedScans.versions(child))) aggregate
    else {
      val row =
        Literal.create(Row.fromSeq(Seq.fill(summary.dataType.asInstanceOf[StructType].length)(null)), summary.dataType)
      Project(Seq(Alias(row, FilterKeys.OfOtherVersion)(summary.exprId)), OneRowRelation())
    }

  private def aggregate: Aggregate = {
    val filter =
      if (keys.isEmpty) Literal(null, NullType)
      else CollectKeys(HashedKey.hash(keys), limit).toAggregateExpression()
    val bounds = terms.zipWithIndex.flatMap { case (term, i) =>
      Seq(
        Literal(s"min$i"),
        Min(term).toAggregateExpression(),
        Literal(s"max$i"),
        Max(term).toAggregateExpression())
    }
    val struct = CreateNamedStruct(Seq(Literal("filter"), filter) ++ bounds)
    Aggregate(Nil, Seq(Alias(struct, summary.name)(summary.exprId)), child)
  }
}

object FilterKeys {

  /** The name of a column that has nothing, as a table has changed. */
  val OfOtherVersion = "keys of another version"
}

object KeySummary {

  /** A filter of a row of [[FilterKeys]], and how many keys it has; None if there are too many, or none. */
  def filterOf(row: InternalRow, source: String): Option[(Long, SplitBlockFilter)] =
    Option(row).filterNot(_.isNullAt(0)).map { row =>
      val (keys, words) = KeyHashes.readFilter(row.getBinary(0))
      (keys, new SplitBlockFilter(source, UUID.randomUUID().toString, words.length / 4, words))
    }

  /** The smallest and the largest value of a type of which bounds are taken. */
  def extremes(dataType: DataType): Option[(Literal, Literal)] = dataType match {
    case ByteType => Some((Literal(Byte.MinValue), Literal(Byte.MaxValue)))
    case ShortType => Some((Literal(Short.MinValue), Literal(Short.MaxValue)))
    case IntegerType | DateType => Some((Literal(Int.MinValue, dataType), Literal(Int.MaxValue, dataType)))
    case LongType | TimestampType | TimestampNTZType =>
      Some((Literal(Long.MinValue, dataType), Literal(Long.MaxValue, dataType)))
    case decimal: DecimalType =>
      val largest =
        Decimal(BigDecimal(BigInt(10).pow(decimal.precision) - 1, decimal.scale), decimal.precision, decimal.scale)
      Some((Literal(-largest, decimal), Literal(largest, decimal)))
    case _ => None
  }
}

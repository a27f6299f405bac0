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
import io.github.sparkjoinery.planning.plans.{ListOnce, PinnedTable}

/**
 * The summary of keys from which a filter is made: one row of one struct. The field `filter` has all keys together, or
 * is NULL if there are none. The other fields are the smallest and largest value of each term that has a bound. Equal
 * summaries in a query are one subquery, which Spark runs once.
 *
 * @param plan
 *   a plan whose rows have all keys that matter
 * @param keys
 *   the plan's keys, as they are hashed; empty for bounds only
 * @param terms
 *   terms of `plan`, of types that [[KeySummary.extremes]] supports
 */
case class KeySummary(plan: LogicalPlan, keys: Seq[Expression], terms: Seq[Expression]) {

  /** The field of the smallest value of a term. The next field has the largest value. */
  def fieldOf(term: Expression): Int = 1 + 2 * terms.indexWhere(_.semanticEquals(term))

  /**
   * The plan that computes the summary.
   *
   * @param limit
   *   the largest number of keys for which a filter is built
   */
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

  /** Reads these columns of the plan, with no others in between. */
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
 * The plan of a [[KeySummary]]. It becomes an ordinary aggregate only when the query is planned. Spark would otherwise
 * merge aggregates over the same table, so that one waits for the other.
 *
 * The rows are no child, because Spark has nothing left to optimize in them. A plan repeats a filter's build for each
 * use of the filter and its bounds. The build in turn contains the filter by which its own table is filtered. Visiting
 * all of them with every rule would take longer than planning the rest of the query.
 *
 * @param child
 *   the rows, read with no other columns
 * @param versions
 *   the versions of the tables that have some, see [[VersionedScans]]; None if they are changing
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

  /** Makes the summary read the same files as the query, and no other files of the same folder. */
  def listedOnce(listings: ListOnce): FilterKeys = {
    val listed = listings.in(child)(PinnedTable.isOfFiles)
    if (listed.fastEquals(child)) this else copy(child = listed)
  }

  def withScans: FilterKeys = VersionedScans.of(child) match {
    case Some((scans, found)) =>
      if (scans.fastEquals(child) && versions.contains(found)) this else copy(child = scans, versions = Some(found))
    case None => copy(versions = None)
  }

  /** The plan to run. It knows nothing of the keys if the query reads another version of a table. */
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

  /** The name of a column without a value, which stands for a changed table. */
  val OfOtherVersion = "keys of another version"
}

object KeySummary {

  /** The filter in a row of [[FilterKeys]], and its number of keys. None if there are too many keys, or none. */
  def filterOf(row: InternalRow, source: String): Option[(Long, SplitBlockFilter)] =
    Option(row).filterNot(_.isNullAt(0)).map { row =>
      val (keys, words) = KeyHashes.readFilter(row.getBinary(0))
      (keys, new SplitBlockFilter(source, UUID.randomUUID().toString, words.length / 4, words))
    }

  /** The smallest and the largest value of a type that supports bounds. */
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

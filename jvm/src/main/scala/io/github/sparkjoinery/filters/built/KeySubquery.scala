package io.github.sparkjoinery.filters.built

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{ScalarSubquery => _, _}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.LeafLike
import org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.types.DataType

import io.github.sparkjoinery.expressions.KeyFilter

/**
 * A subquery as Spark plans it, except that the query waits for it only for a limited time.
 *
 * @param plan
 *   a [[KeySubqueryExec]], or a node that reuses one
 */
case class KeySubquery(plan: BaseSubqueryExec, exprId: ExprId) extends ExecSubqueryExpression with Unevaluable
  with LeafLike[Expression] {
  override def dataType: DataType = plan.schema.head.dataType
  override def nullable: Boolean = true
  override def toString: String = plan.name
  override def withNewPlan(plan: BaseSubqueryExec): KeySubquery = copy(plan = plan)
  override lazy val canonicalized: Expression =
    KeySubquery(plan.canonicalized.asInstanceOf[BaseSubqueryExec], ExprId(0))

  @volatile private var found: Option[KeyFilter] = None

  override def updateResult(): Unit = {
    plan.executeCollect() // throws if the query has to fail
    found = Some(KeySubquery.owner(plan).filter)
  }

  /** The filter; None until it is built. */
  def filter: Option[KeyFilter] = found
}

/**
 * A bound of keys. It is a `ScalarSubquery` because a scan of files replaces only those by their values, to tell its
 * reader which rows to skip.
 */
class KeyBoundSubquery(plan: BaseSubqueryExec, exprId: ExprId, val field: Int, val absent: Literal)
  extends ScalarSubquery(plan, exprId) {
  @volatile private var value: Literal = _

  override def dataType: DataType = absent.dataType
  override def nullable: Boolean = false
  override def toString: String = s"bound $field by ${plan.name}"
  override def withNewPlan(plan: BaseSubqueryExec): KeyBoundSubquery =
    new KeyBoundSubquery(plan, exprId, field, absent)
  override lazy val canonicalized: Expression =
    new KeyBoundSubquery(plan.canonicalized.asInstanceOf[BaseSubqueryExec], ExprId(0), field, absent)

  override def updateResult(): Unit = {
    val row = plan.executeCollect().headOption.map(_.getStruct(0, field + 1)).orNull
    value = Literal(KeyBound.of(row, field, absent), dataType)
  }

  private def found: Literal = {
    require(value != null, s"$this has not finished")
    value
  }

  /**
   * The value for a reader. Readers use Java's dates and times, which do not reach as far as Spark's. A value beyond
   * them is replaced by one of a type that Parquet's reader ignores.
   */
  override def toLiteral: Literal = if (KeyBound.isTellable(found)) found else Literal.TrueLiteral

  override def eval(input: InternalRow): Any = found.value
  override def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = found.doGenCode(ctx, ev)

  // A task that interprets the expression receives the value, not the plan. Plans are sent along with tasks, too, and
  // some of those never run.
  private def writeReplace(): AnyRef = if (value == null) Literal(null, dataType) else value

  // The methods of a case class, including the two additional fields.
  override def productArity: Int = 4
  override def productElement(n: Int): Any = n match {
    case 0 => plan
    case 1 => exprId
    case 2 => field
    case 3 => absent
    case _ => throw new IndexOutOfBoundsException(n.toString)
  }
  override def canEqual(other: Any): Boolean = other.isInstanceOf[KeyBoundSubquery]
  override def equals(other: Any): Boolean = other match {
    case bound: KeyBoundSubquery =>
      bound.plan == plan && bound.exprId == exprId && bound.field == field && bound.absent == absent
    case _ => false
  }
  override def hashCode: Int = (plan, exprId, field).hashCode
}

object KeySubquery {

  private def owner(plan: BaseSubqueryExec): KeySubqueryExec = plan match {
    case ReusedSubqueryExec(child) => owner(child)
    case owner: KeySubqueryExec => owner
  }

  /** Replaces the subqueries that Spark planned for filters by [[KeySubqueryExec]]. */
  object Plan extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan.transformAllExpressionsWithPruning(
      _.containsPattern(PLAN_EXPRESSION)) {
      case built @ BuiltFilter(ScalarSubquery(plan, id), source, _) =>
        built.copy(keys = KeySubquery(ofPlan(plan, source), id))
      case KeyBound(ScalarSubquery(plan, id), field, absent, source, isTold) =>
        val bound = new KeyBoundSubquery(ofPlan(plan, source), id, field, absent)
        // Readers see a value that a column is compared with, but not a value inside another term. Spark would remove
        // such a term from a logical plan.
        if (isTold) bound else Coalesce(Seq(bound))
    }

    private def ofPlan(plan: BaseSubqueryExec, source: String): KeySubqueryExec =
      KeySubqueryExec(plan.name, source, keysOf(plan.child))

    private def keysOf(plan: SparkPlan): SparkPlan = plan match {
      case AdaptiveSparkPlanExec(keys: FilterKeysExec, context, _, _, _) => keys.copy(context = Some(context))
      case other => other
    }
  }
}

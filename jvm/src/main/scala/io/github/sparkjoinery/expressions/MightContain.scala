package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.types.{BinaryType, BooleanType, DataType}

/** What a runtime filter compares keys with. The rows that it drops match nothing. */
trait OfRuntimeFilter extends Expression

/**
 * An expression that stands for a filter: of the store, or built while the query runs. It has no value but the filter.
 */
trait KeyFilterExpression extends OfRuntimeFilter {

  /** The filter; on the driver, and once the subquery that builds it is through. */
  def keyFilter: KeyFilter

  /** Whether hardly any row is likely to pass. */
  def isSelective: Boolean
  override def nullable: Boolean = false
  override def dataType: DataType = BinaryType
}

/** A filter that is there when the query is planned. */
case class StoredFilter(keyFilter: KeyFilter, isSelective: Boolean = false) extends LeafExpression
  with KeyFilterExpression with Unevaluable {
  override def toString: String = keyFilter.relation
}

/** The keys of two filters: one that was there, and one of what has come since. */
case class EitherFilter(stored: Expression, added: Expression) extends BinaryExpression with KeyFilterExpression
  with Unevaluable {
  override def left: Expression = stored
  override def right: Expression = added
  override def toString: String = s"$stored and $added"

  override def keyFilter: KeyFilter = EitherKeyFilter(partOf(stored).keyFilter, partOf(added).keyFilter)
  override def isSelective: Boolean = partOf(stored).isSelective && partOf(added).isSelective

  private def partOf(filter: Expression) = filter.asInstanceOf[KeyFilterExpression]

  override protected def withNewChildrenInternal(newLeft: Expression, newRight: Expression): EitherFilter =
    copy(stored = newLeft, added = newRight)
}

/**
 * Whether a filter may contain a key: false if it surely does not, or if the key is NULL; true if the key raises an
 * error, as the query may drop the row before it computes the key. It stands only where rows whose key the filter does
 * not contain have no effect, so that any answer is right that is true for all keys in the filter; true for all is what
 * it comes to where too few rows are dropped. Never NULL, which a Filter would take for false.
 *
 * @param hash
 *   `xxhash64` of the key, NULL if one of its columns is
 * @param filter
 *   the filter, common to all tasks
 * @param pauses
 *   whether it may let a row pass whose key it has dropped before, as it does where it is of little use; not below an
 *   aggregate that might fail of a part of its rows
 */
case class MightContain(hash: Expression, filter: Expression, pauses: Boolean) extends BinaryExpression
  with Predicate
  with ConditionalExpression {

  // Spark would compute ahead what two tests have in common: a key, which may fail, or a filter, which has no value.
  override def alwaysEvaluatedInputs: Seq[Expression] = Nil
  override def branchGroups: Seq[Seq[Expression]] = Nil
  override def withNewAlwaysEvaluatedInputs(inputs: Seq[Expression]): MightContain = this

  override def left: Expression = hash
  override def right: Expression = filter
  override def nullable: Boolean = false
  override def dataType: DataType = BooleanType
  override def prettyName: String = "joinery_might_contain"
  override def toString: String = s"$prettyName(${keys.mkString(", ")}, $filter)"
  override def sql: String = s"$prettyName(${keys.map(_.sql).mkString(", ")})"

  private def keyFilter: KeyFilter = filter.asInstanceOf[KeyFilterExpression].keyFilter

  /** Whether hardly any row is likely to pass. */
  def isSelective: Boolean = filter.asInstanceOf[KeyFilterExpression].isSelective

  private def keys: Seq[Expression] = hash.collectFirst { case XxHash64(keys, _) => keys }.getOrElse(Seq(hash))

  // one per task, as each task has its own copy of the expression
  @transient private lazy val tester = keyFilter.newTester(pauses)

  override def eval(input: InternalRow): Any = tester.skips() || {
    try {
      val value = hash.eval(input)
      value != null && tester.mightContain(value.asInstanceOf[Long])
    } catch { case _: Exception => true }
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val shared = ctx.addReferenceObj("filter", keyFilter, classOf[KeyFilter].getName)
    val tester =
      ctx.addMutableState(classOf[KeyTester].getName, "tester", name => s"$name = $shared.newTester($pauses);")
    val key = hash.genCode(ctx)
    ev.copy(
      code = code"""
        boolean ${ev.value} = $tester.skips();
        if (!${ev.value}) {
          try {
            ${key.code}
            ${ev.value} = !${key.isNull} && $tester.mightContain(${key.value});
          } catch (Exception e) {
            ${ev.value} = true;
          }
        }""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(newLeft: Expression, newRight: Expression): MightContain =
    copy(hash = newLeft, filter = newRight)
}

object MightContain {

  /**
   * A test by a stored filter.
   *
   * @param keys
   *   of the types that the filter hashes, see [[HashedKey]]
   * @param isSelective
   *   whether hardly any row is likely to pass
   */
  def apply(keys: Seq[Expression], filter: KeyFilter, isSelective: Boolean = false): MightContain =
    MightContain(HashedKey.hash(keys), StoredFilter(filter, isSelective), pauses = true)
}

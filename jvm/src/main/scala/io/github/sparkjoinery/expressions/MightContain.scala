package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * True if a filter may contain a key; false if it surely does not, or if the key is NULL. The answer is also true if
 * the key throws, because the query may drop the row before it evaluates the key. The expression is only used where
 * rows with other keys have no effect. Any answer is therefore right if it is true for all keys of the filter. If the
 * filter drops too few rows, the answer becomes true for all. It is never NULL, which a Filter would treat as false.
 *
 * @param hash
 *   `xxhash64` of the key; NULL if a column of the key is NULL
 * @param filter
 *   the filter, shared by all tasks
 * @param pauses
 *   true if rows may pass untested while the filter drops few. The same key may then be dropped in one row and pass in
 *   another. Not allowed below an aggregate that may throw when it sees only some rows of a key.
 */
case class MightContain(hash: Expression, filter: Expression, pauses: Boolean) extends BinaryExpression
  with Predicate
  with ConditionalExpression {

  // Spark would evaluate common parts of two tests ahead of both: a key, which may throw, or a filter without a value.
  override def alwaysEvaluatedInputs: Seq[Expression] = Nil
  override def branchGroups: Seq[Seq[Expression]] = Nil
  def withNewAlwaysEvaluatedInputs(inputs: Seq[Expression]): MightContain = this

  override def left: Expression = hash
  override def right: Expression = filter
  override def nullable: Boolean = false
  override def dataType: DataType = BooleanType
  override def prettyName: String = "joinery_might_contain"
  override def toString: String = s"$prettyName(${keys.mkString(", ")}, $filter)"
  override def sql: String = s"$prettyName(${keys.map(_.sql).mkString(", ")})"

  private def keyFilter: KeyFilter = filter.asInstanceOf[KeyFilterExpression].keyFilter

  /** True if hardly any row is likely to pass. */
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

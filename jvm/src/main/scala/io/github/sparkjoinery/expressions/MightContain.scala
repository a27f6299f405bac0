package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * Whether a filter may contain a key: false if it surely does not, or if the key is NULL. It stands only where rows
 * whose key the filter does not contain have no effect, so that any answer is right that is true for all keys in the
 * filter; true for all is what it comes to where too few rows are dropped. Never NULL, which a Filter would take for
 * false.
 *
 * @param hash
 *   `xxhash64` of the key, NULL if one of its columns is
 * @param filter
 *   the filter, common to all tasks
 */
case class MightContain(hash: Expression, filter: KeyFilter) extends UnaryExpression with Predicate {

  override def child: Expression = hash
  override def nullable: Boolean = false
  override def dataType: DataType = BooleanType
  override def prettyName: String = "joinery_might_contain"
  override def toString: String = s"$prettyName(${keys.mkString(", ")}, ${filter.relation})"
  override def sql: String = s"$prettyName(${keys.map(_.sql).mkString(", ")})"

  private def keys: Seq[Expression] = hash.collectFirst { case XxHash64(keys, _) => keys }.getOrElse(Seq(hash))

  // one per task, as each task has its own copy of the expression
  @transient private lazy val tester = filter.newTester()

  override def eval(input: InternalRow): Any = {
    val value = hash.eval(input)
    value != null && tester.mightContain(value.asInstanceOf[Long])
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val shared = ctx.addReferenceObj("filter", filter, classOf[KeyFilter].getName)
    val tester = ctx.addMutableState(classOf[KeyTester].getName, "tester", name => s"$name = $shared.newTester();")
    val key = hash.genCode(ctx)
    ev.copy(
      code = code"""
        ${key.code}
        final boolean ${ev.value} = !${key.isNull} && $tester.mightContain(${key.value});""",
      isNull = FalseLiteral)
  }

  override protected def withNewChildInternal(newChild: Expression): MightContain = copy(hash = newChild)
}

object MightContain {

  /** @param keys of the types that the filter hashes, see [[HashedKey]] */
  def apply(keys: Seq[Expression], filter: KeyFilter): MightContain = {
    val hash = new XxHash64(keys)
    val nullKeys = keys.filter(_.nullable).map(IsNull(_): Expression).reduceOption(Or(_, _))
    MightContain(nullKeys.fold[Expression](hash)(anyNull => If(anyNull, Literal(null, hash.dataType), hash)), filter)
  }
}

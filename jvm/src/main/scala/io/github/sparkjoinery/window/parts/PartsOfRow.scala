package io.github.sparkjoinery.window.parts

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.trees.TernaryLike
import org.apache.spark.sql.types.{ArrayType, DataType, IntegerType}

/**
 * The labels of the parts of a hot key that a row goes to, its own first.
 *
 * @param id
 *   of the row's key, see [[HotKey]]
 * @param time
 *   a long
 * @param nullTime
 *   the long for NULL
 * @param hotKeys
 *   NULL: no key is cut
 * @param source
 *   says in EXPLAIN how many parts there are, and where the cuts come from
 */
case class PartsOfRow(id: Expression, time: Expression, nullTime: Long, hotKeys: Expression, source: String)
  extends Expression with TernaryLike[Expression] {
  override def first: Expression = id
  override def second: Expression = time
  override def third: Expression = hotKeys
  override def dataType: DataType = ArrayType(IntegerType, containsNull = false)
  override def nullable: Boolean = false
  override def prettyName: String = "joinery_window_parts"
  override def toString: String = s"$prettyName($id, $time, $source)"

  @transient private lazy val lookup = new PartLookup(hotKeys.eval())

  override def eval(input: InternalRow): Any = {
    val at = time.eval(input)
    lookup.partsOf(id.eval(input).asInstanceOf[Long], if (at == null) nullTime else at.asInstanceOf[Long])
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val (key, at, all) = (id.genCode(ctx), time.genCode(ctx), hotKeys.genCode(ctx))
    val lookup = classOf[PartLookup].getName
    val parts = ctx.addMutableState(lookup, "windowParts")
    ev.copy(
      code = code"""
      if ($parts == null) {
        ${all.code}
        $parts = new $lookup(${all.isNull} ? null : ${all.value});
      }
      ${key.code}
      ${at.code}
      ArrayData ${ev.value} = $parts.partsOf(${key.value}, ${at.isNull} ? ${nullTime}L : ${at.value});
      """,
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(
      newFirst: Expression,
      newSecond: Expression,
      newThird: Expression): PartsOfRow = copy(id = newFirst, time = newSecond, hotKeys = newThird)
}

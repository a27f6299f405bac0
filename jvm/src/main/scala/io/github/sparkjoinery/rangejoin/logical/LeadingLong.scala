package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.joinery.Collations
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.sparkjoinery.expressions.NullForNull
import io.github.sparkjoinery.expressions.OrderedLong

/**
 * The beginning of a value as a long: the leading digits of a long decimal, or eight bytes of a string. The eight bytes
 * follow the prefix that all strings of the index share.
 */
private[rangejoin] case class LeadingLong(child: Expression, prefix: SharedPrefix) extends UnaryExpression
  with NullForNull {
  override def dataType: DataType = LongType

  override protected def nullSafeEval(value: Any): Any = value match {
    case text: UTF8String => prefix.longOf(text)
    case bytes: Array[Byte] => prefix.longOf(bytes)
    case decimal: Decimal => LeadingLong.ofDecimal(decimal)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    child.dataType match {
      case _: DecimalType => defineCodeGen(ctx, ev, value => s"${classOf[LeadingLong].getName}.ofDecimal($value)")
      case _ =>
        val reference = ctx.addReferenceObj("prefix", prefix, classOf[SharedPrefix].getName)
        defineCodeGen(ctx, ev, text => s"$reference.longOf($text)")
    }

  override protected def withNewChildInternal(newChild: Expression): LeadingLong = copy(child = newChild)
}

object LeadingLong {

  /**
   * Strings in another order than that of their bytes are not supported, such as those ordered by language or without
   * case.
   */
  def supports(dataType: DataType): Boolean = dataType match {
    case text: StringType => Collations.sortsByBytes(text)
    case BinaryType | _: DecimalType => true
    case _ => false
  }

  def ofDecimal(decimal: Decimal): Long = OrderedLong.ofDouble(decimal.toDouble)
}

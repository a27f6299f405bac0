package io.github.sparkjoinery.rangejoin.index

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.joinery.StringOrder
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{ByteArray, UTF8String}

import io.github.sparkjoinery.expressions.OrderedLong
import io.github.sparkjoinery.planning.MayFail

/** The long by which an index files a term: it never falls as the term rises. */
object RangeLong {

  def supports(dataType: DataType): Boolean = isExact(dataType) || LeadingLong.supports(dataType)

  /** Whether different values have different longs. Else what an index finds has to be compared itself. */
  def isExact(dataType: DataType): Boolean = OrderedLong.supports(dataType)

  def apply(term: Expression): Expression = if (isExact(term.dataType)) OrderedLong(term) else LeadingLong(term)

  /** The same; NULL if the term fails, unless it may be open. */
  def orNull(term: Expression): Expression = term match {
    case open: OpenBound =>
      If(MayFail.orNull(open.isOpen), open.longOfOpen, Coalesce(Seq(orNull(open.term), open.longOfNull)))
    case _ => apply(MayFail.orNull(term))
  }

  /** Whether one of several terms raises an error. */
  def anyFails(terms: Seq[Expression]): Expression = MayFail.anyOf(terms.flatMap {
    case open: OpenBound => open.children
    case term => Seq(term)
  })
}

/** What values begin with, as a long: the first eight bytes of strings, the leading digits of long decimals. */
private[rangejoin] case class LeadingLong(child: Expression) extends UnaryExpression {
  override def nullIntolerant: Boolean = true
  override def dataType: DataType = LongType

  override protected def nullSafeEval(value: Any): Any = value match {
    case text: UTF8String => LeadingLong.of(text)
    case bytes: Array[Byte] => LeadingLong.of(bytes)
    case decimal: Decimal => LeadingLong.of(decimal)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, value => s"${classOf[LeadingLong].getName}.of($value)")

  override protected def withNewChildInternal(newChild: Expression): LeadingLong = copy(child = newChild)
}

object LeadingLong {

  /** Strings in an order of their own, by language or without case, are not: bytes say nothing of it. */
  def supports(dataType: DataType): Boolean = dataType match {
    case text: StringType => StringOrder.isOfBytes(text)
    case BinaryType | _: DecimalType => true
    case _ => false
  }

  // Spark's prefixes are compared without a sign.
  def of(text: UTF8String): Long = text.getPrefix ^ Long.MinValue
  def of(bytes: Array[Byte]): Long = ByteArray.getPrefix(bytes) ^ Long.MinValue
  def of(decimal: Decimal): Long = OrderedLong.ofDouble(decimal.toDouble)
}

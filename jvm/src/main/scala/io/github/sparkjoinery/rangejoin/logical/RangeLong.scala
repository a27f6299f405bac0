package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.joinery.StringOrder
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.sparkjoinery.expressions.OrderedLong
import io.github.sparkjoinery.planning.terms.{MayFail, OnError}

/** The long by which an index sorts a term. The long never falls as the term rises. */
object RangeLong {

  def supports(dataType: DataType): Boolean = isExact(dataType) || LeadingLong.supports(dataType)

  /** True if different values have different longs. Otherwise the values of candidates are compared, too. */
  def isExact(dataType: DataType): Boolean = OrderedLong.supports(dataType)

  def apply(term: Expression, prefix: SharedPrefix = new SharedPrefix): Expression = term match {
    case open: OpenBound => If(open.isOpen, open.longOfOpen, Coalesce(Seq(apply(open.term, prefix), open.longOfNull)))
    case _ if isExact(term.dataType) => OrderedLong(term)
    case _ => LeadingLong(term, prefix)
  }

  /** The long of a term that bounds rows of the other side from below. A term that fails is within every bound. */
  def lower(term: Expression, prefix: SharedPrefix = new SharedPrefix): Expression =
    orElse(term, apply(term, prefix), Long.MinValue)

  /** The long of a term that bounds rows of the other side from above. A term that fails is within every bound. */
  def upper(term: Expression, prefix: SharedPrefix = new SharedPrefix): Expression =
    orElse(term, apply(term, prefix), Long.MaxValue)

  /** A long computed from a term, or another long if the term fails. */
  def orElse(term: Expression, long: Expression, ifFails: Long): Expression =
    if (mayFail(term)) OnError(long, Literal(ifFails)) else long

  def mayFail(term: Expression): Boolean = term match {
    case open: OpenBound => open.children.exists(MayFail(_))
    case _ => MayFail(term)
  }
}

/**
 * The beginning of a value as a long: the leading digits of a long decimal, or eight bytes of a string. The eight bytes
 * follow the prefix that all strings of the index share.
 */
private[rangejoin] case class LeadingLong(child: Expression, prefix: SharedPrefix) extends UnaryExpression {
  override def nullIntolerant: Boolean = true
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
    case text: StringType => StringOrder.isOfBytes(text)
    case BinaryType | _: DecimalType => true
    case _ => false
  }

  def ofDecimal(decimal: Decimal): Long = OrderedLong.ofDouble(decimal.toDouble)
}

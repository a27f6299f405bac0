package io.github.sparkjoinery.expressions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{DataType, IntegerType}

/**
 * Returns the label of the part that a row's time falls into. Part i begins at the i-th cut. A NULL time is in the last
 * part.
 *
 * @param time
 *   a long
 * @param cuts
 *   an array of longs, ascending; NULL if there is only one part
 * @param labels
 *   part number -> label
 */
case class TimePart(time: Expression, cuts: Expression, labels: Seq[Int]) extends BinaryExpression {
  override def left: Expression = time
  override def right: Expression = cuts
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  private lazy val labelArray = labels.toArray

  override def eval(input: org.apache.spark.sql.catalyst.InternalRow): Any = {
    val (at, cut) = (time.eval(input), cuts.eval(input).asInstanceOf[ArrayData])
    labelArray(if (at == null) TimePart.last(cut) else TimePart.partOf(at.asInstanceOf[Long], cut))
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val (at, cut) = (time.genCode(ctx), cuts.genCode(ctx))
    val labelsTerm = ctx.addReferenceObj("labels", labelArray, "int[]")
    val timePart = TimePart.getClass.getName.stripSuffix("$")
    val cutsOrNull = s"${cut.isNull} ? null : ${cut.value}"
    ev.copy(
      code = code"""
      ${at.code}
      ${cut.code}
      int ${ev.value} =
        $labelsTerm[${at.isNull} ? $timePart.last($cutsOrNull) : $timePart.partOf(${at.value}, $cutsOrNull)];
      """,
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(newLeft: Expression, newRight: Expression): TimePart =
    copy(time = newLeft, cuts = newRight)
}

object TimePart {

  /** The number of the last part. */
  def last(cuts: ArrayData): Int = if (cuts == null) 0 else cuts.numElements()

  /** The part of a time: the number of cuts that are not after it. */
  def partOf(time: Long, cuts: ArrayData): Int = {
    var low = 0
    var high = last(cuts)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (cuts.getLong(middle) <= time) low = middle + 1 else high = middle
    }
    low
  }
}

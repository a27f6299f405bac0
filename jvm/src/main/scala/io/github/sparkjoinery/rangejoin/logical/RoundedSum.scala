package io.github.sparkjoinery.rangejoin.logical

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, DoubleType}

import io.github.sparkjoinery.expressions.NullForNull

/** Adds a constant to a double, and widens the sum by more than the rounding error. */
private[rangejoin] case class RoundedSum(child: Expression, by: Double, isUpper: Boolean, rounding: Double)
  extends UnaryExpression with NullForNull {
  override def dataType: DataType = DoubleType

  override protected def nullSafeEval(value: Any): Any =
    RoundedSum.add(value.asInstanceOf[Double], by, isUpper, rounding)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    def constant(name: String, value: Double) = ctx.addReferenceObj(name, value, "Double")
    val (offset, error) = (constant("by", by), constant("rounding", rounding))
    defineCodeGen(ctx, ev, value => s"${classOf[RoundedSum].getName}.add($value, $offset, $isUpper, $error)")
  }

  override protected def withNewChildInternal(newChild: Expression): RoundedSum = copy(child = newChild)
}

object RoundedSum {

  /**
   * The slack covers three roundings: of the difference, of this sum and of the slack. It is twice as large as needed,
   * and larger near zero.
   */
  def add(value: Double, by: Double, isUpper: Boolean, rounding: Double): Double = {
    val slack = (math.abs(value) + math.abs(by)) * (rounding * 8) + LeastSlack
    if (isUpper) value + by + slack else value + by - slack
  }

  private val LeastSlack = java.lang.Float.MIN_VALUE.toDouble * 8
}

package io.github.sparkjoinery.window.logical.program

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._

/** Decides which window functions `SlidingWindow` can compute, and which of them it makes faster. */
private[window] object WindowSupport {

  /** Returns why a function stays with Spark's operator; None if `SlidingWindow` can compute it. */
  def reasonAgainst(window: WindowExpression, order: Seq[SortOrder]): Option[String] = window.windowFunction match {
    case offset: FrameLessOffsetWindowFunction =>
      if (offset.ignoreNulls) Some(s"${name(window)} IGNORE NULLS") else None
    case _: RowNumber | _: Rank | _: DenseRank => None
    case _: AggregateWindowFunction => Some(s"${name(window)} needs all of a partition, or has no merge")
    case AggregateExpression(_: Product, _, _, _, _) =>
      Some("product: whether it is infinite depends on the order of multiplication")
    case AggregateExpression(sum, _, _, _, _) if ExactSum.isNullOnTheWay(sum) && isRecomputed(window) =>
      Some(s"${name(window)}: NULL where a part of the frame's sum does not fit")
    case AggregateExpression(_: DeclarativeAggregate, _, _, _, _) => window.windowSpec.frameSpecification match {
        case frame: SpecifiedWindowFrame if frame.frameType == RangeFrame =>
          Seq(frame.lower, frame.upper).collectFirst {
            case offset
                if !offset.isInstanceOf[SpecialFrameBoundary] && RangeFrameBound.bound(order.head, offset).isEmpty =>
              s"RANGE with an offset of type ${offset.dataType.sql} from values of type ${order.head.dataType.sql}"
          }
        case _ => None
      }
    case _ => Some(s"${name(window)} has no merge of partial results in expressions")
  }

  /** True if Spark's operator computes each frame of the function from scratch. */
  def isRecomputed(window: WindowExpression): Boolean = window.windowFunction match {
    case _: AggregateExpression => window.windowSpec.frameSpecification match {
        case frame: SpecifiedWindowFrame => frame.lower != UnboundedPreceding
        case _ => false
      }
    case _ => false
  }

  private def name(window: WindowExpression): String = window.windowFunction match {
    case aggregate: AggregateExpression => aggregate.aggregateFunction.prettyName
    case other => other.prettyName
  }
}

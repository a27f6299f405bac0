package io.github.sparkjoinery.window.logical

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}

/**
 * The reach of frames over a cut, in rows and in time. A reach that is too long copies rows in vain, but changes no
 * answer.
 *
 * @param rowsBefore
 *   the number of rows that ROWS frames hold before their row
 * @param rowsAfter
 *   the number of rows that ROWS frames hold after their row
 * @param ranges
 *   the reach of each RANGE frame
 */
private[window] case class FrameReach(rowsBefore: Int, rowsAfter: Int, ranges: Seq[RangeReach]) {
  def countsRows: Boolean = rowsBefore > 0 || rowsAfter > 0

  /** True if all rows have to be read once before they are cut. */
  def readsTwice: Boolean = countsRows || wrapsBelow.isDefined

  /** Rows before this time have a bound that wraps around to the greatest values. None if no row has one. */
  def wrapsBelow: Option[Long] = ranges.flatMap(_.wrapsBelow).reduceOption(_ max _)

  /** The earliest time in RANGE frames of rows at or after a cut. */
  def from(cut: Long): Long = (cut +: ranges.map(_.from(cut))).min

  /** The latest time in RANGE frames of rows before a cut. */
  def to(cut: Long): Long = ((cut - 1) +: ranges.map(_.to(cut))).max
}

private[window] object FrameReach {

  /**
   * Finds the reach of a window's frames.
   *
   * @return
   *   the reach, or the reason why the window cannot be cut
   */
  def find(order: Seq[SortOrder], functions: Seq[WindowExpression]): Either[String, FrameReach] = {
    val frames = functions.map(frameOf)
    val unbounded = frames.collectFirst {
      case frame if frame.lower == UnboundedPreceding => "a frame begins with its partition"
      case frame if frame.upper == UnboundedFollowing => "a frame ends with its partition"
    }
    unbounded.toLeft(()).flatMap { _ =>
      val (rows, ranges) = frames.partition(_.frameType == RowFrame)
      val numbers = rows.flatMap(frame => Seq(frame.lower, frame.upper)).filter(_ != CurrentRow).map(
        _.eval().asInstanceOf[Int])
      val reaches = ranges.filterNot(frame => frame.lower == CurrentRow && frame.upper == CurrentRow).map(
        RangeReach.find(order.head, _))
      reaches.collectFirst { case Left(reason) => reason }.toLeft(
        FrameReach(
          (0L +: numbers.map(-_.toLong)).max.min(Int.MaxValue).toInt,
          (0 +: numbers).max,
          reaches.collect { case Right(reach) => reach }
        ))
    }
  }

  def frameOf(window: WindowExpression): SpecifiedWindowFrame = window.windowFunction match {
    case offset: FrameLessOffsetWindowFunction => offset.fakeFrame
    case _ => window.windowSpec.frameSpecification.asInstanceOf[SpecifiedWindowFrame]
  }
}

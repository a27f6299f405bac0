package io.github.sparkjoinery.lastjoin

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike
import org.apache.spark.sql.execution.{SortExec, SparkPlan}

/**
 * Has an [[AfterRightExec]] wait for the very shuffle that its join reads. The strategy plans the right side twice, and
 * Spark need not see that both are the same: batches of a source that does not say when they are equal never are. Then
 * the right side would be read twice.
 */
object WaitForOwnRightSide extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp { case join: ShuffledLastJoinExec =>
    join.withNewChildren(Seq(waitingFor(shuffleOf(join.right), join.left), join.right))
  }

  private def waitingFor(right: SparkPlan, left: SparkPlan): SparkPlan = left match {
    case after: AfterRightExec => after.copy(right = right)
    case _: SortExec | _: ShuffleExchangeLike => left.withNewChildren(left.children.map(waitingFor(right, _)))
    case _ => left
  }

  private def shuffleOf(right: SparkPlan): SparkPlan = right match {
    case SortExec(_, false, shuffle, _) => shuffle
    case _ => right
  }
}

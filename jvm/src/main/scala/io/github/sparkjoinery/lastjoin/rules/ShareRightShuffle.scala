package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike
import org.apache.spark.sql.execution.{SortExec, SparkPlan}

import io.github.sparkjoinery.lastjoin.exec.{AfterRightExec, ShuffledLastJoinExec}

/**
 * Makes an [[AfterRightExec]] wait for the same shuffle that its join reads. The strategy plans the right side twice,
 * and Spark may not recognize the two plans as equal. Batch scans of a source that does not define equality are never
 * equal. The right side would then be read twice.
 */
object ShareRightShuffle extends Rule[SparkPlan] {

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

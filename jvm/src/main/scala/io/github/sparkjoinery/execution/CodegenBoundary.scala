package io.github.sparkjoinery.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution._

/**
 * Marks an operator whose children get whole-stage code of their own, as below Spark's shuffled joins. Spark has a
 * fixed list of operators that it treats so. Without the marker, a chain of joins would exceed the limit of two inputs
 * per generated stage.
 */
trait ChildrenInOwnStages extends SparkPlan

/**
 * Ends the code generation stage of its child. It is placed in two cases:
 *   - below an operator with [[ChildrenInOwnStages]];
 *   - below a union, if the child has such an operator. From Spark 4.3 on, a union shares the code of its children if
 *     each of them has one input.
 */
case class CodegenBoundaryExec(child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "CodegenBoundary"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override protected def doExecute(): RDD[InternalRow] = child.execute()
  override protected def withNewChildInternal(newChild: SparkPlan): CodegenBoundaryExec = copy(child = newChild)
}

/** Inserts the boundaries just before Spark chooses its code generation stages. */
object CodegenBoundaries extends ColumnarRule {
  override def postColumnarTransitions: Rule[SparkPlan] = SeparateChildren

  private object SeparateChildren extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = if (!conf.wholeStageEnabled) plan
    else plan.transformUp {
      case parent: ChildrenInOwnStages => parent.withNewChildren(parent.children.map(separate))
      case union: UnionExec => union.withNewChildren(union.children.map { child =>
          if (child.exists(_.isInstanceOf[ChildrenInOwnStages])) separate(child) else child
        })
    }

    private def separate(child: SparkPlan): SparkPlan = child match {
      case child: CodegenSupport if child.supportCodegen => CodegenBoundaryExec(child)
      case child => child
    }
  }
}

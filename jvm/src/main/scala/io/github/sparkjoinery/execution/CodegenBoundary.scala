package io.github.sparkjoinery.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution._

/**
 * An operator whose children's generated code stays in stages of its own, as below Spark's own shuffled joins. Spark
 * names the operators that it treats so. Without this, a chain of joins would have more than the two inputs that
 * generated code can have.
 */
trait ChildrenInOwnStages extends SparkPlan

/**
 * Stands between an operator with [[ChildrenInOwnStages]] and a child with generated code, and ends the child's stage.
 * So it does between a union and a child with such an operator: from Spark 4.3 on a union is part of its children's
 * code, if each of them has one input.
 */
case class CodegenBoundaryExec(child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "CodegenBoundary"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override protected def doExecute(): RDD[InternalRow] = child.execute()
  override protected def withNewChildInternal(newChild: SparkPlan): CodegenBoundaryExec = copy(child = newChild)
}

/** Puts the boundaries in, just before Spark marks what it generates code for. */
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

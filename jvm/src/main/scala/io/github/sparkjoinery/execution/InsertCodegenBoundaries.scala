package io.github.sparkjoinery.execution

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution._

/** Inserts the boundaries just before Spark chooses its code generation stages. */
object InsertCodegenBoundaries extends ColumnarRule {
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

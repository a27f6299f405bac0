package io.github.sparkjoinery.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution._

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

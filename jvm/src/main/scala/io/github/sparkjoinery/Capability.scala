package io.github.sparkjoinery

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNode
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

/**
 * Rules that work together and share a switch. If a rule needs a class or method that the running Spark does not have,
 * all of them are switched off, with one message in the log. Queries then run as on stock Spark, or fail in the planner
 * if they contain a LAST JOIN.
 *
 * @param name
 *   the name for the message
 */
private[sparkjoinery] class Capability(name: String) extends Logging {

  @volatile private var isOff = false

  def rule[P <: TreeNode[P]](wrapped: => Rule[P]): Rule[P] = new Switched(wrapped)

  def strategy(wrapped: => SparkStrategy): SparkStrategy = new SparkStrategy {
    override def apply(plan: LogicalPlan): Seq[SparkPlan] = orElse(Nil: Seq[SparkPlan])(wrapped(plan))
  }

  private class Switched[P <: TreeNode[P]](wrapped: => Rule[P]) extends Rule[P] {
    override val ruleName: String = orElse(getClass.getName)(wrapped.ruleName)

    override def apply(plan: P): P = orElse(plan)(wrapped(plan))
  }

  private def orElse[T](stock: T)(body: => T): T =
    if (isOff) stock
    else
      try body
      catch {
        case error: LinkageError =>
          switchOff(error)
          stock
      }

  private def switchOff(error: LinkageError): Unit = synchronized {
    if (!isOff) {
      isOff = true
      logWarning(
        s"Joinery's $name are switched off: this Spark, ${org.apache.spark.SPARK_VERSION}, lacks a class or method that " +
          "they use. Run the Apache Spark that the jar is built for, or use the portable mode of the dbt macros.",
        error
      )
    }
  }
}

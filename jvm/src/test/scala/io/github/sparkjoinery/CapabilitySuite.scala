package io.github.sparkjoinery

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, OneRowRelation, Range}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

/** Rules of a capability on a Spark that lacks a method that they call. */
class CapabilitySuite extends AnyFunSuite {
  private val plan: LogicalPlan = OneRowRelation()
  private val replaced: LogicalPlan = Range(0, 1, 1, None)

  private object Replaces extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = replaced
  }

  private object Fails extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = throw new NoSuchMethodError("Join.hint()")
  }

  private object NoPlan extends SparkStrategy {
    override def apply(plan: LogicalPlan): Seq[SparkPlan] = throw new NoClassDefFoundError("JoinHint")
  }

  test("a rule that works is applied, under its own name") {
    val rule = new Capability("tests").rule[LogicalPlan](Replaces)
    assert(rule(plan) == replaced)
    assert(rule.ruleName == Replaces.ruleName)
  }

  test("a rule that lacks a method of Spark switches all rules of its capability off") {
    val capability = new Capability("tests")
    val (works, fails) = (capability.rule[LogicalPlan](Replaces), capability.rule[LogicalPlan](Fails))
    assert(works(plan) != plan)
    assert(fails(plan) == plan)
    assert(works(plan) == plan)
    assert(new Capability("others").rule[LogicalPlan](Replaces)(plan) != plan)
  }

  test("a strategy that lacks a class of Spark plans nothing") {
    val capability = new Capability("tests")
    assert(capability.strategy(NoPlan)(plan).isEmpty)
    assert(capability.rule[LogicalPlan](Replaces)(plan) == plan)
  }

  test("a rule whose own class does not load is off") {
    def broken: Rule[LogicalPlan] = throw new ExceptionInInitializerError("no such trait")
    assert(new Capability("tests").rule(broken)(plan) == plan)
  }

  test("any other error is the query's") {
    object Rejects extends Rule[LogicalPlan] {
      override def apply(plan: LogicalPlan): LogicalPlan = throw new IllegalStateException("rejected")
    }
    intercept[IllegalStateException](new Capability("tests").rule[LogicalPlan](Rejects)(plan))
  }
}

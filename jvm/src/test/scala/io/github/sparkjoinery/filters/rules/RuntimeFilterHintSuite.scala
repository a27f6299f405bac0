package io.github.sparkjoinery.filters.rules

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.plans.logical.HintInfo

class RuntimeFilterHintSuite extends AnyFunSuite {

  /** A hint as it comes from a Spark that resolves RUNTIME_FILTER itself. */
  private def sparks(isSource: Boolean): HintInfo = new HintInfo {
    override def productElementNames: Iterator[String] = Iterator("strategy", "runtimeFilterSource")
    override def productIterator: Iterator[Any] = Iterator(None, isSource)
  }

  test("Spark's own hint counts as Joinery's") {
    assert(RuntimeFilterHint.isOn(Some(sparks(isSource = true))))
    assert(!RuntimeFilterHint.isOn(Some(sparks(isSource = false))))
    assert(!RuntimeFilterHint.isOn(Some(HintInfo())) && !RuntimeFilterHint.isOn(None))
  }
}

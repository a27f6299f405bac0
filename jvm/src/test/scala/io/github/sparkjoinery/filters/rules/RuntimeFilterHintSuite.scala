package io.github.sparkjoinery.filters.rules

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.plans.logical.HintInfo

/** A hint as it comes from a Spark that resolves RUNTIME_FILTER itself. */
class SparksHint(val runtimeFilterSource: Boolean) extends HintInfo

class RuntimeFilterHintSuite extends AnyFunSuite {

  test("Spark's own hint counts as Joinery's") {
    assert(RuntimeFilterHint.isOn(Some(new SparksHint(true))))
    assert(!RuntimeFilterHint.isOn(Some(new SparksHint(false))))
    assert(!RuntimeFilterHint.isOn(Some(HintInfo())) && !RuntimeFilterHint.isOn(None))
  }
}

package io.github.sparkjoinery.expressions

/** Tests the keys of one task. */
trait KeyTester {

  /** True if the next row passes untested. */
  def skips(): Boolean = false

  /** False only if no key in the filter has this hash. */
  def mightContain(hash: Long): Boolean
}

package io.github.sparkjoinery.expressions

/**
 * What `joinery_might_contain` asks: a filter over hashes of keys that is stored, built while the query runs, or
 * absent. All tasks share it; equal filters are one and the same, so that plans with them can be compared.
 */
trait KeyFilter extends Serializable {

  /** What the keys are of, for EXPLAIN. */
  def relation: String

  /**
   * What one task asks.
   *
   * @param pauses
   *   whether it may let rows pass unseen
   */
  def newTester(pauses: Boolean = true): KeyTester
}

/** Tests the keys of one task. */
trait KeyTester {

  /** Whether the next row passes, whatever its key. */
  def skips(): Boolean = false

  /** False only if no key of the filter has this hash. */
  def mightContain(hash: Long): Boolean

  /** Keys that were looked up; those that passed unseen are not among them. */
  def rowsTested: Long = 0

  /** Keys of those that were not found. */
  def rowsDropped: Long = 0

  /** Whether it has let rows pass unseen, as most that it had seen passed. */
  def hasPaused: Boolean = false
}

/** No filter: every key passes. */
case class AbsentFilter(relation: String) extends KeyFilter {
  override def newTester(pauses: Boolean): KeyTester = new KeyTester {
    override def mightContain(hash: Long): Boolean = true
  }
}

/** A key passes that one of two filters may contain. */
case class EitherKeyFilter(first: KeyFilter, second: KeyFilter) extends KeyFilter {
  override def relation: String = first.relation

  override def newTester(pauses: Boolean): KeyTester = new KeyTester {
    private val (mostly, otherwise) = (first.newTester(pauses), second.newTester(pauses))
    override def skips(): Boolean = mostly.skips() || otherwise.skips()
    override def mightContain(hash: Long): Boolean = mostly.mightContain(hash) || otherwise.mightContain(hash)
  }
}

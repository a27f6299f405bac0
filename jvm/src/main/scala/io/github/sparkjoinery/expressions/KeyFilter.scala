package io.github.sparkjoinery.expressions

/**
 * The filter that `joinery_might_contain` tests hashes of keys with: stored, built by the query, or absent. All tasks
 * of an executor share it. Implementations define `equals`, so that Spark can compare plans with filters.
 */
trait KeyFilter extends Serializable {

  /** The identity of the relation whose keys it has, for EXPLAIN. */
  def relation: String

  /**
   * Makes the tester of one task.
   *
   * @param pauses
   *   true if rows may pass untested
   */
  def newTester(pauses: Boolean = true): KeyTester
}

/** Lets every key pass, in place of a filter that could not be built or read. */
case class AbsentFilter(relation: String) extends KeyFilter {
  override def newTester(pauses: Boolean): KeyTester = new KeyTester {
    override def mightContain(hash: Long): Boolean = true
  }
}

/** Lets a key pass if one of two filters may contain it. */
case class EitherKeyFilter(first: KeyFilter, second: KeyFilter) extends KeyFilter {
  override def relation: String = first.relation

  override def newTester(pauses: Boolean): KeyTester = new KeyTester {
    private val (mostly, otherwise) = (first.newTester(pauses), second.newTester(pauses))
    override def skips(): Boolean = mostly.skips() || otherwise.skips()
    override def mightContain(hash: Long): Boolean = mostly.mightContain(hash) || otherwise.mightContain(hash)
  }
}

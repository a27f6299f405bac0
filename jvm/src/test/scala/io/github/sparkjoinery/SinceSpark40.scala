package io.github.sparkjoinery

import org.scalatest.Tag

/**
 * Marks tests of statements that Spark has since 4.0: pipes, scripts, variables and collations. It also marks tests
 * that compare their answers with lateral subqueries with LIMIT. build.py leaves these tests out on Spark 3.5.
 */
object SinceSpark40 extends Tag("io.github.sparkjoinery.SinceSpark40")

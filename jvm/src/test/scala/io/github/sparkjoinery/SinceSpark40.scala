package io.github.sparkjoinery

import org.scalatest.Tag

/**
 * Marks tests of statements that Spark has from 4.0 on: pipes, scripts, variables, collations, and the lateral
 * subqueries with LIMIT that other answers are compared with. build.py leaves them out on Spark 3.5.
 */
object SinceSpark40 extends Tag("io.github.sparkjoinery.SinceSpark40")

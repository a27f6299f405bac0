package io.github.sparkjoinery

import org.scalatest.Tag

/**
 * Marks tests of what does not depend on Spark's version, in suites that otherwise do. `make test` runs them on the
 * default line of Spark alone; where all suites run on another line, as in `make soak`, they do, too.
 */
object OnDefaultLine extends Tag("io.github.sparkjoinery.OnDefaultLine")

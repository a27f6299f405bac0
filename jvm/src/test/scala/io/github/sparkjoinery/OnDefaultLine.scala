package io.github.sparkjoinery

import org.scalatest.Tag

/**
 * Marks tests that do not depend on Spark's version, in suites whose other tests do. `make test` runs them only on the
 * default line of Spark. They run on another line if all suites run there, as in `make soak`.
 */
object OnDefaultLine extends Tag("io.github.sparkjoinery.OnDefaultLine")

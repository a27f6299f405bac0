package org.apache.spark.sql.joinery

import org.apache.spark.util.ThreadUtils

/** Runs a function on several things in parallel, with one thread per core. */
object InParallel {
  def apply[T, R](things: Seq[T], name: String)(work: T => R): Seq[R] =
    ThreadUtils.parmap(things, name, Runtime.getRuntime.availableProcessors)(work)
}

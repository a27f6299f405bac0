package org.apache.spark.sql.joinery

import org.apache.spark.util.ThreadUtils

/** Work on several things at a time, in as many threads as there are cores. */
object InParallel {
  def apply[T, R](things: Seq[T], name: String)(work: T => R): Seq[R] =
    ThreadUtils.parmap(things, name, Runtime.getRuntime.availableProcessors)(work)
}

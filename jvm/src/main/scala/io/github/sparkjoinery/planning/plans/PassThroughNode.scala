package io.github.sparkjoinery.planning.plans

/** A logical node that returns exactly the rows of its child. */
trait PassThroughNode

package io.github.sparkjoinery.planning

/** A logical node that returns exactly the rows of its child. */
trait RowsOfChild

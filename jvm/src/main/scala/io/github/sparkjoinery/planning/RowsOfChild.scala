package io.github.sparkjoinery.planning

/** A node of a logical plan that has the rows of its child, whatever it does with them. */
trait RowsOfChild

package io.github.sparkjoinery.filters.logical

import org.apache.spark.sql.catalyst.plans.logical._

/**
 * A side of a join whose rows a runtime filter may drop.
 *
 * @param isLeft
 *   true for the left side
 * @param rows
 *   its plan
 * @param creation
 *   the plan of the other side, whose keys make the filter
 */
case class ApplicationSide(isLeft: Boolean, rows: LogicalPlan, creation: LogicalPlan)

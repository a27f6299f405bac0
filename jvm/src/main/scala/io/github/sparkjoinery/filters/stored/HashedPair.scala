package io.github.sparkjoinery.filters.stored

import org.apache.spark.sql.catalyst.expressions._

/**
 * A pair of equal keys, normalized for hashing.
 *
 * @param mine
 *   the key over the creation side's relation
 * @param theirs
 *   the key over the application side
 */
case class HashedPair(mine: Expression, theirs: Expression)

package io.github.sparkjoinery.planning

import org.apache.spark.sql.catalyst.trees.Origin

/** Shows the place of a node in the user's text, as Spark's errors do. */
object PlaceInText {

  /** Returns the text on a line of its own, or an empty string. */
  def show(origin: Origin): String =
    origin.getQueryContext.headOption.map(context => "\n" + context.summary).getOrElse("")
}

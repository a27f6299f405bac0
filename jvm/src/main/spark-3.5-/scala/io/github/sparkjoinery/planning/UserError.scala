package io.github.sparkjoinery.planning

/** The error class of our errors. Before Spark 4.0 no class shows a message as it is, so they have none. */
object UserError {
  val errorClass: Option[String] = None
}

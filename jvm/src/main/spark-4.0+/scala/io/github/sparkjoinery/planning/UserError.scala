package io.github.sparkjoinery.planning

/**
 * The error class of our errors. PySpark and Connect look up the class in Spark's own list and fail if it is missing.
 * Our condition is therefore a parameter. Spark shows the message of this class as it is, without a prefix.
 */
object UserError {
  val errorClass: Option[String] = Some("_LEGACY_ERROR_USER_RAISED_EXCEPTION")
}

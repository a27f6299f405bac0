package org.apache.spark.sql.joinery

/** What Spark tells listeners, on a thread of its own. */
object SparkEvents {

  /** Waits until listeners have heard of all that has happened. */
  def await(session: SparkSession): Unit = session.sparkContext.listenerBus.waitUntilEmpty()
}

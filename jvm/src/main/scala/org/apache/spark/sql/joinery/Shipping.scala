package org.apache.spark.sql.joinery

import org.apache.spark.SparkEnv
import org.apache.spark.internal.config.Kryo.KRYO_REGISTRATION_REQUIRED
import org.apache.spark.internal.config.SERIALIZER

/** Checks if the serializer accepts objects of Joinery's classes. */
object Shipping {

  /**
   * Returns the reason why it does not; None if it does. Kryo's classes are registered before extensions are loaded, so
   * Joinery cannot add its own.
   */
  def refused: Option[String] = {
    val conf = SparkEnv.get.conf
    if (conf.get(SERIALIZER).endsWith("KryoSerializer") && conf.get(KRYO_REGISTRATION_REQUIRED))
      Some(s"${KRYO_REGISTRATION_REQUIRED.key} forbids to broadcast what Joinery builds")
    else None
  }
}

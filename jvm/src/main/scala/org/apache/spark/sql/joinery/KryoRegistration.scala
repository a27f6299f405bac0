package org.apache.spark.sql.joinery

import org.apache.spark.SparkEnv
import org.apache.spark.internal.config.Kryo.KRYO_REGISTRATION_REQUIRED
import org.apache.spark.internal.config.SERIALIZER

/** Checks if Kryo's settings allow objects of Joinery's classes, which are not registered. */
object KryoRegistration {

  /**
   * Returns the reason why they do not; None if they do. Kryo's classes are registered before extensions are loaded, so
   * Joinery cannot add its own.
   */
  def missing: Option[String] = {
    val conf = SparkEnv.get.conf
    if (conf.get(SERIALIZER).endsWith("KryoSerializer") && conf.get(KRYO_REGISTRATION_REQUIRED))
      Some(s"${KRYO_REGISTRATION_REQUIRED.key} forbids to broadcast what Joinery builds")
    else None
  }
}

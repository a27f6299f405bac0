package org.apache.spark.sql.joinery

import org.apache.spark.SparkEnv
import org.apache.spark.internal.config.Kryo.KRYO_REGISTRATION_REQUIRED
import org.apache.spark.internal.config.SERIALIZER

/** Whether objects of classes that are not Spark's can be sent to executors. */
object Shipping {

  /** Why not; None if they can. Classes are registered before an extension is heard of. */
  def refused: Option[String] = {
    val conf = SparkEnv.get.conf
    if (conf.get(SERIALIZER).endsWith("KryoSerializer") && conf.get(KRYO_REGISTRATION_REQUIRED))
      Some(s"${KRYO_REGISTRATION_REQUIRED.key} forbids to broadcast what Joinery builds")
    else None
  }
}

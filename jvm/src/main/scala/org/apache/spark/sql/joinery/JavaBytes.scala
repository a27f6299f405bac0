package org.apache.spark.sql.joinery

import java.nio.ByteBuffer

import scala.reflect.ClassTag

import org.apache.spark.SparkEnv
import org.apache.spark.rdd.RDD

/**
 * Serializes objects with Java instead of `spark.serializer`. Kryo may not have Joinery's classes registered, and does
 * not serialize functions.
 */
object JavaBytes {

  def write[T: ClassTag](value: T): Array[Byte] = {
    val buffer = SparkEnv.get.closureSerializer.newInstance().serialize(value)
    val bytes = new Array[Byte](buffer.remaining)
    buffer.get(bytes)
    bytes
  }

  def read[T: ClassTag](bytes: Array[Byte]): T =
    SparkEnv.get.closureSerializer.newInstance().deserialize[T](
      ByteBuffer.wrap(bytes),
      Thread.currentThread().getContextClassLoader)

  /** Collects all elements on the driver. */
  def collect[T: ClassTag](elements: RDD[T]): Seq[T] =
    elements.mapPartitions(ofTask => Iterator(write(ofTask.toArray))).collect().toSeq.flatMap(read[Array[T]](_))
}

package io.github.sparkjoinery.artifacts

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.types._

/**
 * The hot keys of a relation, with boundaries between equal parts of each. Values are Spark's internal ones.
 *
 * @param keys
 *   columns that are the key
 * @param time
 *   column of the boundaries
 */
case class Distribution(relation: String, keys: Seq[String], time: String, hot: Seq[HotKey])

case class HotKey(key: Seq[Any], rows: Long, boundaries: Seq[Any])

object Distribution {
  val Kind = "distribution"

  /** The key and the time of a version. */
  def columns(version: ArtifactVersion): (Seq[String], String) =
    (version.spec.path("partition_by").elements().asScala.map(_.asText).toSeq, version.spec.path("order_by").asText)

  /**
   * Reads a version whole.
   *
   * @param types
   *   of the columns, as the relation has them now
   */
  def read(version: ArtifactVersion, files: StoreFiles, types: String => DataType): Distribution = {
    val (keys, time) = columns(version)
    val hot = Seq.newBuilder[HotKey]
    val read = StructType(
      Seq(
        StructField("is_hot", BooleanType),
        StructField("row_count", LongType),
        StructField("quantiles", ArrayType(types(time)))) ++ keys.map(key => StructField(key, types(key))))
    files.data(version).foreach { bytes =>
      ParquetBytes.foreach(bytes, read) { row =>
        if (!row.isNullAt(0) && row.getBoolean(0) && !row.isNullAt(2)) {
          val boundaries = row.getArray(2).toObjectArray(types(time)).toSeq
          if (boundaries.nonEmpty)
            hot += HotKey(
              keys.zipWithIndex.map { case (key, i) => row.get(i + 3, types(key)) },
              row.getLong(1),
              boundaries.filter(_ != null))
        }
      }
    }
    Distribution(version.field("relation"), keys, time, hot.result())
  }
}

package io.github.sparkjoinery.artifacts

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.types._

/**
 * The hot keys of a relation, with quantiles of the time column for each. Values are in Spark's internal form.
 *
 * @param keys
 *   the key columns
 * @param time
 *   the column that the boundaries are values of
 */
case class Distribution(relation: String, keys: Seq[String], time: String, hot: Seq[HotKeyQuantiles])

case class HotKeyQuantiles(key: Seq[Any], rows: Long, boundaries: Seq[Any])

object Distribution {
  val Kind = "distribution"

  /** Returns the key columns and the time column of a version. */
  def columns(version: ArtifactVersion): (Seq[String], String) =
    (version.spec.path("partition_by").elements().asScala.map(_.asText).toVector, version.spec.path("order_by").asText)

  /**
   * Reads the hot keys of a version.
   *
   * @param types
   *   column name -> its current type in the relation
   */
  def read(version: ArtifactVersion, files: StoreFiles, types: String => DataType): Distribution = {
    val (keys, time) = columns(version)
    val hot = Seq.newBuilder[HotKeyQuantiles]
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
            hot += HotKeyQuantiles(
              keys.zipWithIndex.map { case (key, i) => row.get(i + 3, types(key)) },
              row.getLong(1),
              boundaries.filter(_ != null))
        }
      }
    }
    Distribution(version.field("relation"), keys, time, hot.result())
  }
}

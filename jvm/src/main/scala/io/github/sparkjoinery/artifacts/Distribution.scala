package io.github.sparkjoinery.artifacts

import java.nio.ByteOrder

import scala.jdk.CollectionConverters._

import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{INT32, INT64, INT96}

import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * The hot keys of a relation, with quantiles of the time column for each. Values are in Spark's internal form.
 *
 * @param keys
 *   the key columns
 * @param time
 *   the column that the boundaries are values of
 */
case class Distribution(relation: String, keys: Seq[String], time: String, hot: Seq[HotKey])

case class HotKey(key: Seq[Any], rows: Long, boundaries: Seq[Any])

object Distribution {
  val Kind = "distribution"

  /** Returns the key columns and the time column of a version. */
  def columns(version: ArtifactVersion): (Seq[String], String) =
    (version.spec.path("partition_by").elements().asScala.map(_.asText).toSeq, version.spec.path("order_by").asText)

  /**
   * Reads the hot keys of a version.
   *
   * @param types
   *   column name -> its current type in the relation
   */
  def read(version: ArtifactVersion, files: StoreFiles, types: String => DataType): Distribution = {
    val (keys, time) = columns(version)
    val hot = Seq.newBuilder[HotKey]
    files.data(version).foreach { bytes =>
      ParquetBytes.foreach[Group](bytes, new GroupRecordConverter(_)) { row =>
        if (isPresent(row, "is_hot") && row.getBoolean("is_hot", 0) && isPresent(row, "quantiles")) {
          val list = row.getGroup("quantiles", 0)
          val boundaries =
            (0 until list.getFieldRepetitionCount(0)).map(list.getGroup(0, _)).map(value(_, "element", types(time)))
          if (boundaries.nonEmpty) {
            hot += HotKey(
              keys.map(key => value(row, key, types(key))),
              row.getLong("row_count", 0),
              boundaries.filter(_ != null))
          }
        }
      }
    }
    Distribution(version.field("relation"), keys, time, hot.result())
  }

  private def isPresent(row: Group, field: String): Boolean = row.getFieldRepetitionCount(field) > 0

  private def value(row: Group, field: String, dataType: DataType): Any = {
    def stored = row.getType.getFields.get(row.getType.getFieldIndex(field)).asPrimitiveType.getPrimitiveTypeName
    if (!isPresent(row, field)) null
    else (dataType, stored) match {
      case (BooleanType, _) => row.getBoolean(field, 0)
      case (ByteType, INT32) => row.getInteger(field, 0).toByte
      case (ShortType, INT32) => row.getInteger(field, 0).toShort
      case (IntegerType | DateType, INT32) => row.getInteger(field, 0)
      case (LongType | TimestampType | TimestampNTZType, INT64) => row.getLong(field, 0)
      case (TimestampType, INT96) =>
        val bytes = row.getInt96(field, 0).toByteBuffer.order(ByteOrder.LITTLE_ENDIAN)
        val nanosOfDay = bytes.getLong()
        DateTimeUtils.fromJulianDay(bytes.getInt(), nanosOfDay)
      case (FloatType, _) => row.getFloat(field, 0)
      case (DoubleType, _) => row.getDouble(field, 0)
      case (StringType, _) => UTF8String.fromBytes(row.getBinary(field, 0).getBytes)
      case (decimal: DecimalType, INT32) => Decimal(row.getInteger(field, 0).toLong, decimal.precision, decimal.scale)
      case (decimal: DecimalType, INT64) => Decimal(row.getLong(field, 0), decimal.precision, decimal.scale)
      case (other, _) =>
        throw new DamagedArtifactException(s"its column $field of type ${other.simpleString} is stored as $stored")
    }
  }
}

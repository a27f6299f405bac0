package io.github.sparkjoinery.window.runtime.frames

import org.apache.spark.sql.catalyst.expressions.{BaseGenericInternalRow, SpecificInternalRow}
import org.apache.spark.sql.catalyst.types._
import org.apache.spark.sql.types.{DataType, Decimal}

/** The results of one function for a batch of rows. */
private[window] sealed trait ResultColumn {
  def isNullAt(at: Int): Boolean
  def get(at: Int): Any
}

/** Results that are numbers, or that Spark stores as numbers. */
private[window] final class NumberColumn(batch: Int, dataType: DataType) extends ResultColumn {
  private val words = new Array[Long](batch)
  private val nulls = new Array[Boolean](batch)

  def setNull(at: Int): Unit = nulls(at) = true
  def setLong(at: Int, value: Long): Unit = { words(at) = value; nulls(at) = false }
  def setDouble(at: Int, value: Double): Unit = {
    words(at) = java.lang.Double.doubleToRawLongBits(value); nulls(at) = false
  }

  override def isNullAt(at: Int): Boolean = nulls(at)
  def getLong(at: Int): Long = words(at)
  def getDouble(at: Int): Double = java.lang.Double.longBitsToDouble(words(at))

  private val read: Int => Any = PhysicalDataType(dataType) match {
    case PhysicalByteType => at => words(at).toByte
    case PhysicalShortType => at => words(at).toShort
    case PhysicalIntegerType => at => words(at).toInt
    case PhysicalFloatType => at => getDouble(at).toFloat
    case PhysicalDoubleType => at => getDouble(at)
    case PhysicalDecimalType(precision, scale) => at => Decimal(words(at), precision, scale)
    case _ => at => words(at)
  }
  override def get(at: Int): Any = if (nulls(at)) null else read(at)
}

/** Results of any type, as a field of one row per row of the batch. */
private[window] final class FieldColumn(rows: Array[SpecificInternalRow], field: Int) extends ResultColumn {
  override def isNullAt(at: Int): Boolean = rows(at).isNullAt(field)
  override def get(at: Int): Any = rows(at).get(field, null)
}

/** The results of all functions for the current row of a batch. */
final class ResultRow private[window] (columns: Array[ResultColumn]) extends BaseGenericInternalRow {
  private var at = 0

  def moveTo(row: Int): ResultRow = { at = row; this }

  override def numFields: Int = columns.length
  override def isNullAt(ordinal: Int): Boolean = columns(ordinal).isNullAt(at)
  override protected def genericGet(ordinal: Int): Any = columns(ordinal).get(at)

  override def getLong(ordinal: Int): Long = columns(ordinal) match {
    case numbers: NumberColumn => numbers.getLong(at)
    case other => other.get(at).asInstanceOf[Long]
  }
  override def getInt(ordinal: Int): Int = columns(ordinal) match {
    case numbers: NumberColumn => numbers.getLong(at).toInt
    case other => other.get(at).asInstanceOf[Int]
  }
  override def getDouble(ordinal: Int): Double = columns(ordinal) match {
    case numbers: NumberColumn => numbers.getDouble(at)
    case other => other.get(at).asInstanceOf[Double]
  }

  override def setNullAt(ordinal: Int): Unit = throw new UnsupportedOperationException("results are read only")
  override def update(ordinal: Int, value: Any): Unit = setNullAt(ordinal)
}

package io.github.sparkjoinery.filters.stored

import java.util
import java.util.OptionalLong
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.types._
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.github.sparkjoinery.ReadOnlyCatalog

/**
 * A catalog of tables of the new kind of source. `pinned` has one version, and `unknown` does not tell its version.
 * `moves_after_n` has the first version in its first n scans, and the second one in later scans. Version n has the keys
 * n, n + 1, ... n + 19.
 */
class VersionedCatalog extends ReadOnlyCatalog(new VersionedTable(_))

class VersionedTable(override val name: String) extends Table with SupportsRead {
  private val scans = new AtomicInteger
  private val moves = if (name.startsWith("moves_after_")) name.drop("moves_after_".length).toInt else Int.MaxValue
  private def current: Int = 1 + math.max(0, math.min(scans.get - moves, 1))
  override def version(): String = if (name == "unknown") null else current.toString
  override def properties(): util.Map[String, String] = util.Map.of("provider", "versioned")
  override def schema(): StructType = new StructType().add("k", IntegerType)
  override def columns(): Array[Column] = Array(Column.create("k", IntegerType))
  override def capabilities(): util.Set[TableCapability] = util.EnumSet.of(TableCapability.BATCH_READ)
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = {
    scans.incrementAndGet()
    val version = current
    () => new KeyScan(version)
  }
}

class KeyScan(version: Int) extends Scan with Batch with SupportsReportStatistics {
  override def readSchema(): StructType = new StructType().add("k", IntegerType)
  override def toBatch: Batch = this
  override def estimateStatistics(): Statistics = new Statistics {
    override def sizeInBytes(): OptionalLong = OptionalLong.of(80)
    override def numRows(): OptionalLong = OptionalLong.of(20)
  }
  override def planInputPartitions(): Array[InputPartition] = Array(KeysFrom(version))
  override def createReaderFactory(): PartitionReaderFactory = KeyReaders
}

case class KeysFrom(version: Int) extends InputPartition

object KeyReaders extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    new PartitionReader[InternalRow] {
      private var at = -1
      override def next(): Boolean = { at += 1; at < 20 }
      override def get(): InternalRow =
        new GenericInternalRow(Array[Any](partition.asInstanceOf[KeysFrom].version + at))
      override def close(): Unit = ()
    }
}

package io.github.sparkjoinery.lastjoin

import java.util
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.types.{IntegerType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Numbers, of a source that does not say when two of its batches are the same, and counts the rows that are read. */
class Numbers extends TableProvider {
  private val one = new StructType().add("id", IntegerType, nullable = false)

  override def inferSchema(options: CaseInsensitiveStringMap): StructType = one

  override def getTable(schema: StructType, partitions: Array[Transform], properties: util.Map[String, String]): Table =
    new Table with SupportsRead {
      override def name: String = "numbers"
      override def schema: StructType = one
      override def capabilities: util.Set[TableCapability] = util.Collections.singleton(TableCapability.BATCH_READ)
      override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () =>
        new Scan {
          override def readSchema: StructType = one
          override def toBatch: Batch = new Batch {
            override def planInputPartitions(): Array[InputPartition] = Array(Numbers.All)
            override def createReaderFactory(): PartitionReaderFactory = Numbers.Readers
          }
        }
    }
}

object Numbers {
  val Rows = 20000
  val read = new AtomicInteger

  private object All extends InputPartition

  private object Readers extends PartitionReaderFactory {
    override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
      new PartitionReader[InternalRow] {
        private var id = -1
        override def next(): Boolean = {
          id += 1
          if (id < Rows) read.incrementAndGet()
          id < Rows
        }
        override def get(): InternalRow = new GenericInternalRow(Array[Any](id))
        override def close(): Unit = ()
      }
  }
}

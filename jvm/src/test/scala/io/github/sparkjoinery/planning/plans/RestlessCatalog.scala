package io.github.sparkjoinery.planning.plans

import java.util
import java.util.concurrent.atomic.AtomicInteger

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.types._
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.github.sparkjoinery.ReadOnlyCatalog

/**
 * A catalog whose only table has the times from 0 to 19999. Each read has them in another order, and in other
 * partitions, as a database gives them without ORDER BY; and no read equals another, so that Spark reuses none.
 */
class RestlessCatalog extends ReadOnlyCatalog(new RestlessTable(_))

class RestlessTable(override val name: String) extends Table with SupportsRead {
  override def schema(): StructType = new StructType().add("t", LongType, nullable = false)
  override def columns(): Array[Column] = Array(Column.create("t", LongType, false))
  override def capabilities(): util.Set[TableCapability] = util.EnumSet.of(TableCapability.BATCH_READ)
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () => new RestlessScan
}

class RestlessScan extends Scan {
  override def readSchema(): StructType = new StructType().add("t", LongType, nullable = false)
  override def toBatch: Batch = new RestlessBatch
}

class RestlessBatch extends Batch {
  override def planInputPartitions(): Array[InputPartition] = {
    val read = RestlessCatalog.reads.incrementAndGet()
    Array(ShuffledTimes(read, isFirst = true), ShuffledTimes(read, isFirst = false))
  }
  override def createReaderFactory(): PartitionReaderFactory = ShuffledTimesReaders
}

object RestlessCatalog {
  val reads = new AtomicInteger
}

/** One half of the times of a read. */
case class ShuffledTimes(read: Int, isFirst: Boolean) extends InputPartition {
  def times: Iterator[Long] = {
    val (first, second) = new Random(read).shuffle((0L until 20000L).toVector).splitAt(10000)
    (if (isFirst) first else second).iterator
  }
}

object ShuffledTimesReaders extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    new PartitionReader[InternalRow] {
      private val times = partition.asInstanceOf[ShuffledTimes].times
      override def next(): Boolean = times.hasNext
      override def get(): InternalRow = new GenericInternalRow(Array[Any](times.next()))
      override def close(): Unit = ()
    }
}

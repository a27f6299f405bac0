package io.github.sparkjoinery.execution.rows

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.joinery.BuildMemory
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms

/** Right rows grouped by key, with memory refused at any moment. */
class GroupedRowsBuilderSuite extends AnyFunSuite {

  /** Columns: a key, a time, a number of the row, a text of any length. */
  private def output(keyType: DataType): Seq[AttributeReference] = Seq(
    AttributeReference("k", keyType)(),
    AttributeReference("o", LongType)(),
    AttributeReference("id", LongType)(),
    AttributeReference("text", StringType)())

  private def terms(output: Seq[AttributeReference], lastOfKey: Boolean): LastJoinTerms = LastJoinTerms(
    Seq(output.head),
    Seq(output.head),
    Seq(SortOrder(output(1), Ascending), SortOrder(output(2), Ascending)),
    Some(output(1)).filterNot(_ => lastOfKey),
    Some(output(1)).filterNot(_ => lastOfKey),
    strict = false,
    None,
    None,
    onePass = !lastOfKey
  )

  private case class Row(key: Int, time: Long, id: Long, length: Int)

  private def rows(count: Int, keys: Int, seed: Int): Seq[Row] = {
    val random = new Random(seed)
    Seq.tabulate(count)(id => Row(random.nextInt(keys), random.nextInt(1000), id, random.nextInt(200)))
  }

  private def keyOf(key: Int, keyType: DataType): Any =
    if (keyType == LongType) key.toLong else UTF8String.fromString(s"key $key")

  private final class Filing(keyType: DataType, lastOfKey: Boolean, memory: BuildMemory) {
    private val columns = output(keyType)
    private val toUnsafe = UnsafeProjection.create(columns.map(_.dataType).toArray)
    private val joinTerms = terms(columns, lastOfKey)
    val rightTerms: RowGrouping = joinTerms.grouping(columns)
    val builder = new GroupedRowsBuilder(rightTerms, memory)

    def add(row: Row): Boolean = builder.add(toUnsafe(new GenericInternalRow(
      Array[Any](keyOf(row.key, keyType), row.time, row.id, UTF8String.fromString("x" * row.length)))))

    /** The ids of a key's rows, in order. */
    def found(relation: GroupedRows): Int => Seq[Long] = {
      val reader = relation.reader(joinTerms.timeOrder(columns).orNull)
      val toKey = UnsafeProjection.create(Array(keyType))
      key => {
        val group =
          if (keyType == LongType) reader.group(key.toLong)
          else reader.group(toKey(new GenericInternalRow(Array(keyOf(key, keyType)))))
        if (group < 0) Nil else (reader.first(group) to reader.last(group)).map(place => reader.row(place).getLong(2))
      }
    }
  }

  for (keyType <- Seq(LongType, StringType); lastOfKey <- Seq(true, false)) {
    val what = s"${keyType.sql} keys, ${if (lastOfKey) "the last row of each" else "all rows"}"

    // Each limit refuses memory at another moment, while another part grows.
    for (keys <- Seq(3000, 40)) test(s"what is refused leaves the rest as it was: $what, of $keys keys") {
      for (limit <- 0L until 240000L by 13000L) {
        val memory = new WatchedMemory(limit)
        val filing = new Filing(keyType, lastOfKey, memory)
        val (taken, refused) = rows(4000, keys, seed = limit.toInt).partition(filing.add)
        val expected = taken.groupBy(_.key).map { case (key, of) =>
          val sorted = of.sortBy(row => (row.time, row.id)).map(_.id)
          key -> (if (lastOfKey) sorted.takeRight(1) else sorted)
        }
        val relation = filing.builder.result()
        if (relation == null) {
          val drained = filing.builder.drain().map(_.getLong(2)).toVector
          assert(drained.sorted == expected.values.flatten.toSeq.sorted, s"limit $limit")
        } else {
          val found = filing.found(relation)
          val wrong = (0 until keys).filterNot(key => found(key) == expected.getOrElse(key, Nil))
          assert(wrong.isEmpty, s"limit $limit")
          assert(relation.index.size == expected.size, s"limit $limit")
        }
        assert(refused.isEmpty == (memory.refusals == 0) || relation == null, s"limit $limit")
      }
    }

    for (count <- Seq(0, 1, 65, 1000, 20000); keys <- Seq(1, count / 10 + 1, count * 2 + 1).distinct) {
      test(s"what is held is what was acquired: $what, $count rows of $keys keys") {
        val memory = new WatchedMemory
        val filing = new Filing(keyType, lastOfKey, memory)
        memory.watch(filing.builder)
        val all = rows(count, keys, seed = count)
        assert(all.forall(filing.add))
        memory.look()
        val relation = filing.builder.result()
        memory.watch(relation)
        memory.look()
        assert(memory.excess <= Constant, s"bytes beyond what was acquired, of ${memory.acquired}")
        assert(memory.acquired <= HeldHeap.of(relation) * 3 + Constant, "far more was acquired than is held")
      }
    }
  }

  /** The bytes that each of these objects takes without rows. */
  private val Constant = 8L << 10
}

package io.github.sparkjoinery.lastjoin.runtime

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.sparkjoinery.execution.rows.{GroupedRowsBuilder, HeldHeap, WatchedMemory}
import io.github.sparkjoinery.lastjoin.logical.LastJoinTerms
import io.github.sparkjoinery.{Answers, LastJoinChecks}

/**
 * Left rows that ShuffledHashLastJoin reads ahead: more than a batch of them, rows larger than its buffer, keys with
 * many candidates.
 */
class LeftBatchSuite extends LastJoinChecks {

  private val Settings = Seq("spark.sql.adaptive.enabled" -> "false", "spark.sql.shuffle.partitions" -> "1")

  /** Each key of r has the times 0, 10, 20, ... 19990, so the match is a function of l.o. */
  private def check(left: String, keys: Int): Unit = for (generated <- Seq("true", "false")) {
    views("l" -> left, "r" -> s"SELECT id % $keys AS k, id DIV $keys * 10 AS o FROM range(${2000 * keys})")
    withConf(Settings :+ ("spark.sql.codegen.wholeStage" -> generated): _*) {
      val found = "if(l.o < 0 OR l.k IS NULL OR l.o IS NULL, NULL, least(l.o DIV 10 * 10, 19990))"
      for ((condition, expected) <- Seq(
          "r.o <= l.o" -> found,
          "r.o < l.o + 1" -> found,
          "r.o <= l.o AND r.o >= l.o - 5" -> s"if(l.o - $found <= 5, $found, NULL)",
          "r.o <= l.o AND (l.o + r.o) % 20 <> 3" -> s"if((l.o + $found) % 20 <> 3, $found, if($found < 10, NULL, $found - 10))"
        )) {
        val joined = sql(
          s"SELECT /*+ SHUFFLE_HASH(r) */ l.id, l.pad, r.o FROM l l LAST JOIN r ORDER BY r.o ON l.k = r.k AND $condition")
        assert(operators(joined).contains("ShuffledHashLastJoin"))
        assert(
          Answers.rows(joined) == Answers.rows(sql(s"SELECT id, pad, $expected AS o FROM l")),
          s"$condition, generated code $generated")
      }
    }
  }

  private def left(rows: Int, pad: String): String =
    s"SELECT id, if(id % 17 = 0, NULL, id % 3) AS k, if(id % 13 = 0, NULL, pmod(hash(id), 21000) - 500L) AS o, $pad AS pad FROM range($rows)"

  test("what is read ahead is bounded, however many rows there are") {
    val columns = Seq(AttributeReference("k", LongType)(), AttributeReference("s", StringType)())
    val terms =
      LastJoinTerms(columns.take(1), columns.take(1), Nil, None, None, strict = false, None, None, onePass = false)
    val relation = new GroupedRowsBuilder(terms.grouping(columns), new WatchedMemory).result()
    val toUnsafe = UnsafeProjection.create(columns.map(_.dataType).toArray[DataType])
    for (largest <- Seq(10, 1000, 100000)) {
      val rows = Iterator.range(0, 3000).map { i =>
        val text = "x" * (if (i % 700 == 5) largest else i % 100)
        toUnsafe(new GenericInternalRow(Array[Any](i.toLong, UTF8String.fromString(text))))
      }
      val batch = new LeftBatch(rows, relation, terms, columns, columns)
      var (count, held) = (0, 0L)
      batch.foreach { _ => count += 1; if (count % 100 == 0) held = math.max(held, HeldHeap.of(batch)) }
      assert(count == 3000)
      assert(held <= (64L << 10) + 3 * largest, s"rows of up to $largest bytes")
    }
  }

  for (rows <- Seq(0, 64, 65, 1000)) test(s"$rows left rows")(check(left(rows, "'x'"), keys = 3))

  test("rows larger than the buffer, now and then")(check(
    left(300, "repeat('x', int(if(id % 50 = 7, 40000, id % 900)))"),
    keys = 3))
  test("one key with all candidates")(check(left(500, "'x'").replace("id % 3)", "0L)"), keys = 1))
}

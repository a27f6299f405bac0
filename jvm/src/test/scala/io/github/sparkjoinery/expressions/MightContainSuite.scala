package io.github.sparkjoinery.expressions

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GeneratePredicate
import org.apache.spark.sql.types.{DoubleType, FloatType, IntegerType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import io.github.sparkjoinery.{JoinerySession, OnDefaultLine}

/** Compares the test of one key with a second, simpler implementation of the filter. */
class MightContainSuite extends JoinerySession {

  /** The word and place of each of the eight bits that a hash sets, as the specification has them. */
  private def bits(hash: Long, blocks: Int): Set[(Int, Int)] = {
    val block = BigInt(hash >>> 40) * blocks >> 24
    (0 until 8).map { j =>
      val place = ((hash >> (5 * j)) & 31).toInt
      (block.toInt * 4 + j / 2, if (j % 2 == 0) place else 32 + place)
    }.toSet
  }

  private def wordsOf(hashes: Seq[Long], blocks: Int): Array[Long] = {
    val words = new Array[Long](blocks * 4)
    hashes.flatMap(bits(_, blocks)).foreach { case (word, place) => words(word) |= 1L << place }
    words
  }

  private def hashOf(values: Any*): Long =
    new XxHash64(values.map(Literal(_))).eval(null).asInstanceOf[Long]

  private def mightContain(keys: Seq[Expression], filter: KeyFilter): MightContain =
    MightContain(HashedKey.hash(keys), KnownFilter(filter), pauses = true)

  private def test(expression: Expression, row: InternalRow): Boolean = {
    val interpreted = Predicate.createInterpreted(expression).eval(row)
    val generated = GeneratePredicate.generate(expression)
    generated.initialize(0)
    assert(generated.eval(row) == interpreted)
    interpreted
  }

  for (blocks <- Seq(1, 7, 64, 1 << 24)) test(s"the layout of $blocks blocks") {
    val random = new Random(blocks)
    val hashes = Seq.fill(if (blocks == 1) 12 else 300)(random.nextLong()) ++ Seq(0L, -1L, Long.MinValue, Long.MaxValue)
    val words = wordsOf(hashes, blocks)
    val tester = new FilterTester(blocks, words)
    hashes.foreach(hash => assert(tester.mightContain(hash)))
    Seq.fill(5000)(random.nextLong()).foreach { hash =>
      val expected = bits(hash, blocks).forall { case (word, place) => (words(word) >>> place & 1) == 1 }
      assert(new FilterTester(blocks, words).mightContain(hash) == expected)
    }
  }

  test("keys, NULL among them, interpreted and generated") {
    val filter = new SplitBlockFilter("t", "t/1", 16, wordsOf((0 until 20).map(i => hashOf(s"N$i", i.toLong)), 16))
    val keys = Seq(BoundReference(0, StringType, nullable = true), BoundReference(1, IntegerType, nullable = true)).map(
      HashedKey.hashable(_).get)
    val expression = mightContain(keys, filter)
    assert(!expression.nullable && expression.deterministic && expression.foldable == false)
    def row(name: String, number: Any) = InternalRow(UTF8String.fromString(name), number)
    (0 until 20).foreach(i => assert(test(expression, row(s"N$i", i))))
    assert((100 until 300).count(i => test(expression, row(s"N$i", i))) < 20)
    assert(!test(expression, row(null, 1)) && !test(expression, row("N1", null)) && !test(expression, row(null, null)))
  }

  test("zeros and NaN of either width") {
    val filter = new SplitBlockFilter("t", "t/2", 16, wordsOf(Seq(0.0, Double.NaN, 1.5).map(hashOf(_)), 16))
    val strangeNaN = java.lang.Float.intBitsToFloat(0x7fc12345)
    for (value <- Seq(-0.0f, 0.0f, Float.NaN, strangeNaN, 1.5f)) {
      assert(test(
        mightContain(Seq(HashedKey.hashable(BoundReference(0, FloatType, nullable = false)).get), filter),
        InternalRow(value)))
      assert(test(
        mightContain(Seq(HashedKey.hashable(BoundReference(0, DoubleType, nullable = true)).get), filter),
        InternalRow(value.toDouble)))
    }
  }

  test("a filter that lets nearly all pass stops testing, and tries again later", OnDefaultLine) {
    val filter = new SplitBlockFilter("t", "t/3", 64, wordsOf((0 until 10).map(i => hashOf(i.toLong)), 64))
    val present = hashOf(1L)
    val absent = Iterator.from(1000).map(i => hashOf(i.toLong)).find(!filter.newTester().mightContain(_)).get
    val tester = filter.newTester()
    def passes(hash: Long): Boolean = tester.skips() || tester.mightContain(hash)
    val pauses = Iterator.iterate(FilterTester.FirstPause)(pause => math.min(pause * 2, FilterTester.LongestPause))
    for (pause <- pauses.take(8)) {
      (1 until FilterTester.Window).foreach(_ => assert(passes(present)))
      assert(!passes(absent)) // the last of the window
      (0 until pause).foreach(_ => assert(passes(absent)))
    }
    (0 until FilterTester.Window).foreach(_ => assert(!passes(absent)))
    (0 until FilterTester.Window).foreach(_ => assert(passes(present)))
    (0 until FilterTester.FirstPause).foreach(_ => assert(passes(absent))) // the pauses start again
    assert(!passes(absent))
    val useful = filter.newTester()
    (0 until 10 * FilterTester.Window).foreach { i =>
      assert(!useful.skips() && useful.mightContain(if (i % 10 < 8) present else absent) == (i % 10 < 8))
    }
  }

  test("tasks get the words by broadcast, not with the plan") {
    assert(!spark.sparkContext.isStopped, "a context to broadcast with")
    val filter = new SplitBlockFilter("t", "t/4", 64, wordsOf((0 until 1000).map(i => hashOf(i.toLong)), 64))
    val serialized = {
      val bytes = new java.io.ByteArrayOutputStream
      new java.io.ObjectOutputStream(bytes).writeObject(filter)
      bytes.toByteArray
    }
    assert(serialized.length < 1500, "the words themselves were written")
    val copy =
      new java.io.ObjectInputStream(new java.io.ByteArrayInputStream(serialized)).readObject().asInstanceOf[
        SplitBlockFilter]
    assert(copy == filter && copy.newTester().mightContain(hashOf(5L)))
    assert(new SplitBlockFilter("t", "t/5", 64, new Array[Long](256)) != filter)
  }

  test("a filter that is absent lets every key pass; NULL is none") {
    val absent =
      mightContain(Seq(HashedKey.hashable(BoundReference(0, StringType, nullable = true)).get), AbsentFilter("t"))
    for (value <- Seq("a", "", null))
      assert(test(absent, InternalRow(UTF8String.fromString(value))) == (value != null))
  }

  test("its text is short") {
    val filter = new SplitBlockFilter("spark_catalog.raw.planes", "id", 64, new Array[Long](256))
    val key = AttributeReference("tailnum", StringType)()
    assert(mightContain(Seq(key), filter).toString == s"joinery_might_contain($key, spark_catalog.raw.planes)")
    assert(mightContain(
      Seq(AttributeReference("k", LongType, nullable = false)()),
      filter).sql == "joinery_might_contain(k)")
  }
}

package io.github.sparkjoinery.filters.runtime

import org.scalatest.funsuite.AnyFunSuite

import io.github.sparkjoinery.execution.rows.WatchedMemory

/** The keys of a small side, in memory that somebody has to grant. */
class KeyHashesSuite extends AnyFunSuite {

  private def filled(count: Int, memory: WatchedMemory, limit: Int = Int.MaxValue): KeyHashes = {
    val hashes = new KeyHashes(limit, memory)
    memory.watch(hashes)
    for (i <- 0 until count; _ <- 1 to 2) hashes.add(i * 0x9e3779b97f4a7c15L)
    hashes
  }

  for (count <- Seq(0, 1, 44, 45, 1000, 100000)) test(s"what is held is what was acquired: $count hashes") {
    val memory = new WatchedMemory
    val hashes = filled(count, memory)
    memory.look()
    assert(memory.excess <= (4L << 10), "bytes are held that were not acquired")
    val acquired = memory.acquired
    assert(hashes.toBytes.length == count * 8 && memory.acquired - acquired == count * 8)
    assert(KeyHashes.readFilter(hashes.toFilter.get)._1 == count)
  }

  test("what finds no memory is given up, with all that was held") {
    for (limit <- Seq(0L, 1000L, 100000L, 1700000L)) {
      val memory = new WatchedMemory(limit)
      val hashes = filled(100000, memory)
      assert(hashes.isOver && memory.refusals == 1 && memory.acquired == 0, s"limit $limit")
      assert(hashes.toFilter.isEmpty && KeyHashes.ofBytes(hashes.toBytes, Int.MaxValue).isOver)
    }
    val packed = new WatchedMemory(limit = 20000)
    assert(KeyHashes.ofBytes(filled(1000, packed).toBytes, Int.MaxValue).isOver && packed.refusals == 1)
    assert(filled(1000, new WatchedMemory(limit = 20000)).toFilter.isEmpty)
  }

  test("too many give their memory back, and so do those that others take over") {
    val memory = Seq.fill(3)(new WatchedMemory)
    assert(filled(1000, memory.head, limit = 999).isOver && memory.head.acquired == 0)
    assert(!filled(1000, new WatchedMemory, limit = 1000).isOver, "as many as are allowed")
    val all = filled(500, memory(1))
    all.addAll(filled(1000, memory(2)))
    assert(memory(2).acquired == 0)
    assert(KeyHashes.readFilter(all.toFilter.get)._1 == 1000)
    all.addAll(filled(1000, memory.head, limit = 999))
    assert(all.isOver && memory(1).acquired == 0)
  }
}

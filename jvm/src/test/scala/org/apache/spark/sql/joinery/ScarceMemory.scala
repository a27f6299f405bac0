package org.apache.spark.sql.joinery

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.internal.config.{EXECUTOR_CORES, SHUFFLE_SPILL_NUM_ELEMENTS_FORCE_SPILL_THRESHOLD}
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.SparkSession
import org.apache.spark.{SparkEnv, TaskContext}

/**
 * Another memory consumer in a task, which takes nearly all memory. It gives the memory back to a consumer that cannot
 * go on without, such as a sort, but not to a structure that is built in memory.
 */
object ScarceMemory {

  /** Takes the memory of the running task, once, except this many bytes. */
  def take(left: Long): Unit = {
    val context = TaskContext.get()
    if (context.getLocalProperty(Taken) == null) {
      context.getLocalProperties.setProperty(Taken, "true")
      val neighbour = new Neighbour(context.taskMemoryManager())
      neighbour.takeAllBut(left)
      context.addTaskCompletionListener[Unit](_ => neighbour.giveBack())
    }
  }

  /** Takes all free memory of the running task. Each call takes it again, because others may have given some back. */
  def takeAll(): Unit = {
    val context = TaskContext.get()
    neighbours.computeIfAbsent(
      context.taskAttemptId(),
      task => {
        val neighbour = new Neighbour(context.taskMemoryManager())
        context.addTaskCompletionListener[Unit] { _ => neighbours.remove(task); neighbour.giveBack() }
        neighbour
      }
    ).takeAllBut(0)
  }

  private val neighbours = new ConcurrentHashMap[Long, Neighbour]

  /**
   * Takes the memory of the running task, once, except this many bytes. It gives none of it to others, as the writer of
   * a shuffle.
   */
  def takeForGood(left: Long = 0): Unit = {
    val context = TaskContext.get()
    if (context.getLocalProperty(Taken) == null) {
      context.getLocalProperties.setProperty(Taken, "true")
      val greedy = new Greedy
      greedy.takeAllBut(left)
      context.addTaskCompletionListener[Unit](_ => greedy.giveBack())
    }
  }

  /** Sorts of more than this many rows spill while `body` runs. */
  def withSpills[T](rows: Int)(body: => T): T = {
    val (conf, key) = (SparkEnv.get.conf, SHUFFLE_SPILL_NUM_ELEMENTS_FORCE_SPILL_THRESHOLD.key)
    conf.set(key, rows.toString)
    try body
    finally conf.remove(key)
  }

  /** While `body` runs, a task's fair share of memory is that of an executor with this many cores. */
  def withShareOf[T](cores: Int)(body: => T): T = {
    val conf = SparkEnv.get.conf
    conf.set(EXECUTOR_CORES, cores)
    try body
    finally conf.remove(EXECUTOR_CORES.key)
  }

  /** The most memory that a task had at a time while `body` ran, in bytes. */
  def peakOfTasks(session: SparkSession)(body: => Unit): Long = {
    val (context, peak) = (session.sparkContext, new AtomicLong)
    val listener = new SparkListener {
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
        peak.accumulateAndGet(end.taskMetrics.peakExecutionMemory, math.max(_, _))
    }
    context.addSparkListener(listener)
    try {
      body
      context.listenerBus.waitUntilEmpty()
    } finally context.removeSparkListener(listener)
    peak.get
  }

  /** The bytes that all consumers of the running task have acquired. */
  def acquired: Long = TaskContext.get().taskMemoryManager().getMemoryConsumptionForThisTask

  /**
   * Another consumer of the running task. It takes all memory that it can get, also from other consumers, and gives
   * none back to them.
   */
  final class Greedy extends MemoryConsumer(TaskContext.get().taskMemoryManager(), MemoryMode.ON_HEAP) {
    def take(bytes: Long): Long = acquireMemory(bytes)
    def takeAllBut(left: Long): Unit = {
      while (take(1L << 40) > 0) {}
      freeMemory(left)
    }
    def giveBack(): Unit = freeMemory(getUsed)
    override def spill(size: Long, trigger: MemoryConsumer): Long = 0
  }

  private val Taken = "test.memory.taken"

  private class Neighbour(manager: TaskMemoryManager) extends MemoryConsumer(manager, MemoryMode.ON_HEAP) {
    def takeAllBut(left: Long): Unit = {
      while (acquireMemory(1L << 40) > 0) {}
      freeMemory(left)
    }
    def giveBack(): Unit = freeMemory(getUsed)
    override def spill(size: Long, trigger: MemoryConsumer): Long = trigger match {
      case _: TaskBuildMemory | _: Neighbour => 0
      case _ => val released = getUsed; giveBack(); released
    }
  }
}

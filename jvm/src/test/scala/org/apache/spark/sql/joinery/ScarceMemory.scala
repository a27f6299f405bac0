package org.apache.spark.sql.joinery

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.internal.config.{EXECUTOR_CORES, SHUFFLE_SPILL_NUM_ELEMENTS_FORCE_SPILL_THRESHOLD}
import org.apache.spark.memory.{MemoryConsumer, MemoryMode, TaskMemoryManager}
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.SparkSession
import org.apache.spark.{SparkEnv, TaskContext}

/**
 * A neighbour in a task that has taken nearly all memory. It gives it back to whoever can do nothing without, such as a
 * sort, but not to what is built in memory.
 */
object ScarceMemory {

  /** Takes the memory of the running task, once, but for so many bytes. */
  def take(left: Long): Unit = {
    val context = TaskContext.get()
    if (context.getLocalProperty(Taken) == null) {
      context.getLocalProperties.setProperty(Taken, "true")
      val neighbour = new Neighbour(context.taskMemoryManager())
      neighbour.takeAllBut(left)
      context.addTaskCompletionListener[Unit](_ => neighbour.giveBack())
    }
  }

  /** Takes all memory that there is for the running task, again each time: others may have given some back. */
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
   * Takes the memory of the running task, once, but for so many bytes, and gives none of it to anybody, as the writer
   * of a shuffle does.
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

  /** Sorts of more than so many rows spill while `body` runs. */
  def withSpills[T](rows: Int)(body: => T): T = {
    val (conf, key) = (SparkEnv.get.conf, SHUFFLE_SPILL_NUM_ELEMENTS_FORCE_SPILL_THRESHOLD.key)
    conf.set(key, rows.toString)
    try body
    finally conf.remove(key)
  }

  /** A task's fair share of memory is that of an executor with so many cores while `body` runs. */
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

  /** What all consumers of the running task have acquired, in bytes. */
  def acquired: Long = TaskContext.get().taskMemoryManager().getMemoryConsumptionForThisTask

  /**
   * Another consumer of the running task, which takes what it can get, from others too, and gives none of it to them.
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

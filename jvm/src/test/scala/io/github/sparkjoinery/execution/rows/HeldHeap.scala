package io.github.sparkjoinery.execution.rows

import java.io.RandomAccessFile
import java.lang.reflect.{Array => ArrayOf, Field, Modifier}
import java.util.IdentityHashMap
import java.util.concurrent.locks.Lock

import scala.collection.mutable

import org.apache.spark.TaskContext
import org.apache.spark.executor.TaskMetrics
import org.apache.spark.memory.MemoryConsumer
import org.apache.spark.sql.catalyst.expressions.{BaseOrdering, Expression, UnsafeProjection}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.joinery.BuildMemory

/** Counts the bytes on the heap of all objects that an object refers to, except objects that Spark has passed to it. */
object HeldHeap {

  def of(root: AnyRef): Long = {
    val seen = new IdentityHashMap[AnyRef, AnyRef]
    val waiting = mutable.Stack.empty[AnyRef]
    var bytes = 0L
    def visit(value: AnyRef): Unit =
      if (value != null && !isForeign(value) && seen.put(value, value) == null) waiting.push(value)
    visit(root)
    while (waiting.nonEmpty) {
      val value = waiting.pop()
      val of = value.getClass
      if (of.isArray) {
        val length = ArrayOf.getLength(value)
        bytes += Header + length * (if (of.getComponentType.isPrimitive) sizeOf(of.getComponentType) else Reference)
        if (!of.getComponentType.isPrimitive) value.asInstanceOf[Array[AnyRef]].foreach(visit)
      } else {
        bytes += Header
        fields(of).foreach { field =>
          bytes += (if (field.getType.isPrimitive) sizeOf(field.getType) else Reference)
          if (!field.getType.isPrimitive) visit(field.get(value))
        }
      }
    }
    bytes
  }

  private val Header = 16L
  private val Reference = 4L

  private def isForeign(value: AnyRef): Boolean = value match {
    case _: BuildMemory | _: MemoryConsumer | _: TaskContext | _: TaskMetrics | _: SQLMetric => true
    case _: Expression | _: UnsafeProjection | _: BaseOrdering => true
    case _: Lock | _: RandomAccessFile => true
    case _: Class[_] | _: ClassLoader | _: Thread | _: Enum[_] => true
    case _ => value.getClass.isHidden || value.getClass.getName.startsWith("scala.reflect.")
  }

  private def sizeOf(primitive: Class[_]): Long = primitive match {
    case java.lang.Long.TYPE | java.lang.Double.TYPE => 8
    case java.lang.Integer.TYPE | java.lang.Float.TYPE => 4
    case java.lang.Short.TYPE | java.lang.Character.TYPE => 2
    case _ => 1
  }

  private val known = mutable.Map.empty[Class[_], Seq[Field]]

  private def fields(of: Class[_]): Seq[Field] = known.getOrElseUpdate(
    of, {
      val own = of.getDeclaredFields.toSeq.filterNot(field => Modifier.isStatic(field.getModifiers))
      own.foreach(_.setAccessible(true))
      own ++ Option(of.getSuperclass).toSeq.flatMap(fields)
    }
  )
}

/** Grants memory up to a limit, and compares the held heap with it at every change. */
final class WatchedMemory(limit: Long = Long.MaxValue) extends BuildMemory {
  private var sum = 0L
  private var watched: AnyRef = _

  /** The most bytes that were held beyond the acquired ones. */
  var excess = Long.MinValue
  var refusals = 0

  def watch(structure: AnyRef): Unit = watched = structure
  def look(): Unit = if (watched != null) excess = math.max(excess, HeldHeap.of(watched) - sum)

  override def acquire(bytes: Long): Boolean = {
    look() // before it grows
    val granted = sum + bytes <= limit
    if (granted) sum += bytes else refusals += 1
    granted
  }
  override def release(bytes: Long): Unit = {
    sum -= bytes
    look()
    require(sum >= 0, "more was released than acquired")
  }
  override def acquired: Long = sum
  override def giveBy(give: Long => Long): Unit = ()
}

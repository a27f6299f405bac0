package io.github.sparkjoinery.execution.rows

/** Where what is built in memory asks whether it may grow. */
trait BuildMemory {
  /** @return whether there are so many bytes more; else nothing has changed */
  def acquire(bytes: Long): Boolean
  def release(bytes: Long): Unit
  def acquired: Long
}

/** On the driver, which has no memory manager: up to a limit in bytes. */
final class DriverBuildMemory(limit: Long) extends BuildMemory {
  private var sum = 0L
  override def acquire(bytes: Long): Boolean = sum + bytes <= limit && { sum += bytes; true }
  override def release(bytes: Long): Unit = sum -= bytes
  override def acquired: Long = sum
}

package io.github.sparkjoinery.execution.rows

/** Where what is built in memory asks whether it may grow. */
trait BuildMemory {
  /** @return whether there are so many bytes more; else nothing has changed */
  def acquire(bytes: Long): Boolean
  def release(bytes: Long): Unit
  def acquired: Long
}

/** On the driver, where Spark's limits on broadcasts hold. */
final class DriverBuildMemory extends BuildMemory {
  private var sum = 0L
  override def acquire(bytes: Long): Boolean = { sum += bytes; true }
  override def release(bytes: Long): Unit = sum -= bytes
  override def acquired: Long = sum
}

package org.apache.spark.sql.joinery

/** Accounts for the memory of an index that is being built. */
trait BuildMemory {

  /** @return true if the bytes were granted; else nothing has changed */
  def acquire(bytes: Long): Boolean
  def release(bytes: Long): Unit
  def acquired: Long

  /**
   * Sets the function that gives memory back when another operator of the task runs out.
   *
   * @param give
   *   receives the number of bytes wanted, releases as many as it can, and returns their number; it must not acquire
   *   memory
   */
  def giveBy(give: Long => Long): Unit
}

/** Accounts for memory on the driver, up to a limit in bytes. Several threads may share it. */
final class DriverBuildMemory(limit: Long) extends BuildMemory {
  private var sum = 0L
  override def acquire(bytes: Long): Boolean = synchronized { sum + bytes <= limit && { sum += bytes; true } }
  override def release(bytes: Long): Unit = synchronized { sum -= bytes }
  override def acquired: Long = synchronized(sum)
  override def giveBy(give: Long => Long): Unit = () // no other consumer on the driver asks for memory
}

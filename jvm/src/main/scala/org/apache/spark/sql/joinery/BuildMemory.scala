package org.apache.spark.sql.joinery

/** Where what is built in memory asks whether it may grow. */
trait BuildMemory {

  /** @return whether there are so many bytes more; else nothing has changed */
  def acquire(bytes: Long): Boolean
  def release(bytes: Long): Unit
  def acquired: Long

  /**
   * Says what to do when others in the task find too little memory.
   *
   * @param give
   *   gets the number of bytes wanted, releases what it can, and returns how many bytes that was; it must not acquire
   */
  def giveBy(give: Long => Long): Unit
}

/** On the driver, which has no memory manager: up to a limit in bytes. Several threads may share it. */
final class DriverBuildMemory(limit: Long) extends BuildMemory {
  private var sum = 0L
  override def acquire(bytes: Long): Boolean = synchronized { sum + bytes <= limit && { sum += bytes; true } }
  override def release(bytes: Long): Unit = synchronized { sum -= bytes }
  override def acquired: Long = synchronized(sum)
  override def giveBy(give: Long => Long): Unit = () // nobody asks on the driver
}

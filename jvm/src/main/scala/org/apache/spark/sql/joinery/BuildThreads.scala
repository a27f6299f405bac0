package org.apache.spark.sql.joinery

import java.util.concurrent.ExecutorService

import org.apache.spark.util.ThreadUtils

/** Threads that wait for the jobs which build filters. A thread that is idle for a minute ends. */
object BuildThreads {
  lazy val executor: ExecutorService = ThreadUtils.newDaemonCachedThreadPool("joinery-filter")
}

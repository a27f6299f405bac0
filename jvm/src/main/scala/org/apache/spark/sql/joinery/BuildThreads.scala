package org.apache.spark.sql.joinery

import java.util.concurrent.ExecutorService

import org.apache.spark.util.ThreadUtils

/** Threads that wait for the jobs that build filters. Idle threads end after a minute. */
object BuildThreads {
  lazy val executor: ExecutorService = ThreadUtils.newDaemonCachedThreadPool("joinery-filter")
}

package io.github.sparkjoinery.window.logical.program

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.internal.SQLConf

/**
 * The settings that bounds of RANGE frames depend on. Spark builds the bounds in each task, with the settings of the
 * task's job. These may differ from the settings of the planning, or of an earlier run of the plan.
 *
 * @param zone
 *   the time zone in which days are added to timestamps
 * @param isAnsi
 *   true if an overflow of numbers is an error; else numbers wrap around
 */
private[window] case class BoundSettings(zone: String, isAnsi: Boolean) {

  /** Runs `make` on the driver under these settings. */
  def during[T](make: => T): T = if (this == BoundSettings.now) make
  else {
    val conf = SQLConf.get.clone()
    conf.setConf(SQLConf.SESSION_LOCAL_TIMEZONE, zone)
    conf.setConf(SQLConf.ANSI_ENABLED, isAnsi)
    SQLConf.withExistingConf(conf)(make)
  }
}

private[window] object BoundSettings {

  /** The settings of the session; in a task, those of its job. */
  def now: BoundSettings = readFrom(SQLConf.get)

  /**
   * The settings of tasks that are started from here; called on the driver. A cached plan has its own session, with the
   * settings of the time when it was cached. Its tasks use the settings of the query that runs.
   */
  def ofTasks: BoundSettings = {
    val context = SparkContext.getOrCreate()
    if (context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY) == null) now
    else {
      val conf = new SQLConf
      for (key <- Seq(SQLConf.SESSION_LOCAL_TIMEZONE.key, SQLConf.ANSI_ENABLED.key))
        Option(context.getLocalProperty(key)).foreach(conf.setConfString(key, _))
      readFrom(conf)
    }
  }

  private def readFrom(conf: SQLConf): BoundSettings = BoundSettings(conf.sessionLocalTimeZone, conf.ansiEnabled)
}

package io.github.sparkjoinery.window.program

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.internal.SQLConf

/**
 * What the bounds of RANGE frames depend on beside the rows. Spark makes bounds in each task, by the settings of the
 * job that it is part of, which need not be those that the plan was made under, or that the plan ran under before.
 *
 * @param zone
 *   in which days are added to timestamps
 * @param isAnsi
 *   whether numbers that overflow are an error; else they wrap around
 */
private[window] case class BoundSettings(zone: String, isAnsi: Boolean) {

  /** On the driver: what is made under these settings. */
  def during[T](make: => T): T = if (this == BoundSettings.now) make
  else {
    val conf = SQLConf.get.clone()
    conf.setConf(SQLConf.SESSION_LOCAL_TIMEZONE, zone)
    conf.setConf(SQLConf.ANSI_ENABLED, isAnsi)
    SQLConf.withExistingConf(conf)(make)
  }
}

private[window] object BoundSettings {

  /** Of the session; in a task, of its job. */
  def now: BoundSettings = of(SQLConf.get)

  /**
   * On the driver, those that tasks started from here will find. A cached plan has a session of its own, with the
   * settings of the time when it was cached; its tasks go by the query that runs.
   */
  def ofTasks: BoundSettings = {
    val context = SparkContext.getOrCreate()
    if (context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY) == null) now
    else {
      val conf = new SQLConf
      for (key <- Seq(SQLConf.SESSION_LOCAL_TIMEZONE.key, SQLConf.ANSI_ENABLED.key))
        Option(context.getLocalProperty(key)).foreach(conf.setConfString(key, _))
      of(conf)
    }
  }

  private def of(conf: SQLConf): BoundSettings = BoundSettings(conf.sessionLocalTimeZone, conf.ansiEnabled)
}

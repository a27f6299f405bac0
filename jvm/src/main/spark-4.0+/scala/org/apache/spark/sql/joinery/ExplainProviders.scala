package org.apache.spark.sql.joinery

import org.apache.spark.sql.internal.SQLConf

/** The classes that add to what the active session shows in EXPLAIN. (Spark's entry is private to its package.) */
object ExplainProviders {

  /** Adds a class, after the user's own. */
  def add(name: String): Unit = {
    val chosen = SQLConf.get.getConf(SQLConf.EXTENDED_EXPLAIN_PROVIDERS).getOrElse(Nil)
    if (!chosen.contains(name)) SQLConf.get.setConf(SQLConf.EXTENDED_EXPLAIN_PROVIDERS, Some(chosen :+ name))
  }
}

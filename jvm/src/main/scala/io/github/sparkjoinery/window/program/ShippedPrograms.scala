package io.github.sparkjoinery.window.program

import org.apache.spark.sql.catalyst.expressions.{SortOrder, WindowExpression}

/**
 * The programs of a window on their way to its tasks, with what to make them anew of: a plan that runs again has the
 * RDD of its first run, and in it these programs, but its tasks may have other settings.
 *
 * @param settings
 *   that the programs are made under
 * @param areFixed
 *   whether they hold under other settings, too: parts of a key have the rows that frames hold under these
 */
private[window] case class ShippedPrograms(
    order: Seq[SortOrder],
    functions: Seq[WindowExpression],
    settings: BoundSettings,
    areFixed: Boolean) {

  private val programs = settings.during(WindowPrograms.of(order, functions)) // once for all tasks, on the driver

  /** In a task. */
  def ofTask: WindowPrograms =
    if (areFixed || BoundSettings.now == settings) programs else WindowPrograms.of(order, functions)
}

package io.github.sparkjoinery.window.parts

/**
 * How the hot keys of a window are cut into parts: before the shuffle ([[CutAtWrite]]), so that each row goes to the
 * tasks that need it, or after it ([[CutAtRead]]). A bad cut costs balance, never a result.
 */
private[window] trait WindowCuts extends Serializable {
  def terms: SplitTerms
}

package io.github.sparkjoinery

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{ExpressionInfo, Literal}

import io.github.sparkjoinery.lastjoin.logical.LastJoinOrder.FunctionDescription

/** `joinery_version()` returns the version of the jar. Its presence shows that the extension is loaded. */
object JoineryVersion {
  private val Name = "joinery_version"

  val function: FunctionDescription =
    (
      FunctionIdentifier(Name),
      new ExpressionInfo(getClass.getName, Name),
      arguments => {
        require(arguments.isEmpty, s"$Name() takes no argument")
        Literal(Build.version)
      })
}

package io.github.sparkjoinery.execution.skew

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.LeafExecNode
import org.apache.spark.sql.execution.adaptive.AQEShuffleReadExec

/** An operator of another extension that replaces Spark's shuffle read. It reads the same rows, under another name. */
case class ForeignReadExec(read: AQEShuffleReadExec) extends LeafExecNode {
  override def output: Seq[Attribute] = read.output
  override protected def doExecute(): RDD[InternalRow] = read.execute()
}

package org.apache.spark.sql.joinery

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.{Dependency, NarrowDependency, OneToOneDependency, Partition, TaskContext}

/**
 * An RDD whose tasks each read one partition of `own` and all partitions of `all`, one after the other. Spark's
 * `RDD.cartesian` would make one task per pair of partitions.
 */
private[sql] class CartesianStreamRDD(
    var own: RDD[InternalRow],
    var all: RDD[InternalRow],
    rows: (Iterator[InternalRow], Iterator[InternalRow]) => Iterator[InternalRow])
  extends RDD[InternalRow](own.sparkContext, Nil) {

  override protected def getPartitions: Array[Partition] = {
    val read = all.partitions
    own.partitions.map(partition => CartesianStreamRDD.Split(partition.index, partition, read))
  }

  override def getPreferredLocations(split: Partition): Seq[String] =
    own.preferredLocations(split.asInstanceOf[CartesianStreamRDD.Split].own)

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] = {
    val partitions = split.asInstanceOf[CartesianStreamRDD.Split]
    rows(own.iterator(partitions.own, context), partitions.all.iterator.flatMap(all.iterator(_, context)))
  }

  override def getDependencies: Seq[Dependency[_]] = Seq(
    new OneToOneDependency(own),
    new NarrowDependency(all) {
      override def getParents(partition: Int): Seq[Int] = rdd.partitions.indices
    })

  override def clearDependencies(): Unit = {
    super.clearDependencies()
    own = null
    all = null
  }
}

object CartesianStreamRDD {

  /** @param rows computes a task's output from the rows of its own partition and those of all partitions of `all` */
  def apply(own: RDD[InternalRow], all: RDD[InternalRow])(
      rows: (Iterator[InternalRow], Iterator[InternalRow]) => Iterator[InternalRow]): RDD[InternalRow] =
    new CartesianStreamRDD(own, all, own.sparkContext.clean(rows))

  private case class Split(index: Int, own: Partition, all: Array[Partition]) extends Partition
}

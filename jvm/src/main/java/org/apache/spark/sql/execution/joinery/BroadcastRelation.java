package org.apache.spark.sql.execution.joinery;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.joins.HashedRelation;

import scala.collection.Iterator;

/**
 * A relation that Spark's broadcast exchange accepts in place of an array of rows. Scala cannot extend the sealed trait
 * of Spark, so this class is written in Java. Only Joinery's operators, which know the subclass, read it.
 */
public abstract class BroadcastRelation implements HashedRelation {

  private static UnsupportedOperationException notForSpark() {
    return new UnsupportedOperationException("This broadcast is read by a Joinery operator only.");
  }

  @Override public Iterator<InternalRow> get(InternalRow key) { throw notForSpark(); }
  @Override public InternalRow getValue(InternalRow key) { throw notForSpark(); }
  @Override public Iterator<InternalRow> keys() { throw notForSpark(); }
  @Override public boolean keyIsUnique() { return false; }
  @Override public HashedRelation asReadOnlyCopy() { return this; }
  @Override public void close() { }
}

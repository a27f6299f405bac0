package org.apache.spark.sql.execution.joinery;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.joins.HashedRelation;

import scala.collection.Iterator;

/**
 * What Spark's broadcast exchange accepts besides an array of rows. Its trait is sealed to scalac, hence Java; nobody but
 * our own operators, which know the subclass, ever reads from one.
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

package io.github.sparkjoinery.rangejoin.stored

import java.io.ObjectInputStream

import io.github.sparkjoinery.artifacts.DamagedArtifactException
import io.github.sparkjoinery.rangejoin.index.{RangeIndex, SearchableRelation}

/**
 * A stored index as it is shipped: what goes over the network is how to read it. Each executor has the index itself,
 * where Spark keeps what it was sent; what Spark has put aside for want of memory is read again.
 */
private[stored] final class StoredRangeRelation(@transient private var loaded: RangeIndex, recipe: Array[Byte])
  extends SearchableRelation with Serializable {

  override def index: RangeIndex = synchronized {
    if (loaded == null) {
      loaded = StoredRangeRecipe.of(recipe).load()
        .getOrElse(throw new DamagedArtifactException("a stored range index has grown"))
    }
    loaded
  }

  override def estimatedSize: Long = index.estimatedSize

  /** Reads the index with the rest, so that Spark accounts for what it takes. */
  private def readObject(in: ObjectInputStream): Unit = {
    in.defaultReadObject()
    index
  }
}

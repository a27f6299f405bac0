package io.github.sparkjoinery.rangejoin.stored

import java.io.ObjectInputStream

import io.github.sparkjoinery.artifacts.DamagedArtifactException
import io.github.sparkjoinery.rangejoin.runtime.index.{RangeIndex, SearchableRelation}

/**
 * A stored index in a broadcast. Only the recipe for reading it is sent; each executor loads the index itself. Spark's
 * cache holds the loaded index. If the cache evicts it, the executor reads it again.
 */
private[stored] final class StoredRangeRelation(@transient private var loaded: RangeIndex, recipe: Array[Byte])
  extends SearchableRelation with Serializable {

  override def index: RangeIndex = synchronized {
    if (loaded == null) {
      loaded = StoredRangeRecipe.read(recipe).load()
        .getOrElse(throw new DamagedArtifactException("a stored range index has grown"))
    }
    loaded
  }

  override def estimatedSize: Long = index.estimatedSize

  /** Loads the index during deserialization, so that Spark accounts for its size. */
  private def readObject(in: ObjectInputStream): Unit = {
    in.defaultReadObject()
    index
  }
}

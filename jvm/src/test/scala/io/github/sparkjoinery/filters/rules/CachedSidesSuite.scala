package io.github.sparkjoinery.filters.rules

import java.util.concurrent.ThreadLocalRandom

import org.apache.spark.sql.functions.{col, udf}
import org.apache.spark.storage.StorageLevel

/**
 * Filters built from cached sides. The query computes cached rows again if the cache loses them, and drawn keys may
 * differ.
 */
class CachedSidesSuite extends BuiltFilters {

  private val Query = "SELECT /*+ RUNTIME_FILTER(c) */ f.id FROM fact f JOIN cached c ON f.k = c.k"

  for {
    (level, name) <- Seq(StorageLevel.MEMORY_ONLY -> "memory", StorageLevel.MEMORY_AND_DISK -> "memory and on disk")
    isDrawn <- Seq(true, false)
  } test(s"keys ${if (isDrawn) "that are drawn" else "of a table"}, kept in $name") {
    val draw = udf { () => ThreadLocalRandom.current.nextInt(2000) }.asNondeterministic()
    val table = spark.table("small")
    val cached = (if (isDrawn) table.withColumn("k", draw()) else table).where(col("class") < 9).persist(level)
    try {
      cached.count()
      cached.createOrReplaceTempView("cached")
      checkBuilt(Query, if (isDrawn) 0 else 1)
    } finally cached.unpersist()
  }
}

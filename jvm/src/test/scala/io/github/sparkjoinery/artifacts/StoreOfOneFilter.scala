package io.github.sparkjoinery.artifacts

import java.nio.file.{Files => JavaFiles, Path => JavaPath}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.node.ObjectNode

import io.github.sparkjoinery.filters.stored.StoredFilters

/** A store with a filter of one table, and a query that uses it. */
trait StoreOfOneFilter extends StoredFilters {

  protected val query = "SELECT f.id, p.v FROM fact f JOIN dim p ON f.k = p.k"

  override protected def beforeAll(): Unit = {
    Seq("dim", "fact").foreach(table => sql(s"DROP TABLE IF EXISTS $table"))
    sql("CREATE TABLE dim USING parquet AS SELECT id AS k, id % 3 AS v FROM range(0, 60, 1, 1)")
    sql("CREATE TABLE fact USING parquet AS SELECT id, id % 500 AS k FROM range(2000)")
  }

  override protected def afterAll(): Unit = {
    Seq("dim", "fact").foreach(table => sql(s"DROP TABLE IF EXISTS $table"))
    super.afterAll()
  }

  /** The only version of its artifact, so that no older one can stand for it. */
  protected def build(change: ObjectNode => Unit = _ => ()): JavaPath = {
    deleteRecursively(store.resolve("bloom_filter"))
    buildAnother(change)
  }

  protected def buildAnother(change: ObjectNode => Unit = _ => ()): JavaPath = buildTableFilter("dim", Seq("k"))(change)

  protected def deleteRecursively(folder: JavaPath): Unit = if (JavaFiles.exists(folder)) {
    JavaFiles.walk(folder).iterator.asScala.toVector.reverse.foreach(path => JavaFiles.delete(path))
  }

  protected def dataOf(version: JavaPath): JavaPath =
    JavaFiles.list(version.resolve("data")).iterator.asScala.find(_.toString.endsWith(".parquet")).get

  protected def artifactOf(version: JavaPath): JavaPath = version.getParent.getParent

  /** Other file systems than Hadoop's local one keep no checksums of their own. */
  protected def overwrite(file: JavaPath, bytes: Array[Byte]): Unit = {
    JavaFiles.write(file, bytes)
    JavaFiles.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
  }

  protected def write(file: JavaPath, text: String): Unit = JavaFiles.write(file, text.getBytes)
}

package io.github.sparkjoinery.filters.stored

import java.nio.file.{Files => JavaFiles, Path => JavaPath}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.functions.expr

import io.github.sparkjoinery.Answers
import io.github.sparkjoinery.artifacts.{ReadingSettings, StoredArtifacts}

/**
 * Stores as the jobs write them, made by plain Spark SQL, and the check of a query against its answer without the
 * store.
 */
trait StoredFilters extends StoredArtifacts {

  /** Both sides are shuffled, none is too small to be filtered, and the store has the only filters. */
  protected val Shuffled: Seq[(String, String)] = Seq(
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.joinery.runtimeFilter.applicationSideMinSize" -> "0",
    "spark.joinery.runtimeFilter.build.enabled" -> "false",
    "spark.joinery.store.timeout" -> "60s"
  )

  protected def withStore[T](settings: (String, String)*)(body: => T): T =
    withConf((Shuffled :+ ("spark.joinery.store" -> store.toString)) ++ settings: _*)(body)

  /**
   * Writes a version of a bloom filter and makes it the current one.
   *
   * @param relation
   *   a table of the session catalog, or the URI of a path
   * @param rows
   *   the relation as Spark reads it
   * @param change
   *   alters `version.json` before its checksum is taken
   * @return
   *   the version's folder
   */
  protected def buildFilter(
      relation: String,
      rows: DataFrame,
      folder: String,
      keys: Seq[String],
      where: Option[String] = None,
      provider: String = "parquet",
      options: String = "",
      partitionColumns: Seq[String] = Nil,
      blocks: Int = 512)(
      change: ObjectNode => Unit = _ => ()): JavaPath = {
    val types = keys.map(key => rows.schema(key).dataType.simpleString).map {
      case "tinyint" | "smallint" | "int" | "bigint" => "bigint"
      case "float" | "double" => "double"
      case other => other
    }
    val spec = mapper.createObjectNode()
    val list = spec.putArray("keys")
    keys.foreach(key => list.add(key))
    where.foreach(spec.put("where", _))
    val version = newVersion("bloom_filter", relation, spec)
    val contents = contentsOf(rows, folder, keys, types, where, blocks)
    contents.copyTo(version.resolve("data"))
    val json =
      description(version, "bloom_filter", relation, spec, rows, folder, provider, options, partitionColumns)
    json.put("rows", contents.rows).put("keys", contents.keys).put("blocks", blocks).put("hash", "xxhash64")
      .put("filled_blocks", contents.filledBlocks).put("set_bits", contents.setBits)
    val keyTypes = json.putArray("key_types")
    types.foreach(keyTypes.add(_))
    listData(version, json)
    change(json)
    publish(version, json)
    version
  }

  /** The data of a filter, computed once for the same files and specification. */
  private def contentsOf(
      rows: DataFrame,
      folder: String,
      keys: Seq[String],
      types: Seq[String],
      where: Option[String],
      blocks: Int): FilterContents =
    known.getOrElseUpdate(
      (filesBelow(folder), rows.schema, keys, where, blocks, ReadingSettings.current(spark)), {
        val hashed = keys.zip(types).map {
          case (key, "double") =>
            s"CASE WHEN isnan(`$key`) THEN double('NaN') WHEN `$key` = 0 THEN 0D ELSE double(`$key`) END"
          case (key, "bigint") => s"bigint(`$key`)"
          case (key, _) => s"`$key`"
        }
        def bit(j: Int, offset: Int) = s"shiftleft(1L, int($offset + (shiftright(h, ${5 * j}) & 31)))"
        val words = (0 until 4).map(i => s"bit_or(${bit(2 * i, 0)} | ${bit(2 * i + 1, 32)}) AS w$i")
        val data = where.fold(rows)(rows.where(_)).where(keys.map(k => s"`$k` IS NOT NULL").mkString(" AND "))
          .selectExpr(s"xxhash64(${hashed.mkString(", ")}) AS h")
          .selectExpr("h", s"int(shiftrightunsigned(shiftrightunsigned(h, 40) * $blocks, 24)) AS block")
          .groupBy("block").agg(expr(words.head), words.tail.map(expr): _*)
        val written = JavaFiles.createTempDirectory("filter").resolve("data")
        withConf("spark.joinery.store" -> "") {
          data.coalesce(1).write.parquet(written.toString)
          val sums = spark.read.parquet(written.toString).selectExpr(
            "count(*)",
            s"coalesce(sum(${(0 to 3).map(i => s"bit_count(w$i)").mkString(" + ")}), 0L)").head()
          val distinct = where.fold(rows)(rows.where(_)).select(keys.map(rows(_)): _*).distinct().count()
          FilterContents(written, rows.count(), distinct, sums.getLong(0), sums.getLong(1))
        }
      }
    )

  private val known = mutable.Map.empty[Any, FilterContents]

  /** Writes a version of a bloom filter of a table in the session catalog. */
  protected def buildTableFilter(
      table: String,
      keys: Seq[String],
      where: Option[String] = None,
      provider: String = "parquet",
      options: String = "",
      partitionColumns: Seq[String] = Nil,
      blocks: Int = 512)(change: ObjectNode => Unit = _ => ()): JavaPath = {
    spark.catalog.refreshTable(table)
    buildFilter(
      s"spark_catalog.default.$table",
      spark.table(table),
      locationOf(table),
      keys,
      where,
      provider,
      options,
      partitionColumns,
      blocks)(change)
  }

  /** Runs a query with the store and without: the answers are equal, and as many filters as given are in its plan. */
  protected def checkFilters(query: String, filters: Int, settings: (String, String)*): Unit = {
    val expected = withConf((settings :+ ("spark.joinery.store" -> "")) ++ Plain: _*) {
      val answer = sql(query)
      assert(filtersIn(answer) == 0)
      Answers.rows(answer)
    }
    withStore(settings: _*) {
      val answer = sql(query)
      assert(Answers.rows(answer) == expected, query)
      assert(filtersIn(answer) == filters, s"$query\n${answer.queryExecution}")
    }
  }

  /** The number of filters in the optimized plan. The physical plan must have as many, because all of them run. */
  protected def filtersIn(query: DataFrame): Int = {
    val execution = query.asInstanceOf[org.apache.spark.sql.joinery.DataFrame].queryExecution
    def count(text: String) = "joinery_might_contain\\(".r.findAllIn(text).size
    val filters = execution.optimizedPlan.collectWithSubqueries { case node => node }
      .flatMap(_.expressions).map(expression => count(expression.toString)).sum
    val physical = collectWithSubqueries(plan(query)) { case node: FilterExec => count(node.condition.toString) }.sum
    assert((physical > 0) == (filters > 0), execution)
    filters
  }

  /** A query is not filtered, and this is among the reasons. */
  protected def checkDeclined(query: String, reason: String, settings: (String, String)*): Unit = {
    checkFilters(query, 0, settings: _*)
    withStore(settings: _*)(checkDecision(query, reason))
  }
}

/**
 * The data of a filter, and what its description says of it.
 *
 * @param folder
 *   with the files as Spark wrote them
 */
private[stored] case class FilterContents(
    folder: JavaPath,
    rows: Long,
    keys: Long,
    filledBlocks: Long,
    setBits: Long) {
  def copyTo(target: JavaPath): Unit = {
    JavaFiles.createDirectories(target)
    JavaFiles.list(folder).iterator.asScala.foreach(file => JavaFiles.copy(file, target.resolve(file.getFileName)))
  }
}

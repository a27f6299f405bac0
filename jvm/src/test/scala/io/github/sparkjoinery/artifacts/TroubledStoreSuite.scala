package io.github.sparkjoinery.artifacts

import java.nio.file.{Files => JavaFiles}

import scala.jdk.CollectionConverters._

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.Property
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.{Level, LogManager}

import org.apache.spark.sql.functions.lit

import io.github.sparkjoinery.Answers
import io.github.sparkjoinery.planning.explain.PlanReport

/**
 * Slow, forbidden and absent stores. No query waits for them or fails because of them, and each problem is logged once.
 */
class TroubledStoreSuite extends StoreOfOneFilter {

  private def withTrouble[T](settings: (String, String)*)(body: => T): T =
    try withStore(Seq(TroubledFileSystem.Setting, "spark.joinery.store" -> s"troubled://$store") ++ settings: _*)(body)
    finally TroubledFileSystem.reset()

  private def planned(): (Boolean, Long) = {
    val start = System.nanoTime()
    val plan = sql(query).queryExecution.optimizedPlan.toString
    (plan.contains("joinery_might_contain"), (System.nanoTime() - start) / 1000000)
  }

  /** Waits until the filter is loaded and a query uses it. */
  private def awaitFilter(): Unit = {
    TroubledFileSystem.delayMs.set(0)
    val deadline = System.nanoTime() + 20L * 1000 * 1000 * 1000
    var isFiltered = planned()._1
    while (!isFiltered && System.nanoTime() < deadline) {
      Thread.sleep(100)
      isFiltered = planned()._1
    }
    assert(isFiltered, PlanReport.readFrom(plan(sql(query))))
  }

  test("a version is read once, however many queries use it") {
    build()
    withTrouble() {
      (1 to 5).foreach(_ => assert(planned()._1, PlanReport.readFrom(plan(sql(query)))))
      assert(TroubledFileSystem.opened.get == 1)
      assert(Answers.rows(sql(query)).length == 240)
    }
  }

  test("a slow store holds no query up for longer than the limit; what was read late serves later queries") {
    build()
    planned() // classes are loaded
    withTrouble("spark.joinery.store.timeout" -> "300ms") {
      TroubledFileSystem.delayMs.set(1000)
      val (filtered, ms) = planned()
      assert(!filtered && ms < 900, s"$ms ms")
      checkDecision(query, "has not answered an earlier query yet")
      assert(planned()._2 < 250, "nobody waits again")
      awaitFilter()
    }
  }

  test("a source that takes longer to list than the limit is said to; and is listed again for the next query") {
    val folder = JavaFiles.createTempDirectory("slow").resolve("data")
    sql("SELECT id AS k, id % 3 AS v FROM range(0, 60, 1, 1)").write.parquet(folder.toString)
    try withStore(TroubledFileSystem.Setting, "spark.joinery.store.timeout" -> "10s") {
        val path = s"troubled://$folder"
        buildFilter(RelationIdentity.ofPath(path), spark.read.parquet(path), path, Seq("k"))()
        spark.read.parquet(path).createOrReplaceTempView("slow_dim")
        val slow = query.replace("dim p", "slow_dim p")
        def isFiltered = sql(slow).queryExecution.optimizedPlan.toString.contains("joinery_might_contain")
        assert(isFiltered)
        TroubledFileSystem.delayMs.set(3000)
        withConf("spark.joinery.store.timeout" -> "1s")(
          checkDecision(slow, s"listing the files of ${RelationIdentity.ofPath(path)}, again for each query"))
        TroubledFileSystem.delayMs.set(0)
        JavaFiles.list(folder).iterator.asScala.filter(_.toString.endsWith(".parquet"))
          .foreach(overwrite(_, Array[Byte](1)))
        val deadline = System.nanoTime() + 20L * 1000 * 1000 * 1000
        def isLate =
          PlanReport.readFrom(plan(sql(slow))).exists(_.reason.contains("has not answered an earlier query yet"))
        while (isLate && System.nanoTime() < deadline) Thread.sleep(100)
        assert(!isFiltered, "what the late listing said is no longer so")
      }
    finally TroubledFileSystem.reset()
  }

  test("all subqueries of a query share its time") {
    build()
    withTrouble("spark.joinery.store.timeout" -> "400ms") {
      TroubledFileSystem.delayMs.set(3000)
      val start = System.nanoTime()
      sql(s"SELECT ${(1 to 6).map(i => s"(SELECT count(*) FROM fact f JOIN dim p ON f.k = p.k AND f.id > $i)").mkString(" + ")}")
        .queryExecution.optimizedPlan
      assert((System.nanoTime() - start) / 1000000 < 2000)
      awaitFilter()
    }
  }

  test("nobody may read the store") {
    build()
    for (name <- Seq("bloom_filter", "_current.json", "version.json", ".parquet")) withTrouble() {
      TroubledFileSystem.forbidden = Some(name)
      if (name != "version.json" && name != ".parquet") assert(!planned()._1) // they may be known already
      assert(Answers.rows(sql(query)).length == 240)
    }
    withTrouble() {
      TroubledFileSystem.forbidden = Some("_current.json")
      checkDecision(query, "Permission denied")
    }
  }

  test("a query that is none of a store's business does not touch it") {
    withTrouble("spark.joinery.store.timeout" -> "5s") {
      TroubledFileSystem.delayMs.set(4000)
      val start = System.nanoTime()
      sql("SELECT k, count(*) FROM fact GROUP BY k").queryExecution.optimizedPlan
      sql("SELECT a.id FROM range(5) a JOIN range(5) b ON a.id = b.id").queryExecution.optimizedPlan
      spark.range(5).withColumn("x", lit(1)).queryExecution.optimizedPlan
      assert((System.nanoTime() - start) / 1000000 < 2000)
    }
  }

  // warnings and reasons

  /** The warnings that are logged while a query is planned twice. */
  private def warnings(root: String): Seq[String] = {
    val lines = scala.collection.mutable.ArrayBuffer.empty[String]
    val appender = new AbstractAppender("store", null, null, true, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit = if (event.getLevel == Level.WARN) {
        lines.synchronized(lines += event.getMessage.getFormattedMessage)
      }
    }
    appender.start()
    val logger = LogManager.getLogger("io.github.sparkjoinery.artifacts.StoreAccess").asInstanceOf[Logger]
    logger.setAdditive(false) // not on the console
    logger.addAppender(appender)
    val level = logger.getLevel
    logger.setLevel(Level.WARN)
    try withStore("spark.joinery.store" -> root) {
        (1 to 2).foreach(_ => sql(query).queryExecution.optimizedPlan)
        lines.synchronized(lines.toSeq)
      }
    finally {
      logger.removeAppender(appender)
      logger.setLevel(level)
      logger.setAdditive(true)
    }
  }

  test("a store that is not there, or that no file system knows, is warned of once, and named as the reason") {
    for ((root, reason) <- Seq(
        (s"$store/mistyped", s"there is no artifact store at $store/mistyped"),
        (s"sstore://$store", "No FileSystem for scheme \"sstore\""))) {
      withStore("spark.joinery.store" -> root)(checkDecision(query, reason))
    }
    assert(warnings(s"$store/elsewhere").count(_.contains(s"there is no artifact store at $store/elsewhere")) == 1)
    assert(warnings(s"rstore://$store").count(_.contains("rstore")) == 1)
  }

  test("a damaged version is warned of once") {
    val version = build()
    JavaFiles.delete(dataOf(version))
    val warned = warnings(store.toString)
    assert(
      warned.count(line => line.contains(version.getFileName.toString) && line.contains("is missing")) == 1,
      warned)
    build()
  }
}

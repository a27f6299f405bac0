package io.github.sparkjoinery

import java.nio.file.Files
import java.util.concurrent.ConcurrentHashMap

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SparkEnv
import org.apache.spark.sql.joinery.{DataFrame, SparkEvents, SparkSession}

/** A suite with the one Spark session that all suites share: local, with Joinery's extension loaded. */
trait JoinerySession extends AnyFunSuite with BeforeAndAfterAll {

  protected def spark: SparkSession = JoinerySession.session

  /** Leaves no view to the next suite, and no query whose stages were linked wrongly. */
  override protected def afterAll(): Unit = {
    spark.sessionState.catalog.getTempViewNames().foreach(spark.catalog.dropTempView)
    SparkEvents.await(spark)
    JoinerySession.links.found().headOption.foreach(fail(_))
  }

  protected def sql(text: String): DataFrame = spark.sql(text)

  /** Sets configurations while `body` runs, and restores the former values. */
  protected def withConf[T](settings: (String, String)*)(body: => T): T = {
    val set = spark.conf.getAll // getOption has defaults, too
    val before = settings.map { case (key, _) => key -> set.get(key) }
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally before.foreach {
        case (key, Some(value)) => spark.conf.set(key, value)
        case (key, None) => spark.conf.unset(key)
      }
  }

  /**
   * Runs `body` as in an application that uses Kryo and has to register each class. Existing serializers stay as they
   * are.
   */
  protected def withKryoRegistration[T](body: => T): T = {
    val conf = SparkEnv.get.conf
    conf.set("spark.serializer", "org.apache.spark.serializer.KryoSerializer").set(
      "spark.kryo.registrationRequired",
      "true")
    try body
    finally conf.remove("spark.serializer").remove("spark.kryo.registrationRequired")
  }

  /** Queries over few rows take a fraction of the time if nothing has to be compiled. */
  protected val Interpreted: Seq[(String, String)] =
    Seq("spark.sql.codegen.wholeStage" -> "false", "spark.sql.codegen.factoryMode" -> "NO_CODEGEN")

  /** Few stages and few tasks. A query over few rows spends most of its time on starting them. */
  protected val Plain: Seq[(String, String)] = Seq(
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.shuffle.partitions" -> "1",
    "spark.sql.autoBroadcastJoinThreshold" -> "10MB",
    "spark.sql.planChangeValidation" -> "false"
  )

  /** Runs `body` as stock Spark does: Joinery neither parses its statements nor plans its plain joins. */
  protected def onStockSpark[T](body: => T): T =
    withConf(
      "spark.joinery.lastJoin.enabled" -> "false",
      "spark.joinery.rangeJoin.enabled" -> "false",
      "spark.joinery.runtimeFilter.enabled" -> "false")(body)

  /** Makes temporary views of the results of queries; in `beforeAll`, because suites share the session. */
  protected def views(queries: (String, String)*): Unit =
    queries.foreach { case (name, query) => sql(query).createOrReplaceTempView(name) }

  /**
   * Makes temporary views of few rows, computed once. Queries over them generate code for the tested operators only.
   */
  protected def computedViews(queries: (String, String)*): Unit =
    withConf(Interpreted: _*)(queries.foreach { case (name, query) =>
      sql(query).localCheckpoint().createOrReplaceTempView(name)
    })

  /** Drops tables and views of the catalog after `body`. */
  protected def withTables[T](names: String*)(body: => T): T =
    try body
    finally names.foreach { name =>
        val kind =
          if (spark.catalog.tableExists(name) && spark.catalog.getTable(name).tableType == "VIEW") "VIEW" else "TABLE"
        sql(s"DROP $kind IF EXISTS $name")
      }
}

object JoinerySession {
  lazy val session: SparkSession = {
    Thread.currentThread.setContextClassLoader(
      new RememberingLoader(getClass.getClassLoader)
    ) // all of Spark's threads inherit it
    val session = builder.getOrCreate()
    session.listenerManager.register(links)
    session
  }

  private val links = new StageLinks

  /**
   * Remembers missing classes. The compiler of generated code asks for many of them, and each time all jars of the
   * class path would be searched.
   */
  private class RememberingLoader(parent: ClassLoader) extends ClassLoader(parent) {
    private val missing = ConcurrentHashMap.newKeySet[String]()

    override protected def loadClass(name: String, resolve: Boolean): Class[_] =
      if (missing.contains(name)) throw new ClassNotFoundException(name)
      else
        try super.loadClass(name, resolve)
        catch { case absent: ClassNotFoundException => missing.add(name); throw absent }
  }

  private def builder: SparkSession.Builder = SparkSession.builder()
    .master("local[2]")
    .appName("joinery-tests")
    .config("spark.sql.extensions", classOf[JoineryExtensions].getName)
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.sql.shuffle.partitions", "3")
    .config("spark.sql.warehouse.dir", Files.createTempDirectory("warehouse").toString)
    .config("spark.sql.session.timeZone", "UTC")
    // Checks after each optimizer rule that the plan is resolved and every attribute id is unique.
    .config("spark.sql.planChangeValidation", "true")
    // A generated class that does not compile fails the query instead of being replaced by interpretation.
    .config("spark.sql.codegen.fallback", "false")
    // Otherwise the compiler of generated code asks the driver, by remote calls, for a class of each name that it
    // meets.
    .config("spark.sql.artifact.isolation.enabled", "false")
    // Queries need many classes that were compiled for an earlier query, but not among the last hundred classes.
    .config("spark.sql.codegen.cache.maxEntries", "4000")
    // No UI shows these queries. Events at their ends and the short form of their plans are enough.
    .config("spark.ui.liveUpdate.period", "-1")
    .config("spark.sql.ui.explainMode", "simple")
    .config("spark.hadoop.fs.file.impl", classOf[LocalFiles].getName)
    .config("spark.broadcast.compress", "false")
    .config("spark.broadcast.checksum", "false")
}

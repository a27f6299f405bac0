package io.github.sparkjoinery

import java.nio.file.{Files, Path}

import com.fasterxml.jackson.databind.ObjectMapper

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.joinery.JoineryConf

class ConfSuite extends JoinerySession {

  test("the suites run on the Spark that spark-versions.json names for the line") {
    val file = Path.of(System.getProperty("joinery.root"), "jvm", "spark-versions.json")
    val versions = new ObjectMapper().readTree(Files.readString(file)).get("versions")
    assert(versions.get(System.getProperty("spark.line")).get("spark").asText == SPARK_VERSION)
  }

  test("every configuration is listed with its meaning and default") {
    val listed = sql("SET -v").where("key LIKE 'spark.joinery.%'").collect()
    val defaults = listed.map(row => row.getString(0) -> row.getString(1)).toMap
    assert(defaults == Map(
      "spark.joinery.asofJoin.enabled" -> "true",
      "spark.joinery.bufferedShuffle.enabled" -> "true",
      "spark.joinery.explain" -> "false",
      "spark.joinery.lastJoin.enabled" -> "true",
      "spark.joinery.lastJoin.maxBroadcast" -> "512MB",
      "spark.joinery.lastJoin.maxHashPartition" -> "128MB",
      "spark.joinery.lastJoin.skewSplit.enabled" -> "true",
      "spark.joinery.runtimeFilter.applicationSideMinSize" -> "10MB",
      "spark.joinery.runtimeFilter.build.enabled" -> "true",
      "spark.joinery.runtimeFilter.maxKeys" -> "1000000",
      "spark.joinery.rangeJoin.enabled" -> "true",
      "spark.joinery.rangeJoin.maxBroadcast" -> "1GB",
      "spark.joinery.rangeJoin.skewSplit.enabled" -> "true",
      "spark.joinery.rangeJoin.storedIndex.enabled" -> "true",
      "spark.joinery.runtimeFilter.enabled" -> "true",
      "spark.joinery.shuffleWidth" -> "ours",
      "spark.joinery.skewSplit.minPartition" -> "32MB",
      "spark.joinery.slidingWindow.enabled" -> "true",
      "spark.joinery.slidingWindow.skewSplit.enabled" -> "true",
      "spark.joinery.store" -> "<undefined>",
      "spark.joinery.store.maxArtifactSize" -> "64MB",
      "spark.joinery.store.timeout" -> "2s"
    ))
    listed.foreach { row =>
      assert(row.getString(2).length > 40, row)
      assert(row.getString(3).startsWith("joinery"), row)
    }
  }

  test("a value that is no boolean is refused") {
    for (key <- Seq(
        "spark.joinery.lastJoin.enabled",
        "spark.joinery.lastJoin.skewSplit.enabled",
        "spark.joinery.asofJoin.enabled",
        "spark.joinery.explain",
        "spark.joinery.rangeJoin.enabled",
        "spark.joinery.runtimeFilter.build.enabled",
        "spark.joinery.rangeJoin.skewSplit.enabled",
        "spark.joinery.rangeJoin.storedIndex.enabled",
        "spark.joinery.runtimeFilter.enabled",
        "spark.joinery.slidingWindow.enabled",
        "spark.joinery.slidingWindow.skewSplit.enabled"
      )) {
      val error = intercept[IllegalArgumentException](sql(s"SET $key=maybe"))
      assert(error.getMessage.contains(key) && error.getMessage.contains("maybe"))
      assert(spark.conf.getOption(key).forall(_ != "maybe"))
    }
  }

  test("a number out of its bounds is refused") {
    for ((key, value, why) <- Seq(
        ("spark.joinery.runtimeFilter.maxKeys", "0", "The number must be between 1 and 50,000,000."),
        ("spark.joinery.runtimeFilter.maxKeys", "50000001", "The number must be between 1 and 50,000,000.")
      )) {
      val error = intercept[IllegalArgumentException](sql(s"SET $key=$value"))
      assert(error.getMessage.contains(key) && error.getMessage.contains(why), error)
    }
  }

  test("a switch is read when a statement is parsed") {
    assert(JoineryConf.lastJoinEnabled)
    onStockSpark(assert(!JoineryConf.lastJoinEnabled))
    assert(JoineryConf.lastJoinEnabled)
  }

  test("joinery_version() proves that the extension is loaded") {
    assert(sql("SELECT joinery_version()").head().getString(0).matches("""\d+\.\d+\.\d+"""))
    assert(sql("SHOW FUNCTIONS LIKE 'joinery_version'").count() == 1)
  }
}

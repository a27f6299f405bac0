package io.github.sparkjoinery.lastjoin

import java.io.ByteArrayOutputStream
import java.nio.file.{Files, Path}

import scala.collection.mutable

import org.apache.spark.sql.functions.col
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{DataFrame, Dataset, Row}

import io.github.sparkjoinery.JoinerySession
import io.github.sparkjoinery.implicits._

/** A stream on the left, a table on the right: each batch is joined with the rows that the table has by then. */
class StreamingLeftSideSuite extends JoinerySession {

  private val lastJoin =
    "SELECT o.id, p.price FROM orders o LAST JOIN prices p ORDER BY p.t ON o.k = p.k AND p.t <= o.t"

  runs("LAST JOIN, broadcast", "BroadcastLastJoin")(sql(lastJoin))
  runs("LAST JOIN, shuffled", "ShuffledHashLastJoin", threshold = "-1")(sql(lastJoin))
  runs("LAST JOIN without keys", "ShuffledHashLastJoin", threshold = "-1")(
    sql("SELECT o.id, p.price FROM orders o LAST JOIN prices p ORDER BY p.t ON p.t <= o.t"))
  runs("LEFT ASOF JOIN", "BroadcastLastJoin")(
    sql("SELECT o.id, p.price FROM orders o LEFT ASOF JOIN prices p MATCH_CONDITION (o.t >= p.t) USING (k)"))
  runs("the DataFrame form", "BroadcastLastJoin")(
    spark.table("orders").lastJoin(spark.table("prices"), Seq("k"), io.github.sparkjoinery.AsOf(col("t")), col("t"))
      .select("id", "price"))
  runs("a limit above", "BroadcastLastJoin")(sql(s"$lastJoin LIMIT 4"))

  /** Two batches, another right row between them, and a third batch of a query that goes on from the checkpoint. */
  private def runs(name: String, operator: String, threshold: String = "10MB")(join: => DataFrame): Unit = test(name) {
    withTables("prices") {
      withConf("spark.sql.autoBroadcastJoinThreshold" -> threshold, "spark.sql.adaptive.enabled" -> "true") {
        sql("CREATE TABLE prices (t INT, price INT, k INT) USING parquet PARTITIONED BY (k)")
        sql("INSERT INTO prices VALUES (1, 10, 1), (9, 90, 1)")
        val folder = Files.createTempDirectory("orders")
        spark.readStream.schema("id INT, t INT, k INT").csv(folder.toString).createOrReplaceTempView("orders")
        val found = mutable.Buffer.empty[Row]
        val checkpoint = Files.createTempDirectory("checkpoint").toString
        def start(): StreamingQuery = join.writeStream.option("checkpointLocation", checkpoint)
          .foreachBatch { (batch: Dataset[Row], _: Long) => found ++= batch.collect(); () }.start()

        val first = start()
        try {
          assert(batch(first, folder, "1,5,1\n2,0,1", found) == Set(Row(1, 10), Row(2, null)))
          sql("INSERT INTO prices VALUES (4, 40, 1)")
          assert(batch(first, folder, "3,5,1", found) == Set(Row(3, 40)))
          val plan = new ByteArrayOutputStream
          Console.withOut(plan)(first.explain())
          assert(plan.toString.contains(operator), plan)
        } finally first.stop()

        sql("INSERT INTO prices VALUES (5, 50, 1)")
        val second = start()
        try assert(batch(second, folder, "4,5,1", found) == Set(Row(4, 50)))
        finally second.stop()
      }
    }
  }

  /** The rows that a query makes of one more file. */
  private def batch(query: StreamingQuery, folder: Path, lines: String, found: mutable.Buffer[Row]): Set[Row] = {
    found.clear()
    val whole = Files.writeString(Files.createTempFile("lines", ".csv"), lines)
    Files.move(whole, folder.resolve(s"${System.nanoTime}.csv"))
    query.processAllAvailable()
    found.toSet
  }
}

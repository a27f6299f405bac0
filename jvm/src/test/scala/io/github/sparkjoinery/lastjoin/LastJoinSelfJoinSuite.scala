package io.github.sparkjoinery.lastjoin

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._

import io.github.sparkjoinery.lastjoin.logical.LastJoin
import io.github.sparkjoinery.{Answers, LastJoinChecks}

/**
 * The DataFrame form, and both sides from the same data. Spark tells the sides of its own joins apart where its
 * optimizer removes aliases; `LastJoin` is not among those joins, so attributes of the sides must never meet.
 */
class LastJoinSelfJoinSuite extends LastJoinChecks {

  private def t: DataFrame = spark.range(12).select(col("id"), (col("id") % 3).as("k"), (col("id") * 7 % 5).as("ts"))
  private def order(columns: org.apache.spark.sql.Column*) = call_function("joinery_last_join_order", columns: _*)

  /** For each id the last by (ts, id) of the rows of its k, with the k. */
  private val answer = {
    val rows = (0 until 12).map(id => (id, id % 3, id * 7 % 5))
    rows.map { case (id, k, _) => s"($id, ${rows.filter(_._2 == k).maxBy(row => (row._3, row._1))._1})" }.sorted
  }

  private def check(name: String)(joined: => DataFrame): Unit = test(name) {
    for (threshold <- Seq("-1", "10MB"); adaptive <- Seq("true", "false")) {
      withConf("spark.sql.autoBroadcastJoinThreshold" -> threshold, "spark.sql.adaptive.enabled" -> adaptive) {
        val query = joined
        assert(Answers.rows(query) == answer)
        val optimized = query.asInstanceOf[org.apache.spark.sql.joinery.DataFrame].queryExecution.optimizedPlan
        val sides = optimized.collectWithSubqueries { case join: LastJoin =>
          join.left.outputSet.intersect(join.right.outputSet)
        }
        assert(sides.nonEmpty && sides.forall(_.isEmpty), optimized)
      }
    }
  }

  private def join(left: DataFrame, right: DataFrame): DataFrame =
    left.as("l").join(right.as("r").filter(order(col("r.ts"), col("r.id"))), col("l.k") === col("r.k"), "left")
      .select(col("l.id"), col("r.id").as("rid"))

  // the DataFrame form

  check("the same frame, aliased before the marker") {
    val frame = t
    join(frame, frame)
  }
  check("columns of the frames themselves") {
    val (left, right) = (t, t)
    left.join(right.filter(order(right("ts"), right("id"))), left("k") === right("k"), "left").select(
      left("id"),
      right("id").as("rid"))
  }
  check("USING") {
    val right = t.withColumnRenamed("id", "rid").filter(order(col("ts"), col("rid")))
    t.drop("ts").join(right, Seq("k"), "left").select("id", "rid")
  }
  check("descending terms") {
    val right = t.as("r").filter(order((-col("ts")).desc_nulls_first, (-col("id")).desc))
    t.as("l").join(right, col("l.k") === col("r.k"), "left").select(col("l.id"), col("r.id").as("rid"))
  }
  check("a hint inside the right side")(join(t, t.hint("broadcast")))

  test("USING gives the key once, and the columns of a left join") {
    val right = t.select(col("k"), col("ts").as("rts"))
    assert(t.join(right.filter(order(col("rts"))), Seq("k"), "left").schema == t.join(right, Seq("k"), "left").schema)
  }

  test("without terms: any match") {
    val right = spark.range(3).select(col("id").as("k"), lit("x").as("c"))
    assert(t.join(right.filter(order()), Seq("k"), "left").where("c = 'x'").count() == 12)
  }

  // both sides from the same data

  check("a projection that renames every column to its own name") {
    val frame = t
    join(frame, frame.select(frame.columns.map(c => col(c).as(c)).toSeq: _*))
  }
  check("a projection on the left")(join(t.select(t.columns.map(c => col(c).as(c)).toSeq: _*), t))
  check("projections of projections of the same frame") {
    val frame = t.cache()
    try join(
        frame.withColumn("id", col("id")).select("id", "k"),
        frame.withColumn("ts", col("ts")).select("k", "ts", "id"))
    finally frame.unpersist()
  }
  check("a union of the frame with itself") {
    val frame = t
    join(frame, frame.union(frame))
  }
  check("a union by name, distinct") {
    val frame = t
    join(frame.union(frame).distinct(), frame.unionByName(frame).select("ts", "k", "id"))
  }
  check("aggregates of the frame on both sides") {
    val sums = t.groupBy("id", "k").agg(max("ts").as("ts"))
    join(sums, sums)
  }
  check("an aggregate beside its input") {
    val frame = t
    join(frame, frame.groupBy("id", "k").agg(max("ts").as("ts")))
  }
  check("windows, generators and samples of the frame") {
    val frame = t
    val window = frame.withColumn("ts", max("ts").over(org.apache.spark.sql.expressions.Window.partitionBy("id")))
    join(window.withColumn("x", explode(array(lit(1)))), window.sample(1.0).withColumn("x", explode(array(lit(1)))))
  }
  check("typed operations, which make objects of rows") {
    val session = spark
    import session.implicits._
    val typed = t.as[(Long, Long, Long)].map(row => row).toDF("id", "k", "ts")
    join(typed, typed)
  }
  check("a checkpointed frame") {
    val frame = t.localCheckpoint()
    join(frame, frame.select(col("id").as("id"), col("k").as("k"), col("ts").as("ts")))
  }
  check("LAST JOINs of one another") {
    val once = join(t, t)
    val twice = once.as("a").join(once.as("b").filter(order(col("b.rid"))), col("a.id") === col("b.id"), "left")
    twice.select(col("a.id"), col("b.rid").as("rid"))
  }

  // the same in SQL

  private def checkSql(name: String)(query: => String): Unit = check(name) {
    t.createOrReplaceTempView("t")
    sql(query)
  }
  private val lastJoin = "ORDER BY r.ts, r.id ON l.k = r.k"

  checkSql("a common table expression twice")(
    s"WITH c AS (SELECT id, k, ts FROM t) SELECT l.id, r.id AS rid FROM c l LAST JOIN c r $lastJoin")
  checkSql("a common table expression three times, with aliases of the same names")(
    s"""WITH c AS (SELECT id AS id, k AS k, ts AS ts FROM t), d AS (SELECT c.id AS id, c.k AS k, c.ts AS ts FROM c JOIN c e ON c.id = e.id)
       |SELECT l.id, r.id AS rid FROM d l LAST JOIN d r $lastJoin""".stripMargin)
  checkSql("a common table expression that is not inlined")(
    s"WITH c AS (SELECT id, k, ts, rand() AS x FROM t) SELECT l.id, r.id AS rid FROM c l LAST JOIN c r $lastJoin AND l.x >= 0 AND r.x >= 0")
  checkSql("a common table expression with a LAST JOIN, twice")(
    s"""WITH c AS (SELECT l.id, r.id AS rid FROM t l LAST JOIN t r $lastJoin)
       |SELECT a.id, b.rid FROM c a LAST JOIN c b ORDER BY b.rid ON a.id = b.id""".stripMargin)
  checkSql("a recursive common table expression beside a LAST JOIN")(
    s"""WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 11)
       |SELECT l.id, r.id AS rid FROM n JOIN t l ON l.id = n.i LAST JOIN t r $lastJoin""".stripMargin)
  checkSql("subqueries of the same query")(
    s"SELECT l.id, r.id AS rid FROM (SELECT id AS id, k AS k FROM t) l LAST JOIN (SELECT id AS id, k AS k, ts AS ts FROM t) r $lastJoin")
  checkSql("set operations")(
    s"SELECT l.id, r.id AS rid FROM (SELECT * FROM t INTERSECT SELECT * FROM t) l LAST JOIN (SELECT * FROM t EXCEPT SELECT *, 1, 1 FROM range(0)) r $lastJoin"
      .replace("SELECT *, 1, 1 FROM range(0)", "SELECT * FROM t WHERE false"))
  checkSql("a view twice") {
    spark.range(12).select(col("id"), (col("id") % 3).as("k"), (col("id") * 7 % 5).as("ts")).createOrReplaceTempView(
      "base")
    sql("CREATE OR REPLACE TEMPORARY VIEW v AS SELECT id AS id, k AS k, ts AS ts FROM base")
    s"SELECT l.id, r.id AS rid FROM v l LAST JOIN v r $lastJoin"
  }
  checkSql("a chain of three")(
    s"""SELECT l.id, s.id AS rid FROM t l LAST JOIN t r $lastJoin LAST JOIN t s ORDER BY s.ts, s.id ON s.k = r.k
       |LAST JOIN t u ORDER BY u.id ON u.id = s.id AND u.k = r.k""".stripMargin)

  // Spark 4.3 generates code for a union and its children together, where each of them has one input
  checkSql("a union of joins")(
    s"SELECT l.id, r.id AS rid FROM t l LAST JOIN t r $lastJoin WHERE l.id < 6 UNION ALL " +
      s"SELECT l.id, r.id AS rid FROM t l LAST JOIN t r $lastJoin WHERE l.id >= 6")

  // inside correlated subqueries

  test("in a correlated scalar subquery") {
    t.createOrReplaceTempView("t")
    assert(Answers.rows(sql(
      s"SELECT o.id, (SELECT max(r.id) FROM t l LAST JOIN t r $lastJoin WHERE l.id = o.id) AS rid FROM t o")) == answer)
  }

  test("in a lateral subquery") {
    t.createOrReplaceTempView("t")
    assert(Answers.rows(sql(
      s"SELECT o.id, x.rid FROM t o, LATERAL (SELECT r.id AS rid FROM t l LAST JOIN t r $lastJoin WHERE l.id = o.id) x")) == answer)
  }

  test("in EXISTS") {
    t.createOrReplaceTempView("t")
    val own =
      sql(s"SELECT id, id FROM t o WHERE EXISTS (SELECT 1 FROM t l LAST JOIN t r $lastJoin WHERE r.id = o.id AND l.id = o.id)")
    assert(Answers.rows(own) == answer.filter(_.matches("""\((\d+), \1\)""")))
  }
}

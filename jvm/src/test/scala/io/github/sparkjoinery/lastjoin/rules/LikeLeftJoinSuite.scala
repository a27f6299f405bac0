package io.github.sparkjoinery.lastjoin.rules

import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.FileSourceScanExec

import io.github.sparkjoinery.lastjoin.logical.{LastJoin, LastRowPerKey}
import io.github.sparkjoinery.{Answers, LastJoinChecks}

/**
 * Spark's optimizer moves the same expressions below a LAST JOIN as below a LEFT JOIN: both read the same from their
 * tables. The oracle is Spark's plan of the query with LEFT JOIN in the place of LAST JOIN.
 */
class LikeLeftJoinSuite extends LastJoinChecks {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    sql("CREATE TABLE facts (id BIGINT, k INT, ts INT, wide STRUCT<a: INT, b: STRING>, day INT) USING parquet PARTITIONED BY (day)")
    sql("INSERT INTO facts SELECT id, nullif(int(id % 7), 3), int(id), struct(int(id) AS a, 'b' AS b), int(id % 4) FROM range(0, 60, 1, 3)")
    sql("CREATE TABLE states (k BIGINT, ts INT, v INT, wide STRUCT<a: INT, b: STRING>, day INT) USING parquet PARTITIONED BY (day)")
    sql("INSERT INTO states SELECT nullif(id % 8, 2), int(id), int(id), struct(int(id) AS a, 'b' AS b), int(id % 4) FROM range(0, 90, 1, 2)")
    sql("CREATE TABLE few USING parquet AS SELECT int(id) AS k, int(id) AS v FROM range(3)")
  }

  override protected def afterAll(): Unit = {
    Seq("facts", "states", "few").foreach(table => sql(s"DROP TABLE $table"))
    Seq("spark.sql.adaptive.enabled", "spark.sql.autoBroadcastJoinThreshold").foreach(spark.conf.unset)
    super.afterAll()
  }

  private def joined(columns: String, on: String, rest: String): (String, String) = {
    def query(join: String, order: String) = s"SELECT $columns FROM facts f $join states s $order ON $on $rest"
    (query("LAST JOIN", "ORDER BY s.ts"), query("LEFT JOIN", ""))
  }

  private def optimized(query: String): LogicalPlan = sql(query).queryExecution.optimizedPlan

  private def sides(query: String): (LogicalPlan, LogicalPlan) = optimized(query).collectFirst {
    case join: LastJoin => (join.left, join.right)
    case join @ Join(_, _, LeftOuter, _, _) => (join.left, join.right)
  }.get

  /** The columns, partition filters and Parquet filters of each scan. */
  private def read(query: String): Seq[String] = collect(plan(sql(query))) { case scan: FileSourceScanExec =>
    def text(label: String) =
      label + scan.metadata(label).replaceAll("#\\d+L?", "").split("(?<=[\\[,]) ?|(?=\\])").sorted
        .mkString(" ")
    Seq("ReadSchema", "PartitionFilters", "PushedFilters").map(text).mkString(" ")
  }.sorted

  for ((what, columns, on, rest) <- Seq(
      ("a filter on the key", "f.id, s.ts", "f.k = s.k", "WHERE f.k = 5"),
      ("a list", "f.id, s.v", "f.k = s.k AND s.ts <= f.ts", "WHERE f.k IN (1, 5)"),
      ("a range of the key", "f.id, s.v", "f.ts = s.ts", "WHERE f.ts > 3 AND f.ts <= 9"),
      ("a partition", "f.id, s.ts", "f.k = s.k AND f.day = s.day", "WHERE f.day = 2"),
      ("a partition, and no key", "f.id, s.v", "f.day = s.day AND s.ts < f.ts", "WHERE f.day = 2"),
      ("keys that are NULL", "f.id, s.v", "f.k = s.k AND s.ts < f.ts", ""),
      ("NULL-safe equality", "f.id, s.v", "f.ts <=> s.ts", "WHERE f.ts = 7"),
      ("a filter of ON", "f.id, s.v", "f.ts = s.ts AND s.v > 4", "WHERE f.ts > 3")
    ))
    test(s"filters: $what") {
      val (last, left) = joined(columns, on, rest)
      assert(read(last) == read(left))
      assert(read(last).nonEmpty)
    }

  test("filters go below the reduction to the last row of each key") {
    val (last, _) = joined("f.id, s.v", "f.k = s.k AND f.day = s.day", "WHERE f.day = 2")
    val below = sides(last)._2.collectFirst { case reduced: LastRowPerKey =>
      reduced.child
    }
    assert(below.exists(_.collectFirst { case filter: Filter => filter }.isDefined), optimized(last))
  }

  test("a filter that may fail is not asked of rows that match nothing") {
    withTables("texts", "numbers") {
      sql("CREATE TABLE texts USING parquet AS SELECT string(id) AS t FROM range(5)")
      sql("CREATE TABLE numbers USING parquet AS SELECT * FROM VALUES ('2', 1), ('two', 2) AS n(t, v)")
      val query = "FROM texts a %s numbers n ON a.t = n.t WHERE int(a.t) = 2"
      assert(Answers.rows(sql("SELECT a.t, n.v " + query.format("LAST JOIN"))) == Seq("('2', 1)"))
    }
  }

  test("a filter that drops what has no match goes both ways") {
    val query =
      "SELECT f.id, s.v FROM facts f LAST JOIN states s ORDER BY s.ts ON f.ts = s.ts AND f.id > 4 WHERE s.ts > 9"
    def filtered(query: String) = sides(query)._1.collect { case Filter(condition, _) => condition.sql }.mkString
    for (above <- Seq("s.v > 3", "s.v IS NOT NULL", "s.v IN (4, 5, 77)", "coalesce(s.v, 0) > 3", "NOT s.v <=> NULL")) {
      val inner = query.replace("s.ts > 9", above)
      assert(filtered(inner).contains("id > "), optimized(inner))
      assert(Answers.rows(sql(inner)) == Answers.rows(sql(inner.replace("LAST", "LEFT").replace("ORDER BY s.ts", ""))))
    }
    for (above <-
        Seq("s.v IS NULL", "coalesce(s.v, 5) > 3", "s.v > 3 OR f.ts > 3", "s.v <=> NULL", "isnull(s.v) OR s.v > 3")) {
      val outer = query.replace("s.ts > 9", above)
      assert(!filtered(outer).contains("id > "), optimized(outer))
      assert(Answers.rows(sql(outer)) == Answers.rows(sql(outer.replace("LAST", "LEFT").replace("ORDER BY s.ts", ""))))
    }
  }

  test("an inner ASOF JOIN asks neither side for keys that are NULL") {
    val query =
      "SELECT f.id, s.v FROM facts f ASOF JOIN states s MATCH_CONDITION (f.ts >= s.ts) ON f.k = s.k AND f.id > 4"
    assert(read(query).forall(_.contains("IsNotNull(k)")), read(query))
    assert(read(query).exists(_.contains("GreaterThan(id")), read(query))
  }

  for (rest <- Seq("LIMIT 5", "LIMIT 5 OFFSET 3", "WHERE f.id > 20 LIMIT 5"))
    test(s"$rest goes below the left side") {
      for (on <- Seq("f.k = s.k", "f.k = s.k AND s.ts <= f.ts", "f.k = s.k AND s.v > f.ts")) {
        val (last, left) = joined("f.id, s.v + f.ts AS x", on, rest)
        def limits(query: String) = sides(query)._1.collect { case limit: LocalLimit => limit.limitExpr }
        assert(limits(last) == limits(left) && limits(last).nonEmpty)
        assert(sql(last).count() == 5)
        val (all, _) = joined("f.id, s.v + f.ts AS x", on, "")
        assert(Answers.rows(sql(last)).toSet.subsetOf(Answers.rows(sql(all)).toSet))
      }
    }

  test("a LIMIT larger than the left side stays where it is") {
    val query =
      "SELECT l.id, s.v FROM (SELECT * FROM facts LIMIT 4) l LAST JOIN states s ORDER BY s.ts ON l.k = s.k LIMIT 9"
    assert(sides(query)._1.collect { case limit: LocalLimit => limit }.size == 1)
    assert(sql(query).count() == 4)
  }

  for (rest <- Seq(
      "ORDER BY f.ts DESC LIMIT 5",
      "ORDER BY f.id LIMIT 5 OFFSET 3",
      "WHERE f.k = 5 ORDER BY -f.ts LIMIT 4",
      "WHERE s.v IS NOT NULL OR true ORDER BY day, ts + 1 LIMIT 7",
      "ORDER BY negative(renamed) LIMIT 6"
    ))
    test(s"$rest goes below the left side") {
      val columns = "f.day, f.ts, f.id, f.id + 1 AS renamed, s.v"
      val (last, _) = joined(columns, "f.k = s.k AND s.ts <= f.ts", rest)
      assert(sides(last)._1.collect { case sort: Sort => sort }.size == 1, optimized(last))
      val answer = withConf("spark.sql.optimizer.excludedRules" -> PushBelowLastJoin.ruleName) {
        assert(sides(last)._1.collect { case sort: Sort => sort }.isEmpty)
        sql(last).collect().map(_.toString).toSeq
      }
      assert(sql(last).collect().map(_.toString).toSeq == answer)
    }

  for (rest <- Seq(
      "ORDER BY s.v LIMIT 5",
      "ORDER BY f.ts, s.v LIMIT 5",
      "ORDER BY rand(3) LIMIT 5",
      "WHERE s.v > 3 ORDER BY f.ts LIMIT 5",
      "WHERE s.v > 3 LIMIT 5"))
    test(s"$rest stays above") {
      val (last, _) = joined("f.id, f.ts, s.v", "f.k = s.k AND s.ts <= f.ts", rest)
      assert(sides(last)._1.collect { case node @ (_: Sort | _: LocalLimit) => node }.isEmpty, optimized(last))
    }

  for (kind <- Seq("SEMI", "ANTI"))
    test(s"LEFT $kind JOIN on left columns goes below the left side") {
      def query(join: String, order: String, on: String) =
        s"SELECT f.id, s.v FROM facts f $join states s $order ON f.k = s.k AND s.ts = f.ts LEFT $kind JOIN few ON $on"
      for (on <- Seq("f.k = few.k", "f.k = few.k AND few.v < f.ts")) {
        val last = query("LAST JOIN", "ORDER BY s.ts", on)
        assert(sides(last)._1.exists(_.isInstanceOf[Join]), optimized(last))
        assert(Answers.rows(sql(last)) == Answers.rows(sql(query("LEFT JOIN", "", on))))
      }
      val ofRight = query("LAST JOIN", "ORDER BY s.ts", "s.v = few.k")
      assert(!sides(ofRight)._1.exists(_.isInstanceOf[Join]), optimized(ofRight))
      assert(Answers.rows(sql(ofRight)) == Answers.rows(sql(query("LEFT JOIN", "", "s.v = few.k"))))
    }

  for (rest <-
      Seq("ORDER BY f.ts DESC LIMIT 5", "LEFT SEMI JOIN few ON f.k = few.k", "LEFT ANTI JOIN few ON f.k = few.k"))
    test(s"rows that are numbered above the join keep their numbers: $rest") {
      val numbered = "(SELECT f.k, f.ts, s.v, monotonically_increasing_id() AS n FROM facts f LAST JOIN states s " +
        "ORDER BY s.ts ON f.k = s.k AND s.ts <= f.ts) f"
      val numbers = sql(s"SELECT * FROM $numbered").collect().toSet
      val found = sql(s"SELECT f.* FROM $numbered $rest").collect()
      assert(found.nonEmpty && found.toSet.subsetOf(numbers))
    }

  for ((columns, on, rest) <- Seq(
      ("f.wide.a, s.wide.a AS sa, s.ts", "f.k = s.k AND s.ts <= f.ts", ""),
      ("f.wide.a, s.wide.a AS sa, s.ts", "f.k = s.k", ""),
      ("f.wide.a, s.wide.a AS sa, s.ts", "f.k = s.k AND f.wide.a <= s.ts", "WHERE f.ts > 4"),
      ("f.id, s.ts", "f.wide.a = s.wide.a", ""),
      ("f.wide, s.wide.a, s.ts", "f.k = s.k", "")
    ))
    test(s"of a struct the fields that are used are read: $columns ON $on $rest") {
      val (last, left) = joined(columns, on, rest)
      assert(read(last) == read(left))
    }

  test("a filter above on a field of a struct, and an order by one") {
    val query = """SELECT f.wide.a, s.wide.a AS sa FROM facts f LAST JOIN states s ORDER BY s.wide.a
                  |ON f.k = s.k WHERE s.wide.a % 3 > 0 AND f.wide.a > 4""".stripMargin
    assert(read(query).forall(scan => scan.contains("a:int") && !scan.contains("b:string")), read(query))
    val whole = withConf("spark.sql.optimizer.nestedSchemaPruning.enabled" -> "false")(Answers.rows(sql(query)))
    assert(Answers.rows(sql(query)) == whole && whole.nonEmpty)
  }

  for (adaptive <- Seq("false", "true"); hint <- Seq("BROADCAST", "MERGE"))
    test(s"keys that would fail, beside an empty right side: $hint, adaptive $adaptive") {
      def query(join: String, order: String, from: String) =
        s"SELECT /*+ $hint(s) */ f.id, s.v, s.day FROM facts f $join JOIN (SELECT * FROM states WHERE $from) s " +
          s"$order ON int(concat('x', f.id)) = s.k"
      // only adaptive execution finds that no row has this v, and a shuffle by keys has computed them by then
      val froms = "false" +: Seq("v < 0").filter(_ => adaptive == "true" && hint == "BROADCAST")
      withConf("spark.sql.adaptive.enabled" -> adaptive, "spark.sql.ansi.enabled" -> "true") {
        for (from <- froms) {
          val answer = onStockSpark(Answers.rows(sql(query("LEFT", "", from))))
          assert(answer.length == 60)
          for (order <- Seq("ORDER BY s.ts", "")) assert(Answers.rows(sql(query("LAST", order, from))) == answer)
        }
      }
    }

  for (adaptive <- Seq("false", "true"); hint <- Seq("BROADCAST", "SHUFFLE_HASH", "MERGE"))
    test(s"keys and other terms that would fail, beside an empty left side: $hint, adaptive $adaptive") {
      withConf("spark.sql.adaptive.enabled" -> adaptive, "spark.sql.ansi.enabled" -> "true") {
        for (from <- Seq("WHERE false", "LIMIT 0");
          on <- Seq("f.ts = 100 div (s.ts - 7)", "f.k = s.k AND 1 div (s.ts - 7) > 0")) {
          def query(join: String, order: String) =
            s"SELECT /*+ $hint(s) */ f.id, s.v FROM (SELECT * FROM facts $from) f $join JOIN states s $order ON $on"
          val left = sql(query("LEFT", ""))
          assert(left.collect().isEmpty)
          for (order <- Seq("ORDER BY s.ts", "")) {
            val last = sql(query("LAST", order))
            assert(last.schema == left.schema)
            assert(last.collect().isEmpty, s"$from $on $order")
          }
        }
      }
    }

  test("an empty left side, as adaptive execution finds: no join") {
    val query = "SELECT /*+ MERGE(s) */ f.id, s.v FROM facts f LAST JOIN states s ORDER BY s.ts ON f.k = s.k"
    withConf("spark.sql.adaptive.enabled" -> "true") {
      val joined = sql(s"$query AND s.ts <= f.ts WHERE f.id < 0")
      assert(joined.collect().isEmpty)
      assert(!operators(joined).exists(_.endsWith("LastJoin")), plan(joined))
    }
  }

  test("ORDER BY a metadata column, which is in no list") {
    sql("CREATE TABLE filed (k INT, v STRING) USING parquet")
    for (v <- Seq("a", "b", "c")) {
      Thread.sleep(5)
      sql(s"INSERT INTO filed VALUES (1, '$v')")
    }
    val time = "_metadata.file_modification_time"
    for ((order, found) <- Seq(s"s.$time" -> "c", s"s.$time DESC" -> "a", s"s.k, s.$time" -> "c"))
      for (columns <- Seq("s.v", "v, f.id", s"s.v, s.$time"))
        assert(sql(s"SELECT $columns FROM facts f LAST JOIN filed s ORDER BY $order ON f.k = s.k WHERE f.k = 1")
          .collect().map(_.getString(0)).toSet == Set(found))
    sql("DROP TABLE filed")
  }

  test("ORDER BY a column of one side of USING") {
    val right = "(VALUES (1, 5) AS a(k, ts) FULL JOIN VALUES (1, 5, 'x'), (1, 6, 'y') AS b(k, ts, w) USING (ts))"
    assert(sql(s"SELECT w FROM facts f LAST JOIN $right ORDER BY b.ts ON f.k = b.k WHERE f.k = 1")
      .collect().map(_.getString(0)).toSet == Set("y"))
  }

  test("a table joined with itself is shuffled once, with its NULL keys") {
    val query =
      "SELECT a.id, b.id AS last FROM facts a LAST JOIN facts b ORDER BY b.ts, b.id ON a.k = b.k AND b.ts <= a.ts"
    assert(operators(sql(query)).contains("ReusedExchange"), plan(sql(query)))
  }
}

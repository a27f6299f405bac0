package io.github.sparkjoinery.parser

import org.apache.spark.sql.catalyst.TableIdentifier

import io.github.sparkjoinery.{Answers, LastJoinChecks, SinceSpark40}

/** LAST JOIN inside statements that hold a query, or its text. */
class LastJoinStatementsSuite extends LastJoinChecks {

  override protected def beforeAll(): Unit = views(
    "l" -> "SELECT * FROM VALUES (1, 'a'), (2, 'b'), (3, 'c') AS t(id, k)",
    "r" -> "SELECT * FROM VALUES ('a', 1), ('a', 2), ('b', 3), ('b', NULL) AS t(k, ts)"
  )

  private val query = "SELECT l.id, r.ts FROM l l LAST JOIN r ORDER BY r.ts ON l.k = r.k"
  private val answer = Seq("(1, 2)", "(2, 3)", "(3, NULL)")

  private def check(statement: String): Unit = assert(Answers.rows(sql(statement)) == answer, statement)

  test("CREATE TABLE AS SELECT") {
    withTables("t") {
      sql(s"CREATE TABLE t USING parquet AS $query")
      check("SELECT * FROM t")
    }
  }

  test("INSERT INTO, INSERT OVERWRITE, and a multi-insert") {
    withTables("t", "u") {
      sql("CREATE TABLE t(id INT, ts INT) USING parquet")
      sql("CREATE TABLE u(id INT, ts INT) USING parquet")
      sql(s"INSERT INTO t $query")
      check("SELECT * FROM t")
      sql(s"INSERT OVERWRITE t $query")
      check("SELECT * FROM t")
      sql("FROM l l LAST JOIN r ORDER BY r.ts ON l.k = r.k INSERT OVERWRITE t SELECT l.id, r.ts INSERT INTO u SELECT id, ts")
      check("SELECT * FROM t")
      check("SELECT * FROM u")
    }
  }

  test("EXPLAIN, in every form") {
    for (form <- Seq("", "EXTENDED", "FORMATTED", "CODEGEN", "COST")) {
      val shown = sql(s"EXPLAIN $form $query").head().getString(0)
      assert(form == "CODEGEN" || shown.contains("BroadcastLastJoin"), shown)
      assert(!shown.contains("Error occurred"), shown)
    }
  }

  test("CACHE TABLE, and the cached answer", SinceSpark40) {
    withTables("t") {
      sql(s"CACHE TABLE t AS $query")
      check("SELECT * FROM t")
      assert(operators(sql("SELECT * FROM t")) == Seq("Scan In-memory table t"))
      sql("UNCACHE TABLE t")
    }
  }

  test("a script, with a loop, a variable and a condition", SinceSpark40) {
    check(s"""BEGIN
             |  DECLARE n INT DEFAULT 0;
             |  FOR x AS (SELECT count(r.ts) AS c FROM l l LAST JOIN r ORDER BY r.ts USING (k)) DO SET n = x.c; END FOR;
             |  IF n = (SELECT count(r.ts) FROM l l LAST JOIN r ORDER BY r.ts ON l.k = r.k) THEN
             |    $query; -- the result
             |  END IF;
             |END""".stripMargin)
  }

  test("EXECUTE IMMEDIATE, with parameters", SinceSpark40) {
    check(s"EXECUTE IMMEDIATE '$query'")
    check("EXECUTE IMMEDIATE 'SELECT l.id, r.ts FROM l l LAST JOIN r ORDER BY r.ts * ? ON l.k = r.k AND r.ts > ?' USING 1, 0")
    check("EXECUTE IMMEDIATE 'SELECT l.id, r.ts FROM l l LAST JOIN r ORDER BY r.ts * :n ON l.k = r.k' USING 1 AS n")
  }

  test("DECLARE and SET of a variable, and settings that only contain the words", SinceSpark40) {
    sql("DECLARE OR REPLACE VARIABLE n BIGINT DEFAULT 0")
    sql(s"SET VAR n = (SELECT sum(ts) FROM ($query))")
    assert(Answers.rows(sql("SELECT n")) == Seq("(5)"))
    sql("SET some.key=a LAST JOIN b")
    assert(spark.conf.get("some.key") == "a LAST JOIN b")
    spark.conf.unset("some.key")
  }

  test("a view keeps the user's text, and gives the answer again and again") {
    for ((kind, name) <- Seq("TEMPORARY VIEW" -> "temporary_v", "OR REPLACE TEMPORARY VIEW" -> "temporary_v")) {
      sql(s"CREATE $kind $name AS $query")
      check(s"SELECT * FROM $name")
    }
    assert(spark.sessionState.catalog.getTempView("temporary_v").get.desc.viewText.contains(query))

    withTables("persistent_v", "lt", "rt") {
      sql("CREATE TABLE lt USING parquet AS SELECT * FROM l")
      sql("CREATE TABLE rt USING parquet AS SELECT * FROM r")
      val text = "select  l.id, r.ts -- tab:\t\n from lt l  Last /* LEFT */ Join rt r order  by r.ts on l.k = r.k"
      sql(s"CREATE VIEW persistent_v AS $text")
      check("SELECT * FROM persistent_v")
      check("SELECT a.id, b.ts FROM persistent_v a LAST JOIN persistent_v b ON a.id = b.id")
      val stored = spark.sessionState.catalog.getTableMetadata(TableIdentifier("persistent_v")).viewText
      assert(stored.contains(text))
      assert(sql("SHOW CREATE TABLE persistent_v").head().getString(0).contains(text))
    }
  }

  test("a SQL function", SinceSpark40) {
    withTables("lt", "rt") {
      sql("CREATE TABLE lt USING parquet AS SELECT * FROM l")
      sql("CREATE TABLE rt USING parquet AS SELECT * FROM r")
      sql("""CREATE FUNCTION last_of(n INT) RETURNS TABLE(id INT, ts INT) RETURN
            |SELECT l.id, r.ts FROM lt l LAST JOIN rt r ORDER BY r.ts ON l.k = r.k WHERE l.id <= n""".stripMargin)
      try check("SELECT * FROM last_of(3)")
      finally sql("DROP FUNCTION last_of")
    }
  }

  test("a view means what its words meant when it was made, whatever is switched on or off since") {
    withTables("on_v", "off_v", "lt", "rt") {
      sql("CREATE TABLE lt USING parquet AS SELECT * FROM l")
      sql("CREATE TABLE rt USING parquet AS SELECT * FROM r")
      val ambiguous = "SELECT id, ts FROM lt LAST JOIN rt USING (k)"
      def define(suffix: String): Unit = {
        sql(s"CREATE VIEW ${suffix}_v AS $ambiguous")
        sql(s"CREATE TEMPORARY VIEW ${suffix}_temporary AS $ambiguous")
      }
      define("on")
      onStockSpark(define("off"))
      def check(): Unit = for (kind <- Seq("v", "temporary")) {
        assert(sql(s"SELECT * FROM on_$kind").count() == 3, kind)
        assert(sql(s"SELECT * FROM off_$kind").count() == 4, kind)
      }
      check()
      onStockSpark(check())
      withConf("spark.sql.variable.substitute" -> "false")(check())
    }
  }

  test("a script with several of them, one of them in a string, one an alias", SinceSpark40) {
    check(s"""BEGIN
             |  DECLARE t STRING DEFAULT 'l LAST JOIN r';
             |  IF EXISTS (SELECT 1 FROM l AS last JOIN r ON last.k = r.k) AND t = 'l LAST JOIN r' THEN
             |    SELECT l.id, r.ts FROM l l /* a */ LAST /* b /* c */ */ JOIN r ORDER BY r.ts ON l.k = r.k;
             |  ELSE $query WHERE false;
             |  END IF;
             |END""".stripMargin)
  }
}

package io.github.sparkjoinery.parser

import org.antlr.v4.runtime.{CharStreams, Token}

import org.apache.spark.sql.catalyst.parser.SqlBaseLexer

import io.github.sparkjoinery.lastjoin.logical.{AsOfRight, LastJoinRight}
import io.github.sparkjoinery.{Answers, LastJoinChecks, SinceSpark40}

/**
 * Joinery finds the words of LAST JOIN and ASOF JOIN as Spark's lexer does. Every white space of the lexer may separate
 * them. Letters that it reads as others spell them, too, and variables are replaced before it reads them. If a word is
 * missed, it becomes an alias, and the join an inner one.
 */
class LastJoinWordsSuite extends LastJoinChecks {

  override protected def beforeAll(): Unit = views(
    "l" -> "SELECT * FROM VALUES (1, 'a'), (2, 'b'), (3, 'c') AS t(id, k)",
    "r" -> "SELECT * FROM VALUES ('a', 1), ('a', 2), ('b', 3), ('b', NULL) AS t(k, ts)"
  )

  private val answer = Seq("(1, 2)", "(2, 3)", "(3, NULL)")

  private def lastJoin(last: String, join: String, between: String): String =
    s"SELECT id, ts FROM l $last$between$join r ORDER BY ts USING (k)"

  /** A join with these words that Spark parses without Joinery, too, as an inner join. */
  private def ambiguous(words: String): String = s"SELECT count(*) FROM l $words r USING (k)"

  private def asOfJoin(words: String): String = s"SELECT count(*) FROM l LEFT $words r MATCH_CONDITION (l.id >= r.ts)"

  private def count(text: String): Long = sql(text).head().getLong(0)

  private def isRead(text: String): Boolean = spark.sessionState.sqlParser.parsePlan(text).exists {
    case _: LastJoinRight | _: AsOfRight => true
    case _ => false
  }

  private def lexed(text: String): Seq[Token] = {
    val lexer = new SqlBaseLexer(CharStreams.fromString(text))
    Iterator.continually(lexer.nextToken()).takeWhile(_.getType != Token.EOF)
      .filter(_.getChannel == Token.DEFAULT_CHANNEL).toSeq
  }

  private val whiteSpace: Seq[String] =
    (0 to 0xffff).map(_.toChar).filterNot(_.isSurrogate).map(_.toString).filter { space =>
      lexed(s"LAST${space}JOIN").map(_.getType) == Seq(SqlBaseLexer.LAST, SqlBaseLexer.JOIN)
    }

  test("each character that Spark's lexer takes for white space", SinceSpark40) {
    assert(whiteSpace.contains("\u00A0") && whiteSpace.contains("\u3000"))
    for (space <- whiteSpace) {
      withClue(f"U+${space.head.toInt}%04X: ") {
        assert(isRead(ambiguous(s"LAST${space}JOIN")))
        assert(isRead(asOfJoin(s"ASOF${space}JOIN")))
      }
    }
    assert(Answers.rows(sql(lastJoin("l LAST", "JOIN", "\u00A0"))) == answer)
  }

  test("comments in and beside such white space", SinceSpark40) {
    for (between <- Seq(
        "/**/",
        "\u00A0/* JOIN */\u2003",
        "--\n",
        "-- \u2028 x\r\n",
        "\u00A0--\\\n still\n",
        "/* /* nested */ */")) {
      assert(count(ambiguous(s"LAST${between}JOIN")) == 3, between)
      assert(count(asOfJoin(s"ASOF${between}JOIN")) == 3, between)
    }
  }

  test("letters that Spark's lexer reads as others, and a word directly after a number or a quote") {
    assert(count(ambiguous("la\u017Ft jo\u0131n")) == 3)
    assert(count(asOfJoin("a\u017Fof jo\u0131n")) == 3)
    assert(count("SELECT count(*) FROM l `x`LAST JOIN r USING (k)") == 3)
  }

  test("words that come from variables", SinceSpark40) {
    withConf(
      "first.word" -> "LAST",
      "second.word" -> "JOIN",
      "both.words" -> "ASOF\u00A0JOIN",
      "nested.word" -> "${first.word}") {
      assert(count(ambiguous("${first.word} JOIN")) == 3)
      assert(count(ambiguous("LAST ${second.word}")) == 3)
      assert(count(ambiguous("${spark:first.word}${no.such.variable} ${hiveconf:second.word}")) == 3)
      assert(count(ambiguous("${nested.word} JOIN")) == 3)
      assert(count(asOfJoin("${both.words}")) == 3)
      assert(Answers.rows(sql(lastJoin("l ${first.word}", "${second.word}", " "))) == answer)
      assert(Answers.rows(spark.sql(
        "SELECT id, ts FROM l l ${first.word} JOIN r ORDER BY ts ON l.k = r.k AND id < :n",
        Map("n" -> 9))) == answer)
      sql(s"CREATE OR REPLACE TEMPORARY VIEW v AS ${lastJoin("l ${first.word}", "JOIN", " ")}")
    }
    assert(Answers.rows(sql("SELECT * FROM v")) == answer)
  }

  test("words from variables in statements that are parsed while another runs", SinceSpark40) {
    withConf("first.word" -> "LAST") {
      val query = lastJoin("l ${first.word}", "JOIN", " ")
      withConf("spark.sql.variable.substitute" -> "false")(sql(s"DECLARE OR REPLACE VARIABLE statement = '$query'"))
      assert(Answers.rows(sql("EXECUTE IMMEDIATE statement")) == answer)
      assert(Answers.rows(sql(s"BEGIN $query; END")) == answer)
    }
  }

  test("without substitution, or switched off, a variable is what it is on stock Spark") {
    withConf("first.word" -> "LAST") {
      withConf("spark.sql.variable.substitute" -> "false") {
        checkError(ambiguous("${first.word} JOIN"), "PARSE_SYNTAX_ERROR", at = "$")
      }
      onStockSpark(assert(count(ambiguous("${first.word} JOIN")) == 4))
    }
  }

  test("a column that is named as a clause, as an operand in ORDER BY", SinceSpark40) {
    views("offsets" -> "SELECT k, ts AS offset, -ts AS limit FROM r")
    for (order <- Seq(
        "- offset DESC NULLS FIRST",
        "0 + offset * -1 DESC NULLS FIRST",
        "CASE WHEN offset > 1 THEN offset ELSE limit END",
        "NOT offset < 2, offset",
        "limit IS DISTINCT FROM offset, offset",
        "NOT limit IS NOT DISTINCT FROM offset, offset",
        "! offset < 2, offset",
        "1 << offset, 8 >>> offset, 8 >> limit",
        "limit DESC NULLS FIRST"
      ))
      assert(Answers.rows(sql(s"SELECT id, offset FROM l l LAST JOIN offsets o ORDER BY $order USING (k)")) == answer)
  }

  test("a right side that is named as a clause") {
    for (name <- Seq("where", "group", "having", "limit", "offset", "window", "cluster", "distribute", "sort") ++
        Seq("pivot", "unpivot", "qualify")) {
      for (right <- Seq(s"r AS $name", s"r $name"); order <- Seq(s"ORDER BY $name.ts", ""))
        assert(sql(s"SELECT id FROM l l LAST JOIN $right $order ON l.k = $name.k").count() == 3, s"$right $order")
      withView(name)(
        assert(Answers.rows(sql(s"SELECT id, ts FROM l l LAST JOIN $name ORDER BY ts USING (k)")) == answer))
    }
  }

  private def withView(name: String)(body: => Unit): Unit = {
    views(name -> "SELECT * FROM r")
    try body
    finally sql(s"DROP VIEW `$name`")
  }

  test("a clause behind a right side is none of its names") {
    for (clause <- Seq("WHERE id > 0", "GROUP BY id", "LIMIT 3", "|> ORDER BY id", "WINDOW w AS (ORDER BY id)"))
      checkError(s"SELECT id FROM l l LAST JOIN r $clause", "PARSE_SYNTAX_ERROR", at = "LAST")
  }

  test("a column that is called last, as the last operand before a join") {
    views("p" -> "SELECT * FROM VALUES (1, 5), (2, 1) AS t(v, last)", "q" -> "SELECT * FROM VALUES (1), (2) AS t(w)")
    for ((condition, pairs) <-
        Seq("v < last" -> 2, "v IS DISTINCT FROM last" -> 4, "w = v AND 1 = last" -> 1, "0 < - last" -> 0))
      assert(sql(s"SELECT * FROM p JOIN q ON $condition JOIN (SELECT 1) r").count() == pairs, condition)
  }

  test("a field of a VARIANT, or a parameter, that is named as a clause", SinceSpark40) {
    views(
      "variants" -> "SELECT k, ts, parse_json(to_json(named_struct('on', ts, 'offset', ts, 'last', -ts))) AS j FROM r")
    def found(order: String): Seq[String] = Answers.rows(
      spark.sql(s"SELECT id, ts FROM l l LAST JOIN variants v ORDER BY $order USING (k)", Map("on" -> 0, "limit" -> 0)))
    for (order <- Seq(
        "j:on::int",
        "v.j:offset::int, j:using::int",
        "j:last::int DESC NULLS FIRST",
        "1, j:['on']::int",
        ":limit, ts + :on"
      ))
      assert(found(order) == answer, order)
  }

  test("words of a variable inside a string are text") {
    withConf("words" -> "l LAST JOIN r ORDER BY r.ts ON true") {
      assert(sql("SELECT '${words}'").head().getString(0) == "l LAST JOIN r ORDER BY r.ts ON true")
    }
  }
}

package io.github.sparkjoinery.parser

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.DataFrame

import io.github.sparkjoinery.{Answers, LastJoinChecks, SinceSpark40}

/** Parameters, which Spark puts into a statement's text before it parses it, or binds in its analyzer. */
class LastJoinParametersSuite extends LastJoinChecks {

  override protected def beforeAll(): Unit = views(
    "l" -> "SELECT * FROM VALUES (1, 'a'), (2, 'b'), (3, 'c') AS t(id, k)",
    "r" -> "SELECT * FROM VALUES ('a', 1), ('a', 2), ('b', 3), ('b', 4) AS t(k, ts)")

  private val Emoji = "\uD83D\uDE00" // two chars, one code point: Spark counts either

  /** Runs a test with Spark's substitution in the text, and with the older one in the analyzer. */
  private def both(name: String)(body: => Unit): Unit = for (legacy <- Seq("false", "true")) {
    test(s"$name, legacy substitution $legacy") {
      withConf("spark.sql.legacy.parameterSubstitution.constantsOnly" -> legacy)(body)
    }
  }

  private def check(answer: DataFrame, expected: String*): Unit = assert(Answers.rows(answer) == expected)

  both("named parameters in ORDER BY and ON") {
    check(
      spark.sql(
        "SELECT l.id, r.ts FROM l l LAST JOIN r ORDER BY r.ts * :sign ON l.k = r.k AND r.ts < :max WHERE l.id < :id",
        Map("sign" -> 1, "max" -> 4, "id" -> 3)),
      "(1, 2)",
      "(2, 3)"
    )
    check(
      spark.sql("SELECT l.id, r.ts FROM l l LAST JOIN r ORDER BY r.ts * :sign ON l.k = r.k", Map("sign" -> -1)),
      "(1, 1)",
      "(2, 3)",
      "(3, NULL)")
  }

  both("positional parameters keep their order through SELECT, ORDER BY, ON and WHERE") {
    check(
      spark.sql(
        "SELECT ? AS c, l.id, r.ts FROM l l LAST JOIN r ORDER BY r.ts * ?, ? ON l.k = r.k AND r.ts < ? WHERE l.id < ?",
        Array[Any]("x", -1, 0, 4, 3)),
      "('x', 1, 1)",
      "('x', 2, 3)"
    )
  }

  both("characters outside the basic plane before, between and in parameters") {
    check(
      spark.sql(
        s"SELECT '$Emoji' AS e, l.id, r.ts, :text AS t FROM l l LAST JOIN r ORDER BY r.ts * /* $Emoji */ :sign ON l.k = r.k AND '$Emoji' <> :x",
        Map[String, Any]("sign" -> -1, "x" -> s"$Emoji$Emoji", "text" -> s"ä$Emoji'")
      ),
      s"('$Emoji', 1, 1, 'ä$Emoji'')",
      s"('$Emoji', 2, 3, 'ä$Emoji'')",
      s"('$Emoji', 3, NULL, 'ä$Emoji'')"
    )
    check(
      spark.sql(
        s"SELECT '$Emoji', l.id, r.ts FROM l l LAST JOIN r ORDER BY '$Emoji', r.ts * ? ON l.k = r.k AND '$Emoji' = ?",
        Array[Any](-1, Emoji)),
      s"('$Emoji', 1, 1)",
      s"('$Emoji', 2, 3)",
      s"('$Emoji', 3, NULL)"
    )
  }

  both("values that look like parameters, variables, comments or LAST JOIN are values") {
    for (value <- Seq(":p", "?", "${spark.app.name}", "-- x", "' LAST JOIN r ON true", "\\", "\n", "")) {
      check(
        spark.sql(
          "SELECT :p AS p, l.id, r.ts FROM l l LAST JOIN r ORDER BY r.ts ON l.k = r.k AND :p = :p WHERE l.id = 1",
          Map("p" -> value)),
        s"('$value', 1, 2)"
      )
    }
  }

  both("a parameter in chains, subqueries and common table expressions") {
    check(
      spark.sql(
        """WITH c AS (SELECT l.id, r.ts FROM l l LAST JOIN r ORDER BY r.ts * :sign ON l.k = r.k)
                  |SELECT c.id, c.ts, x.ts AS y FROM c c LAST JOIN (SELECT * FROM r WHERE ts > :low) x ORDER BY x.ts * :sign ON x.ts > :sign
                  |WHERE c.id IN (SELECT l.id FROM l l LAST JOIN r ORDER BY :sign ON r.ts = :low)""".stripMargin,
        Map("sign" -> -1, "low" -> 2)
      ),
      "(1, 1, 3)",
      "(2, 3, 3)",
      "(3, NULL, 3)"
    )
  }

  test("variables are put in before parameters") {
    withConf("my.term" -> "r.ts * :sign") {
      check(
        spark.sql(
          "SELECT l.id, r.ts FROM l l LAST JOIN r ORDER BY ${my.term} ON l.k = r.k AND r.ts <> :x",
          Map[String, Any]("sign" -> -1, "x" -> 1)),
        "(1, 2)",
        "(2, 3)",
        "(3, NULL)"
      )
    }
  }

  test("identifiers and limits from parameters, which the older substitution has not") {
    check(
      spark.sql(
        """SELECT l.id, r.ts FROM IDENTIFIER(:left) l LAST JOIN IDENTIFIER(:right) r ORDER BY IDENTIFIER(:by) DESC ON l.k = r.k
                  |ORDER BY id LIMIT :n""".stripMargin,
        Map[String, Any]("left" -> "l", "right" -> "r", "by" -> "r.ts", "n" -> 2)
      ),
      "(1, 1)",
      "(2, 3)"
    )
  }

  both("a missing parameter is Spark's error") {
    val error = intercept[Exception with SparkThrowable](
      spark.sql("SELECT * FROM l l LAST JOIN r ORDER BY r.ts * :sign ON l.k = r.k", Map("other" -> 1)).collect())
    assert(error.getErrorClass == "UNBOUND_SQL_PARAMETER" && error.getMessage.contains("sign"))
  }

  test("an error behind a parameter points at the user's text") {
    val error = intercept[Exception with SparkThrowable](
      spark.sql(
        "SELECT :long FROM l l LAST JOIN r ORDER BY r.ts * :sign ON l.k = r.nope",
        Map[String, Any]("sign" -> 1, "long" -> "something long")))
    assert(error.getErrorClass.startsWith("UNRESOLVED_COLUMN"))
    assert(error.getQueryContext.head.fragment == "r.nope")
  }

  test("mixed kinds of parameters are Spark's error", SinceSpark40) {
    val error = intercept[Exception with SparkThrowable](
      spark.sql("SELECT ? FROM l l LAST JOIN r ORDER BY r.ts * :sign ON l.k = r.k", Map("sign" -> 1)))
    assert(error.getErrorClass == "INVALID_QUERY_MIXED_QUERY_PARAMETERS")
  }
}

package io.github.sparkjoinery.parser

import java.lang.reflect.{InvocationTargetException, Proxy}

import scala.collection.mutable

import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.execution.SparkSqlParser

import io.github.sparkjoinery.JoinerySession

/** Joinery leaves statements without LAST JOIN to the next parser. */
class JoineryParserSuite extends JoinerySession {

  private val calls = mutable.ArrayBuffer.empty[(String, String)]

  /** Spark's parser, which records its calls. */
  private val recording: ParserInterface = {
    val spark = new SparkSqlParser
    val forward: java.lang.reflect.InvocationHandler = (_, method, arguments) => {
      calls += method.getName -> arguments.head.asInstanceOf[String]
      try method.invoke(spark, arguments: _*)
      catch { case e: InvocationTargetException => throw e.getCause }
    }
    Proxy.newProxyInstance(getClass.getClassLoader, Array(classOf[ParserInterface]), forward).asInstanceOf[
      ParserInterface]
  }
  private val parser = new JoineryParser(recording)

  /** The calls of the delegate while `body` runs. */
  private def recorded(body: => Any): Seq[(String, String)] = {
    calls.clear()
    body
    calls.toSeq
  }

  for (text <- Seq(
      "SELECT 1",
      "  select\t* \r\n FROM  t -- LAST JOIN\n ;  ",
      "SELECT 'LAST JOIN', '\uD83D\uDE00 ä' /* x LAST JOIN y ON true */",
      "SELECT '${no.such.variable}' FROM last JOIN r",
      "SET some.key=a LAST JOIN b",
      "SELECT last (v) FROM t JOIN u",
      "SELECT 'l ASOF JOIN r MATCH_CONDITION (l.t >= r.t)' FROM l asof JOIN r ON asof.t = r.t",
      "SELECT * FROM asof JOIN r"
    )) {
    test(s"reaches the delegate byte for byte: $text") {
      val asked = recorded(parser.parsePlan(text))
      assert(asked == Seq("parsePlan" -> text))
      assert(asked.head._2 eq text)
    }
  }

  test("every kind of text goes to the delegate's method for it") {
    assert(recorded(parser.parseQuery("SELECT 1")) == Seq("parseQuery" -> "SELECT 1"))
    assert(recorded(parser.parseExpression("a.last + 1")) == Seq("parseExpression" -> "a.last + 1"))
  }

  test("a LAST JOIN does not reach the delegate, nor does its error") {
    assert(recorded(parser.parsePlan("SELECT * FROM l l LAST JOIN r ORDER BY r.ts ON true")).isEmpty)
    assert(recorded(intercept[Exception](parser.parsePlan("SELECT * FROM l l LAST JOIN r ORDER BY r.ts"))).isEmpty)
  }

  test("switched off, a LAST JOIN reaches the delegate byte for byte") {
    val text = "SELECT * FROM l LAST JOIN r ON true"
    onStockSpark(assert(recorded(parser.parsePlan(text)) == Seq("parsePlan" -> text)))
  }

  test("an ASOF JOIN does not reach the delegate, and switched off it does") {
    val text = "SELECT * FROM l LEFT ASOF JOIN r MATCH_CONDITION (l.t >= r.t)"
    assert(recorded(parser.parsePlan(text)).isEmpty)
    withConf("spark.joinery.asofJoin.enabled" -> "false") {
      assert(recorded(scala.util.Try(parser.parsePlan(text))) == Seq("parsePlan" -> text))
    }
  }

  test("a delegate's syntax error is passed on unchanged") {
    def messageOf(parser: ParserInterface): String =
      intercept[Exception](parser.parsePlan("SELECT * FROM (t")).getMessage
    assert(messageOf(parser) == messageOf(new SparkSqlParser))
  }
}

package io.github.sparkjoinery.parser

import java.lang.reflect.{InvocationHandler, InvocationTargetException, Proxy}

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, SubqueryAlias}
import org.apache.spark.sql.joinery.BuiltParser

import io.github.sparkjoinery.guard.Refusal
import io.github.sparkjoinery.lastjoin.logical.LastJoinRight
import io.github.sparkjoinery.{JoineryExtensions, JoinerySession}

/** Statements of other extensions that contain a LAST JOIN. */
class InnermostParserSuite extends JoinerySession {

  private val query = "SELECT l.k FROM l LAST JOIN r ORDER BY r.ts ON l.k = r.k"

  /** An extension whose statements are `<name> <statement of Spark's>`. */
  private def naming(name: String)(extensions: SparkSessionExtensions): Unit = extensions.injectParser {
    (_, delegate) =>
      val forward: InvocationHandler = (_, method, arguments) =>
        try {
          arguments match {
            case Array(text: String) if method.getName == "parsePlan" && text.startsWith(s"$name ") =>
              SubqueryAlias(name, delegate.parsePlan(text.stripPrefix(s"$name ")))
            case _ => method.invoke(delegate, arguments: _*)
          }
        } catch { case e: InvocationTargetException => throw e.getCause }
      Proxy.newProxyInstance(getClass.getClassLoader, Array(classOf[ParserInterface]), forward).asInstanceOf[
        ParserInterface]
  }

  private def parse(text: String, extensions: (SparkSessionExtensions => Unit)*): LogicalPlan = {
    val listed = new SparkSessionExtensions
    extensions.foreach(_.apply(listed))
    BuiltParser(spark, listed).parsePlan(text)
  }

  private def ours(extensions: SparkSessionExtensions): Unit = new JoineryExtensions().apply(extensions)
  private val a = naming("A") _
  private val b = naming("B") _

  for ((order, extensions) <- Seq[(String, Seq[SparkSessionExtensions => Unit])](
      "last" -> Seq(a, b, ours),
      "between" -> Seq(a, ours, b),
      "first" -> Seq(ours, a, b),
      "twice" -> Seq(ours, a, ours, b)
    )) {
    test(s"Joinery is listed $order") {
      for (names <- Seq("", "A ", "B ", "B A ")) {
        val plan = parse(names + query, extensions: _*)
        assert(plan.exists(_.isInstanceOf[LastJoinRight]), plan)
        assert(
          plan.collect { case SubqueryAlias(id, _) if id.name.head.isUpper => id.name }.mkString(" ") == names.trim)
        assert(parse(s"${names}SELECT 1", extensions: _*).collect { case SubqueryAlias(_, _) => 1 }.size ==
          names.count(_ == ' '))
      }
    }
  }

  test("a jar of another Spark line refuses such statements") {
    val refusing = (extensions: SparkSessionExtensions) => Refusal.inject(extensions, "load another jar")
    for (order <- Seq(Seq(a, refusing), Seq(refusing, a)); names <- Seq("", "A ")) {
      val failure = intercept[Exception](parse(names + query, order: _*))
      assert(failure.getMessage.contains("load another jar"), failure)
    }
  }
}

package io.github.sparkjoinery.window

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, Row}

import io.github.sparkjoinery.Answers
import io.github.sparkjoinery.execution.skew.SkewedPartitions
import io.github.sparkjoinery.planning.explain.PlanReport
import io.github.sparkjoinery.window.exec.CopyRowsExec
import io.github.sparkjoinery.window.logical.HotKey

/** Compares windows over hot keys that are cut into parts with Spark's own operator over whole keys. */
trait SkewedWindowChecks extends WindowChecks with SkewedPartitions {

  protected val Settings = FewPartitions ++ Interpreted :+ ("spark.sql.ansi.enabled" -> "false")
  protected val Generated =
    Seq("spark.sql.codegen.wholeStage" -> "true", "spark.sql.codegen.factoryMode" -> "CODEGEN_ONLY")

  /** Nine rows out of ten have the key 0. */
  protected val Hot = "if(id % 97 = 5, NULL, int(if(id % 10 < 9, 0, id % 11)))"
  protected val Ties = "if(id % 31 = 3, NULL, int(pmod(hash(id), 90)))"

  /** Makes the view `d`. @param order SQL over `id` */
  protected def load(rows: Int, order: String, key: String = Hot): Unit = {
    known.clear()
    sql(s"""SELECT int(id) AS id, $key AS k, $order AS o, if(id % 7 = 2, NULL, int(pmod(hash(id + 9), 100))) AS v,
           |if(id % 5 = 1, NULL, double(pmod(hash(id + 8), 40)) / 2) AS x, CAST(id % 13 AS DECIMAL(10, 2)) AS n, concat('s', id % 17) AS s, id % 3 = 1 AS p
           |FROM range(0, $rows, 1, 4)""".stripMargin).localCheckpoint().createOrReplaceTempView("d")
    sql("SELECT /*+ REPARTITION(3) */ * FROM d").createOrReplaceTempView("d_shuffled") // which is not read twice
  }

  /** Spark's answers over the present `d`. */
  private val known = mutable.Map.empty[String, Map[Any, Row]]

  protected val Unique = "(PARTITION BY k ORDER BY o, id)"
  protected val Single = "(PARTITION BY k ORDER BY o)"
  protected def over(functions: Seq[String], window: String, frame: String): Seq[String] =
    functions.map(function => s"$function OVER ${window.stripSuffix(")")} $frame)")

  protected val Filtered = if (WindowDimensions.hasFilter) "count(v) FILTER (WHERE p)" else "count(if(p, v, NULL))"
  protected val Functions =
    Seq("sum(v)", "count(*)", Filtered, "min(v)", "max(s)", "avg(x)", "sum(x)", "sum(n)", "max_by(s, v)", "last(v)")
  protected val WithTies = Seq("sum(v)", "count(*)", Filtered, "min(v)", "max(s)", "avg(x)", "sum(n)", "max_by(s, id)")
  protected val Growing = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"

  protected def select(columns: Seq[String], parts: Option[Int], from: String): String =
    s"SELECT ${parts.fold("")(n => s"/*+ SKEW_WINDOW($n) */ ")}id, ${columns.zipWithIndex.map { case (column, i) =>
        s"$column AS c$i"
      }.mkString(",\n  ")} FROM $from"

  /** The hot keys that a query has cut; it has run. */
  protected def hotKeys(query: DataFrame): Seq[HotKey] =
    collect(plan(query)) { case copies: CopyRowsExec => HotKey.ofValue(copies.hotKeys.eval()) }.flatten

  /** The answer is Spark's, and the key 0 was cut, or nothing was. */
  protected def checkSplit(
      columns: Seq[String],
      parts: Option[Int],
      from: String = "d",
      split: Boolean = true): Unit = {
    val text = select(columns, parts, from)
    val expected = known.getOrElseUpdate(
      s"${spark.conf.get("spark.sql.ansi.enabled")} ${select(columns, None, from)}",
      onStockWindows(withConf(CompiledExpressions)(sql(text).collect().map(row => row.get(0) -> row).toMap))
    )
    val answer = sql(text)
    val found = answer.collect()
    if (found.map(_.get(0)).toSet != expected.keySet || found.length != expected.size)
      fail(s"${found.length} rows for ${expected.size}\n$text")
    for ((column, i) <- columns.zipWithIndex) {
      val wrong = found.filterNot(row => Answers.text(row.get(i + 1)) == Answers.text(expected(row.get(0)).get(i + 1)))
      if (wrong.nonEmpty)
        fail(s"$column, $parts parts: ${wrong.length} rows, among them id ${wrong.head.get(0)}: expected " +
          s"${Answers.text(expected(wrong.head.get(0)).get(i + 1))}, found ${Answers.text(wrong.head.get(i + 1))}")
    }
    val cut = hotKeys(answer)
    if (cut.nonEmpty != split) fail(
      s"$cut of ${columns.mkString(", ").take(300)}\n${operators(answer)}\n${PlanReport.readFrom(plan(answer))}".take(
        2000))
  }

  protected def withHint[T](body: => T): T = withConf(Settings: _*)(body)
}

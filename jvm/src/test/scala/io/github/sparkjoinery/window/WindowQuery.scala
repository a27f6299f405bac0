package io.github.sparkjoinery.window

import io.github.sparkjoinery.Pairwise.Case
import io.github.sparkjoinery.window.WindowDimensions._

/**
 * Columns over one window of the view `data`.
 *
 * @param common
 *   a value of each of [[WindowDimensions.Common]]
 * @param own
 *   for each column a value of each of [[WindowDimensions.Own]]
 */
case class WindowQuery(common: Case, own: Seq[Case]) {
  val columns: Seq[WindowColumn] = own.map(WindowColumn(common, _))

  def sql: String = select(columns.zipWithIndex.map { case (column, i) => s"${column.sql} AS c$i" })

  /**
   * The query with two more columns for each that may be rounded: how many numbers are added up, and how large they
   * are.
   */
  def oracle: String = select(columns.zipWithIndex.flatMap { case (column, i) =>
    s"${column.sql} AS c$i" +: column.bounds.zip(Seq("n", "sum")).map { case (bound, name) => s"$bound AS ${name}_$i" }
  })

  def settings: Seq[(String, String)] = Seq(
    "spark.sql.legacy.interval.enabled" -> common("order").endsWith(
      "calendar").toString, // or months and days do not mix
    "spark.sql.ansi.enabled" -> common("ansi"),
    "spark.sql.adaptive.enabled" -> common("adaptive"),
    "spark.sql.shuffle.partitions" -> "2", // each task writes the code of all columns
    "spark.sql.codegen.wholeStage" -> (common("generated") == "all").toString,
    "spark.sql.codegen.factoryMode" -> (if (common("generated") == "nothing") "NO_CODEGEN" else "CODEGEN_ONLY")
  )

  /** Settings that make Spark's operator faster: no compiled code for few rows, compiled expressions for many. */
  def oracleSettings: Seq[(String, String)] = settings ++ Seq(
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.shuffle.partitions" -> "1",
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.sql.codegen.factoryMode" -> (if (common("data") == "many rows") "CODEGEN_ONLY" else "NO_CODEGEN")
  )

  /** True if Joinery's operator must run the query. */
  def moves: Boolean = columns.exists(_.moves)

  private def select(list: Seq[String]): String = {
    val where = common("data") match {
      case "no row" => "WHERE id < 0"
      case "one row" => "WHERE id = 2"
      case _ => ""
    }
    s"SELECT id, ${list.mkString(",\n  ")}\nFROM ${if (common("data") == "many rows") "many" else "few"} $where"
  }
}

/** A window function over a frame. */
case class WindowColumn(common: Case, own: Case) {
  private val function = functions(own("function"))
  private val order = orderTypes(common("order"))

  def sql: String = over(function.sql(input))
  def moves: Boolean =
    WindowDimensions.moves(own("frame")) && (order.isLong || !isByValue(own("frame"))) && !isNullOnTheWay

  /** True if the result is NULL when a partial sum does not fit. Such functions are left to Spark. */
  private def isNullOnTheWay: Boolean = own("function") match {
    case "try_sum" => Seq("bigint", "months", "seconds").contains(own("type"))
    case "try_avg" => Seq("months", "seconds").contains(own("type"))
    case _ => false
  }

  val precision: Precision = function.precision(own("type"))

  /** How many numbers are added up for each row, and the sum of their absolute values. */
  def bounds: Seq[String] = precision match {
    case Rounding(terms) =>
      Seq(over("count(*)"), over(s"sum(if(abs(${terms(input)}) < double('Infinity'), abs(${terms(input)}), 0D))"))
    case _ => Nil
  }

  private def input: String = s"v_${own("type")}"

  private def over(function: String): String = {
    val filter = if (own("filter").isEmpty) "" else s" FILTER (WHERE ${own("filter")})"
    val partition = if (common("partition").isEmpty) "" else s"PARTITION BY ${common("partition")} "
    s"$function$filter OVER (${partition}ORDER BY $terms$frame)"
  }

  private def terms: String = {
    val direction = common("direction")
    common("terms") match {
      case "unique" => s"u_${order.column} $direction"
      case "tied" => s"o_${order.column} $direction"
      case more => s"o_${order.column} $direction, ${more.stripPrefix("tied, ")}"
    }
  }

  private def frame: String = own("frame") match {
    case "default" => ""
    case frame => " " + frame.replaceFirst(" ", " BETWEEN ").replace("near", order.near).replace("far", order.far)
  }
}

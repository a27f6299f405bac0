package io.github.sparkjoinery

import scala.collection.Map

import org.apache.spark.sql.{DataFrame, Row}

/** Rows as text that tells apart what SQL tells apart: NULL, NaN, -0.0 and 0.0, bytes; however deeply nested. */
object Answers {

  def rows(answer: DataFrame): Seq[String] = answer.collect().toSeq.map(text).sorted

  /** Each row's text by its first column. */
  def rowsById(answer: DataFrame): Map[Any, Seq[String]] =
    answer.collect().toSeq.groupBy(_.get(0)).map { case (id, rows) => id -> rows.map(text) }

  def text(value: Any): String = value match {
    case null => "NULL"
    case row: Row => row.toSeq.map(text).mkString("(", ", ", ")")
    case bytes: Array[Byte] => bytes.map("%02x".format(_)).mkString("0x", "", "")
    case map: Map[_, _] => map.toSeq.map { case (k, v) => text(k) + "=" + text(v) }.sorted.mkString("{", ", ", "}")
    case values: Iterable[_] => values.map(text).mkString("[", ", ", "]")
    case string: String => s"'$string'"
    case other => other.toString
  }
}

package io.github.sparkjoinery.filters.stored

import java.util.Locale

import scala.jdk.CollectionConverters._

import org.antlr.v4.runtime.{CharStreams, Token}

import org.apache.spark.sql.catalyst.parser.{SqlBaseLexer, SqlBaseParser}

/**
 * What the text of a `where` tells before it is parsed. Spark's parser makes a plain literal of `date'today'` at once,
 * so that nothing later can tell it from the day on which it was read. The jobs have the same rule
 * (`spark_joinery.jobs.builders.predicate`); `tests/golden/where_text.json` keeps both in step.
 */
object WhereText {

  /**
   * Longest text that is looked at: Spark's parser goes deeper with each operator, and longer texts are nobody's
   * conditions.
   */
  val MaxLength: Int = 4000

  private val Typed = Set("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ")

  /**
   * Whether a day or time in it is `now`, `today`, `tomorrow` or `yesterday`, or a variable is put into it before it is
   * parsed.
   */
  def changes(text: String): Boolean = text.contains("${") || {
    val words = tokens(text)
    words.zip(words.drop(1)).exists { case (word, value) =>
      Typed(word.getText) && isString(value) && !isFixed(value.getText)
    }
  }

  /** In upper case, which is what the lexer knows words in; without comments. */
  private def tokens(text: String): Seq[Token] = {
    val lexer = new SqlBaseLexer(CharStreams.fromString(text.toUpperCase(Locale.ROOT)))
    lexer.removeErrorListeners() // what is no SQL is found out by the parser
    lexer.getAllTokens.asScala.filter(_.getChannel == Token.DEFAULT_CHANNEL).toSeq
  }

  private def isString(token: Token): Boolean = "'\"".contains(token.getText.dropWhile(_ == 'R').take(1)) &&
    SqlBaseParser.VOCABULARY.getSymbolicName(token.getType).contains("STRING")

  // Whatever begins in another way might be a word, by escapes or by several literals in a row.
  private def isFixed(literal: String): Boolean =
    literal.matches("""(?s)R?['"]\s*[0-9+-].*""") || literal.matches("""R?['"]\s*EPOCH\s*['"]""")
}

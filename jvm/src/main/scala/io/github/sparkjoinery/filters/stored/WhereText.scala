package io.github.sparkjoinery.filters.stored

import java.util.Locale

import scala.jdk.CollectionConverters._

import org.antlr.v4.runtime.{CharStreams, Token}

import org.apache.spark.sql.catalyst.parser.{SqlBaseLexer, SqlBaseParser}

/**
 * Checks the text of a `where` before it is parsed. Spark's parser turns `date'today'` into a plain literal, so
 * afterwards nothing shows that it depended on the day. The jobs have the same rule
 * (`spark_joinery.jobs.builders.predicate`); `tests/golden/where_text.json` tests both.
 */
object WhereText {

  /** Longest text that is checked. Spark's parser recurses with each operator, and real conditions are shorter. */
  val MaxLength: Int = 4000

  private val Typed = Set("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ")

  /**
   * True if the text has a date or time literal such as `now`, `today`, `tomorrow` or `yesterday`, or a variable that
   * is substituted before parsing.
   */
  def changes(text: String): Boolean = text.contains("${") || {
    val words = tokens(text)
    words.zip(words.drop(1)).exists { case (word, value) =>
      Typed(word.getText) && isString(value) && !isFixed(value.getText)
    }
  }

  /** Splits the upper-cased text into tokens, without comments. The lexer knows keywords only in upper case. */
  private def tokens(text: String): Seq[Token] = {
    val lexer = new SqlBaseLexer(CharStreams.fromString(text.toUpperCase(Locale.ROOT)))
    lexer.removeErrorListeners() // the parser reports syntax errors
    lexer.getAllTokens.asScala.filter(_.getChannel == Token.DEFAULT_CHANNEL).toSeq
  }

  private def isString(token: Token): Boolean = "'\"".contains(token.getText.dropWhile(_ == 'R').take(1)) &&
    SqlBaseParser.VOCABULARY.getSymbolicName(token.getType).contains("STRING")

  // A literal with any other beginning might be such a word, written with escapes or as adjacent literals.
  private def isFixed(literal: String): Boolean =
    literal.matches("""(?s)R?['"]\s*[0-9+-].*""") || literal.matches("""R?['"]\s*EPOCH\s*['"]""")
}

package io.github.sparkjoinery.parser

/**
 * Searches the text of a statement for two adjacent words, to avoid the lexer for most statements. Between two words
 * the lexer skips comments and white space, including many Unicode spaces. It reads letters by their upper case: a long
 * s, U+017F, is an S. The search therefore treats any character beyond ASCII as a space, and compares letters by
 * Unicode's case.
 *
 * @param first
 *   the first word
 * @param second
 *   the word after it
 */
private[parser] class AdjacentWords(first: String, second: String) {

  private val pattern = s"(?iu)$first[^!-~]*+(?:$second|/\\*|--)".r.unanchored

  /** False only if the words do not occur. Strings, names and comments may make it true in vain. */
  def mayOccurIn(text: String): Boolean = pattern.matches(text)
}

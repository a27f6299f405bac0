package io.github.sparkjoinery.parser

/**
 * A look at a statement's text that spares it the lexer. Between two words the lexer skips comments and white space,
 * many Unicode spaces among it, and it reads letters by their upper case: a long s, U+017F, is an S. So any character
 * beyond ASCII is taken for a space here, and letters are compared by Unicode's case.
 *
 * @param first
 *   the first word
 * @param second
 *   the word after it
 */
private[parser] class AdjacentWords(first: String, second: String) {

  private val pattern = s"(?iu)$first[^!-~]*+(?:$second|/\\*|--)".r.unanchored

  /** Cheap and never wrong when it says no; strings, names and comments may make it say yes in vain. */
  def mayOccurIn(text: String): Boolean = pattern.matches(text)
}

package io.github.sparkjoinery.parser;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.regex.Pattern;

/**
 * Finds LAST JOIN and ASOF JOIN among the words of a statement, whose names and aliases may look like them. Words have
 * the names of Spark's grammar. The class is written in Java because the guard of a jar that does not fit needs it on any Spark.
 */
public final class JoinWords {

  /** After these tokens an operand must follow, so that the next word is a name ({@code ORDER BY -offset}). */
  public static final Set<String> BEFORE_OPERAND = setOf(
      "PLUS", "MINUS", "ASTERISK", "SLASH", "PERCENT", "DIV", "TILDE", "CONCAT_PIPE",
      "PIPE", "AMPERSAND", "HAT", "EQ", "NSEQ", "NEQ", "NEQJ", "LT", "LTE", "GT", "GTE",
      "SHIFT_LEFT", "SHIFT_RIGHT", "SHIFT_RIGHT_UNSIGNED", "BANG", "FROM", // FROM as in IS DISTINCT FROM
      "AND", "OR", "NOT", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "CASE", "WHEN", "THEN", "ELSE");

  // After these tokens, LAST is a name (`FROM last JOIN r`, `db.last JOIN r`, `t AS last JOIN r`, `:last JOIN r`, `ON v
  // = last JOIN r`) or part of NULLS LAST. The exceptions: a type may end with `>`, and a condition with a cast to it.
  private static final Set<String> NOT_A_LEFT_SIDE = notALeftSide();

  private static final Set<String> TAKES_ANY_TEXT = setOf("ADD", "LIST", "REFRESH", "RESET");

  private static final Pattern LAST_JOIN = adjacent("last", "join");
  private static final Pattern ASOF_JOIN = adjacent("asof", "join");

  private final int length;
  private final IntFunction<String> names;
  private final IntFunction<String> texts;

  /**
   * @param length the number of tokens, without white space and comments
   * @param names the name of a token in Spark's grammar, or null
   * @param texts the text of a token
   */
  public JoinWords(int length, IntFunction<String> names, IntFunction<String> texts) {
    this.length = length;
    this.names = names;
    this.texts = texts;
  }

  private static Set<String> setOf(String... words) {
    return Collections.unmodifiableSet(new HashSet<>(Arrays.asList(words)));
  }

  private static Set<String> notALeftSide() {
    Set<String> words = new HashSet<>(BEFORE_OPERAND);
    words.removeAll(Arrays.asList("GT", "SHIFT_RIGHT", "SHIFT_RIGHT_UNSIGNED"));
    words.addAll(Arrays.asList(
        "FROM", "JOIN", "COMMA", "DOT", "COLON", "AS", "LEFT_PAREN", "NULLS", "TABLE", "LATERAL", "USING", "INTO",
        "UPDATE"));
    return words;
  }

  /**
   * Searches for two adjacent words, to avoid the lexer for most statements. Between two words the lexer skips comments
   * and white space, including many Unicode spaces. It reads letters by their upper case: a long s, U+017F, is an S. The
   * search therefore treats any character beyond ASCII as a space, and compares letters by Unicode's case.
   */
  private static Pattern adjacent(String first, String second) {
    return Pattern.compile("(?iu)" + first + "[^!-~]*+(?:" + second + "|/\\*|--)");
  }

  /** False only if LAST JOIN does not occur. Strings, names and comments may make it true in vain. */
  public static boolean mayHaveLastJoin(String text) {
    return LAST_JOIN.matcher(text).find();
  }

  /** False only if ASOF JOIN does not occur. Strings, names and comments may make it true in vain. */
  public static boolean mayHaveAsOfJoin(String text) {
    return ASOF_JOIN.matcher(text).find();
  }

  /** False only if neither join occurs. */
  public static boolean mayOccurIn(String text) {
    return mayHaveLastJoin(text) || mayHaveAsOfJoin(text);
  }

  /** Returns the grammar's name of the token at a position; empty outside the statement. */
  public String name(int i) {
    String name = i < 0 || i >= length ? null : names.apply(i);
    return name == null ? "" : name;
  }

  /** True if the text of a token is this word. The grammar of an older Spark has no name for it. */
  public boolean isWord(int i, String word) {
    return i < length && word.equalsIgnoreCase(texts.apply(i));
  }

  /** True if the statement takes any text, as `SET key=value` does for the value, and `ADD FILE path` for the path. */
  public boolean isFreeText() {
    if (name(0).equals("SET")) return !name(1).equals("VAR") && !name(1).equals("VARIABLE");
    return TAKES_ANY_TEXT.contains(name(0));
  }

  /** True if LAST JOIN begins at a position, and `last` is not a name or an alias. */
  public boolean isLastJoin(int i) {
    return name(i).equals("LAST") && name(i + 1).equals("JOIN") && hasLeftSide(i);
  }

  /** True if ASOF JOIN may begin at a position. Without a MATCH_CONDITION, `asof` is an alias. */
  public boolean isAsOfJoin(int i) {
    if (!mayBeginAsOfJoin(i)) return false;
    for (int j = i; j < length; j++) if (isMatchCondition(j)) return true;
    return false;
  }

  /** True if the words ASOF JOIN stand at a position, after what may be a left side. */
  public boolean mayBeginAsOfJoin(int i) {
    return isWord(i, "ASOF") && name(i + 1).equals("JOIN") && hasLeftSide(i);
  }

  /** True if MATCH_CONDITION ( stands at a position. */
  public boolean isMatchCondition(int i) {
    return isWord(i, "MATCH_CONDITION") && name(i + 1).equals("LEFT_PAREN");
  }

  /** True if the word before a position may end the left side of a join. */
  private boolean hasLeftSide(int i) {
    return i > 0 && !NOT_A_LEFT_SIDE.contains(name(i - 1));
  }
}

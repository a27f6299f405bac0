package io.github.sparkjoinery.guard;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;

import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.CommonTokenStream;
import org.antlr.v4.runtime.ParserRuleContext;
import org.antlr.v4.runtime.Token;

import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.internal.VariableSubstitution;

import io.github.sparkjoinery.parser.JoinWords;
import scala.Function1;
import scala.Function2;
import scala.Tuple3;
import scala.collection.immutable.Map;

/**
 * Refuses LAST JOIN and ASOF JOIN on a Spark that the jar does not fit, and leaves everything else to Spark. A Spark
 * that does not know these joins may read them as aliases ({@code t LAST JOIN r}).
 *
 * <p>The parser is a proxy of Spark's interface, whose methods differ between Spark versions.
 */
public final class Refusal implements InvocationHandler {
  private static final String FUNCTION = "joinery_misfit";

  private final ParserInterface delegate;
  private final String why;

  private Refusal(ParserInterface delegate, String why) {
    this.delegate = delegate;
    this.why = why;
  }

  /** Adds the parser, and the function {@code joinery_misfit()}, which tells dbt and Python the reason. */
  @SuppressWarnings({"rawtypes", "unchecked"})
  public static void inject(SparkSessionExtensions extensions, String why) {
    Function2 parser = (session, delegate) -> Proxy.newProxyInstance(
        ParserInterface.class.getClassLoader(),
        new Class<?>[] {ParserInterface.class},
        new Refusal((ParserInterface) delegate, why));
    extensions.injectParser(parser);
    Function1 literal = arguments -> Literal$.MODULE$.apply(why);
    extensions.injectFunction(new Tuple3(
        new FunctionIdentifier(FUNCTION), new ExpressionInfo(Refusal.class.getName(), FUNCTION), literal));
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    String name = method.getName();
    if (name.startsWith("parsePlan") || name.equals("parseQuery") || name.equals("parseExpression"))
      check((String) arguments[0]);
    try {
      return method.invoke(delegate, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private void check(String statement) throws ParseException {
    String text = statement.contains("${") ? new VariableSubstitution().substitute(statement) : statement;
    if (!JoinWords.mayOccurIn(text)) return;
    List<Token> tokens = tokens(text);
    JoinWords words = new JoinWords(tokens.size(), i -> nameOf(tokens.get(i)), i -> tokens.get(i).getText());
    boolean refusesLast = isOn("spark.joinery.lastJoin.enabled", true);
    // Spark 4.3 itself reads ASOF JOIN if this setting is on.
    boolean refusesAsOf = !isOn("spark.sql.join.asofJoin.enabled", false);
    for (int i = 0; i < tokens.size() && !words.isFreeText(); i++)
      if (refusesLast && words.isLastJoin(i) || refusesAsOf && words.isAsOfJoin(i)) throw refused(tokens.get(i));
  }

  /** Reads a statement with the running Spark's lexer, which knows words by their upper case. */
  private static List<Token> tokens(String text) {
    SqlBaseLexer lexer = new SqlBaseLexer(CharStreams.fromString(text.toUpperCase(java.util.Locale.ROOT)));
    lexer.removeErrorListeners();
    CommonTokenStream stream = new CommonTokenStream(lexer);
    stream.fill();
    List<Token> tokens = stream.getTokens();
    tokens.removeIf(token -> token.getChannel() != Token.DEFAULT_CHANNEL);
    return tokens;
  }

  private static String nameOf(Token token) {
    return SqlBaseLexer.VOCABULARY.getSymbolicName(token.getType());
  }

  private static boolean isOn(String key, boolean byDefault) {
    return Boolean.parseBoolean(SQLConf.get().getConfString(key, Boolean.toString(byDefault)));
  }

  private ParseException refused(Token at) {
    ParserRuleContext place = new ParserRuleContext();
    place.start = at;
    place.stop = at;
    String hint = ": " + (why.endsWith(".") ? why.substring(0, why.length() - 1) : why);
    Map<String, String> parameters = new Map.Map2<>("error", "'" + at.getText() + "'", "hint", hint);
    return new ParseException("PARSE_SYNTAX_ERROR", parameters, place);
  }
}

package io.github.sparkjoinery.guard;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;

import org.slf4j.LoggerFactory;

/**
 * Decides whether the jar fits the Spark that has loaded it. A jar of another Spark line does not. The jar fits another
 * patch version, or a vendor's build, if that Spark has each class and method that the jar uses.
 */
public final class Fit {
  private static final String REMEDY = "use the portable mode of the dbt macros, which needs no jar";
  private static final int SHOWN = 3; // references in the message

  private Fit() {}

  private static final class Found {
    static final String MISFIT = find();
  }

  /** Returns the warning, which names the right jar, or null if the jar fits. The first call writes it to the log. */
  public static String misfit() {
    return Found.MISFIT;
  }

  private static String find() {
    Properties build = build();
    boolean isTested = spark().equals(build.getProperty("spark"));
    String message = isTested ? null : message(build);
    if (message != null) LoggerFactory.getLogger("io.github.sparkjoinery").warn(message);
    return message;
  }

  /** Returns the warning for the Spark on the class path, or null if the jar fits. It looks up all that the jar uses. */
  static String message(Properties build) {
    String message = otherLine(spark(), build);
    return message != null ? message : otherPatch(spark(), build, References.missing(Fit.class.getClassLoader()));
  }

  static String spark() {
    return org.apache.spark.package$.MODULE$.SPARK_VERSION();
  }

  static Properties build() {
    Properties build = new Properties();
    try (InputStream properties = Fit.class.getResourceAsStream("/joinery.properties")) {
      build.load(properties);
    } catch (IOException e) {
      throw new IllegalStateException("Joinery's jar is damaged: it has no joinery.properties", e);
    }
    return build;
  }

  /** Returns the message for a jar of another Spark line, or null if the line is the same. */
  static String otherLine(String spark, Properties build) {
    String line = build.getProperty("line");
    String running = lineOf(spark);
    if (running.equals(line)) return null;
    List<String> lines = Arrays.asList(build.getProperty("lines").split(","));
    String right = rightJar(build, running);
    String remedy = lines.contains(running)
        ? "Load " + right + " in its place"
        : "There is no jar for Spark " + running + ": run Spark " + String.join(" or ", lines) + ", with the jar for it";
    return "Joinery's jar for Spark " + line + " does not fit Spark " + spark + " and does nothing there, but refuses "
        + "LAST JOIN and ASOF JOIN. " + remedy + ", or " + REMEDY + ".";
  }

  /** Returns the message for a Spark of the same line that lacks some of what the jar uses, or null if it has all. */
  static String otherPatch(String spark, Properties build, List<String> missing) {
    if (missing.isEmpty()) return null;
    List<String> some = missing.subList(0, Math.min(SHOWN, missing.size()));
    return "Joinery's jar " + build.getProperty("jar") + " is built with Spark " + build.getProperty("spark")
        + " and does not fit this Spark, " + spark + ", which lacks " + missing.size() + " of the classes and members "
        + "that the jar uses, such as " + String.join(", ", some) + ". The jar does nothing there, but refuses "
        + "LAST JOIN and ASOF JOIN. Run Apache Spark " + build.getProperty("spark") + ", or " + REMEDY + ".";
  }

  private static String lineOf(String spark) {
    String[] numbers = spark.split("\\.");
    return numbers.length < 2 ? spark : numbers[0] + "." + numbers[1];
  }

  /** Returns the file name of the jar for a Spark line. Jars of Spark 3 are for Scala 2.12, later ones for 2.13. */
  private static String rightJar(Properties build, String line) {
    String scala = line.startsWith("3.") ? "2.12" : "2.13";
    return build.getProperty("jar").replaceFirst(
        "-" + build.getProperty("line").replace(".", "\\.") + "_2\\.\\d+-", "-" + line + "_" + scala + "-");
  }
}

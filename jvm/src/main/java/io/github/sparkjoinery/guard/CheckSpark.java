package io.github.sparkjoinery.guard;

/**
 * Tells, without a session, whether the jar fits the Spark on the class path. The exit code is 1 if it does not.
 *
 * <pre>java -cp "$JAR:$SPARK_HOME/jars/*" io.github.sparkjoinery.guard.CheckSpark</pre>
 */
public final class CheckSpark {
  private CheckSpark() {}

  public static void main(String[] arguments) {
    String misfit = Fit.message(Fit.build());
    System.out.println(misfit != null ? misfit
        : "Spark " + Fit.spark() + " has all that " + Fit.build().getProperty("jar") + " uses.");
    if (misfit != null) System.exit(1);
  }
}

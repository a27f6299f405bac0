package io.github.sparkjoinery;

import org.apache.spark.sql.SparkSessionExtensions;

import io.github.sparkjoinery.guard.Fit;
import io.github.sparkjoinery.guard.Refusal;
import scala.Function1;
import scala.runtime.BoxedUnit;

/**
 * Joinery's entry point: {@code spark.sql.extensions=io.github.sparkjoinery.JoineryExtensions}. It changes nothing on a
 * Spark that the jar does not fit, but refuses LAST JOIN and ASOF JOIN there.
 *
 * <p>This class and its guards are written in Java, for Java 8, so that they load on any Spark. A class of Scala 2.13
 * does not link on Spark 3.5, whose Scala is 2.12.
 */
public final class JoineryExtensions implements Function1<SparkSessionExtensions, BoxedUnit> {

  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    String misfit = Fit.misfit();
    if (misfit == null) inject(extensions);
    else Refusal.inject(extensions, misfit);
    return BoxedUnit.UNIT;
  }

  /** Calls the object `Capabilities` by its name, as the Java compiler runs before the Scala compiler. */
  private static void inject(SparkSessionExtensions extensions) {
    try {
      Class.forName("io.github.sparkjoinery.Capabilities")
          .getMethod("inject", SparkSessionExtensions.class)
          .invoke(null, extensions);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Joinery's jar is damaged: its class Capabilities cannot be called", e);
    }
  }
}

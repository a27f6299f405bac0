package io.github.sparkjoinery.execution.skew

import org.apache.spark.sql.execution.CoalescedPartitionSpec

import io.github.sparkjoinery.JoinerySession

class ShuffleReadsSuite extends JoinerySession {
  private def ofTasks(remembered: Option[Int]) = {
    val child = sql("SELECT 1 AS one").queryExecution.sparkPlan
    val reads = remembered.map(Seq.tabulate(_)(i => CoalescedPartitionSpec(i, i + 1)))
    ShuffleReads.ofTasks("A window", child, reads, 3, "spark.joinery.switch")
  }

  test("what the child said before another extension put an operator of its own in its place") {
    assert(ofTasks(Some(3)) == Seq.tabulate(3)(i => CoalescedPartitionSpec(i, i + 1)))
  }

  for (remembered <- Seq(None, Some(2)))
    test(s"a shuffle that is read in other parts than the ${remembered.size} asked for") {
      val error = intercept[IllegalStateException](ofTasks(remembered))
      assert(
        error.getMessage.matches("A window is cut by time, but .+ below it reads the shuffle in 3 parts, not in the " +
          s"${remembered.getOrElse(0)} that were asked for\\. Set spark\\.joinery\\.switch=false\\."))
    }
}

package org.apache.spark.sql.joinery

import org.scalatest.funsuite.AnyFunSuite

class ExecutionMemorySuite extends AnyFunSuite {

  test("the cores that share an executor's memory, where no setting says how many") {
    val all = Runtime.getRuntime.availableProcessors
    val expected = Seq(
      "local" -> 1,
      "local[3]" -> 3,
      "local[*]" -> all,
      "local[3,4]" -> 3,
      "local-cluster[2,5,1024]" -> 5,
      "spark://host:7077" -> all,
      "" -> all,
      "yarn" -> 1,
      "k8s://https://host:443" -> 1
    )
    for ((master, cores) <- expected) assert(ExecutionMemory.coresOf(master) == cores, master)
  }
}

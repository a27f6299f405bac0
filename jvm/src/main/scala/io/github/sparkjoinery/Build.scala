package io.github.sparkjoinery

import java.util.Properties

/** The properties that the build has written into the jar. */
private[sparkjoinery] object Build {
  private val properties: Properties = {
    val loaded = new Properties
    val resource = getClass.getResourceAsStream("/joinery.properties")
    try loaded.load(resource)
    finally resource.close()
    loaded
  }

  val version: String = properties.getProperty("version")

  /** The file name that the jar was built with. */
  val jar: String = properties.getProperty("jar")

  /** The Spark line, such as `4.3`, that the jar is built for. */
  val line: String = properties.getProperty("line")

  /** Every Spark line that has a jar of this version, the default first. */
  val lines: Seq[String] = properties.getProperty("lines").split(",").toSeq
}

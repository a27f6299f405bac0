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
}

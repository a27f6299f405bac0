package org.apache.spark.sql.joinery

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.parser.ParserInterface

/**
 * Replaces Spark's own parser, below the parsers of all other extensions, in any order of `spark.sql.extensions`.
 * Another extension's parser reads a statement first, and passes on the parts that are Spark's, such as the query of a
 * CREATE TABLE AS.
 */
object InnermostParser {

  /**
   * Builds the parsers of the extensions listed before Joinery a second time, over `innermost`. Spark builds each
   * parser over the previous one, and starts with its own; an extension cannot replace that first one.
   */
  def inject(extensions: SparkSessionExtensions, innermost: => ParserInterface): Unit = {
    var listedBefore: Option[ParserInterface] = None
    var isBuilding = false
    extensions.injectParser { (session, delegate) =>
      extensions.synchronized {
        if (isBuilding) {
          listedBefore = Some(delegate)
          delegate
        } else {
          isBuilding = true
          try {
            extensions.buildParser(session, innermost)
            listedBefore.getOrElse(delegate)
          } finally {
            isBuilding = false
            listedBefore = None
          }
        }
      }
    }
  }
}

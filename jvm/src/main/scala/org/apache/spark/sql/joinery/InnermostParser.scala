package org.apache.spark.sql.joinery

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.parser.ParserInterface

/**
 * Puts a parser in the place of Spark's own, below those of all other extensions, wherever they are listed. Another
 * extension's parser reads its statements first. It asks this one for the parts that are Spark's, such as the query of
 * a CREATE TABLE AS.
 */
object InnermostParser {

  /**
   * Spark builds each parser over the one listed before, and starts with its own. No extension can name that first one,
   * so the parsers listed before Joinery are built a second time, over `innermost`.
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

package org.apache.spark.sql.joinery

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.parser.ParserInterface

/**
 * Puts a parser in the place of Spark's own, below those of all other extensions. Theirs read their statements first,
 * wherever they are listed, and ask it for what such a statement contains, such as the query of a CREATE TABLE AS.
 */
object InnermostParser {

  /** Spark builds each parser over the one listed before, and tells nobody the first: so they are built once more. */
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

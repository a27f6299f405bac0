package io.github.sparkjoinery.artifacts

import java.util.TimeZone

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import org.apache.spark.sql.joinery.SparkSession

/**
 * Compares Spark's settings at build time with those of the query. Some settings change which values the same files
 * yield, or what a condition means. `reading_settings.json` in the Python package's store lists them, and the jobs
 * record their values with each artifact. A setting that one of the two Spark versions does not know counts as its
 * default.
 */
object ReadingSettings {

  /**
   * @param key
   *   the setting's name; `user.timezone` is the JVM's time zone, `spark-major-version` the first number of Spark's
   *   version, other names without `spark.` are Hadoop's
   * @param default
   *   its value in a Spark version that does not know it; None if that is unknown
   * @param formats
   *   file formats that it affects; empty for a setting that affects only conditions
   * @param types
   *   data types that it affects; empty for all
   * @param where
   *   `text` if it can change any condition, `expressions` if only conditions that compute something
   * @param when
   *   other settings, and the values at build time with which this one matters
   */
  case class Setting(
      key: String,
      default: Option[String],
      formats: Set[String],
      types: Set[String],
      where: Option[String],
      when: Map[String, String])

  lazy val all: Seq[Setting] = Using.resource(getClass.getResourceAsStream("reading_settings.json")) { stream =>
    def texts(node: JsonNode): Set[String] = node.elements().asScala.map(_.asText).toSet
    StoreJson.elements(new ObjectMapper().readTree(stream), "settings").map { node =>
      Setting(
        StoreJson.text(node, "key"),
        Option(node.path("default").textValue),
        texts(node.path("formats")),
        texts(node.path("types")),
        Option(node.path("where").textValue),
        node.path("when").properties().asScala.map(s => s.getKey -> s.getValue.asText).toMap
      )
    }
  }

  /** The settings of this session, in the form that the jobs record. */
  def current(session: SparkSession): Map[String, Option[String]] =
    all.map(_.key).distinct.map(key => key -> now(key, session)).toMap

  /** Returns why the filter's key columns, or the columns of its `where`, may have had other values at build time. */
  def ofFilter(version: ArtifactVersion, session: SparkSession): Option[String] = {
    val keys = version.spec.path("keys").elements().asScala.map(_.asText).toSet
    ofColumns(version, session)(column => version.spec.has("where") || keys(column))
  }

  /** Returns why the used columns of the source may have had other values at build time. */
  def ofColumns(version: ArtifactVersion, session: SparkSession)(isUsed: String => Boolean): Option[String] =
    version.source.flatMap { source =>
      val types = source.schema.collect { case (name, of, _) if isUsed(name) => words(of) }.flatten.toSet
      difference(version, session)(setting =>
        setting.formats(source.provider) &&
          (setting.types.isEmpty || setting.types.exists(types)))
    }

  /** Returns why the filter's `where` may have meant something else at build time. */
  def ofCondition(version: ArtifactVersion, isPlain: Boolean, session: SparkSession): Option[String] =
    difference(version, session)(setting =>
      setting.where.contains("text") || !isPlain && setting.where.contains("expressions"))

  private def difference(version: ArtifactVersion, session: SparkSession)(matters: Setting => Boolean): Option[String] =
    version.settings match {
      case None =>
        Some("it does not say by which settings its source was read, as an older release built it: refresh it")
      case Some(built) =>
        def asBuilt(setting: Setting) = built.get(setting.key).flatten.orElse(setting.default)
        def applies(setting: Setting) = setting.when.forall { case (key, value) =>
          built.get(key).flatten.forall(_.equalsIgnoreCase(value))
        }
        all.iterator.filter(setting => matters(setting) && applies(setting)).flatMap { setting =>
          val (before, after) = (asBuilt(setting), now(setting.key, session).orElse(setting.default))
          if (!built.contains(setting.key))
            Some(s"it does not say what ${setting.key} was when it was built: refresh it")
          else if (before.isDefined && before.zip(after).exists { case (a, b) => a.equalsIgnoreCase(b) }) None
          else Some(
            s"${setting.key} was ${before.getOrElse("unknown")} when it was built, and is ${after.getOrElse("unknown")} now")
        }.take(1).toVector.headOption
    }

  private def now(key: String, session: SparkSession): Option[String] = key match {
    case "user.timezone" => Some(TimeZone.getDefault.toZoneId.getId)
    case "spark-major-version" => Some(session.version.takeWhile(_ != '.'))
    case _ if key.startsWith("spark.") => session.conf.getOption(key)
    case _ => session.conf.getOption(key).orElse(Option(session.sessionState.newHadoopConf().get(key)))
  }

  /**
   * Splits a type into words: `struct<a:date>` gives struct, a, date. A field named like a type can only refuse a
   * filter.
   */
  private def words(dataType: String): Seq[String] = dataType.split("[^A-Za-z0-9_]+").toSeq
}

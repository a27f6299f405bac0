package io.github.sparkjoinery.artifacts

import java.util.TimeZone

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import org.apache.spark.sql.classic.SparkSession

/**
 * Settings of Spark by which the same files are read as other values, or the same condition means something else. They
 * are listed in `reading_settings.json` of the Python package's store, whose jobs write down with each artifact what
 * they were. A setting that one of the two Sparks does not have counts as its default.
 */
object ReadingSettings {

  /**
   * @param key
   *   of a setting; `user.timezone` is the JVM's time zone, and what does not begin with `spark.` one of Hadoop's
   * @param default
   *   as it is in a Spark that does not know it; None where there is none
   * @param formats
   *   whose files are read by it; none for a setting of conditions
   * @param types
   *   that it concerns; all if empty
   * @param where
   *   `text` if it may change any condition, `expressions` if only those that compute something
   * @param when
   *   further settings, and the values with which it matters at all
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

  /** As the jobs write them down. */
  def current(session: SparkSession): Map[String, Option[String]] =
    all.map(_.key).distinct.map(key => key -> now(key, session)).toMap

  /** Why the keys of a filter, or the columns of its condition, might have been read as other values than now. */
  def ofFilter(version: ArtifactVersion, session: SparkSession): Option[String] = {
    val keys = version.spec.path("keys").elements().asScala.map(_.asText).toSet
    ofColumns(version, session)(column => version.spec.has("where") || keys(column))
  }

  /** Why columns of the source might have been read as other values than now. */
  def ofColumns(version: ArtifactVersion, session: SparkSession)(isUsed: String => Boolean): Option[String] =
    version.source.flatMap { source =>
      val types = source.schema.collect { case (name, of, _) if isUsed(name) => words(of) }.flatten.toSet
      difference(version, session)(setting =>
        setting.formats(source.provider) &&
          (setting.types.isEmpty || setting.types.exists(types)))
    }

  /** Why the condition of a filter might have meant something else than now. */
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
        }.nextOption()
    }

  private def now(key: String, session: SparkSession): Option[String] =
    if (key == "user.timezone") Some(TimeZone.getDefault.toZoneId.getId)
    else session.conf.getOption(key).orElse(if (key.startsWith("spark.")) None
    else Option(session.sessionState.newHadoopConf().get(key)))

  /** `struct<a:date>` as struct, a and date: a name that looks like a type at worst refuses a filter. */
  private def words(dataType: String): Seq[String] = dataType.split("[^A-Za-z0-9_]+").toSeq
}

package io.github.sparkjoinery.artifacts

import java.lang.ref.SoftReference
import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging

import io.github.sparkjoinery.expressions.SplitBlockFilter

/**
 * Finds the artifacts of a relation and caches them in this JVM. Each query reads the pointer to the current version.
 * Descriptions and data of that version stay in soft references until another version is published.
 */
object ArtifactStore extends Logging {

  /**
   * Lists the artifacts of one kind, one per specification: a usable version, or the reason why there is none. If the
   * current version is damaged, the newest undamaged one replaces it. The caller checks that it is valid for the query.
   */
  def versions(access: StoreAccess, kind: String, relation: String): Seq[Either[String, ArtifactVersion]] =
    access.files.artifacts(kind, relation).flatMap { artifact =>
      (try current(access, artifact)
      catch { case NonFatal(failure) => Some(Left(StoreAccess.reason(failure))) })
        .map(warned(artifact, _))
    }

  /** Returns the newest version that has not been tried yet, after the data of `version` proved to be damaged. */
  def instead(access: StoreAccess, version: ArtifactVersion, reason: String): Either[String, ArtifactVersion] =
    other(access, artifactOf(version), version.standsFor :+ Damage(Some(version.name), reason))

  private def current(access: StoreAccess, artifact: Path): Option[Either[String, ArtifactVersion]] = {
    val pointer =
      try Right(access.files.current(artifact))
      catch { case damage: DamagedArtifactException => Left(damage.getMessage) }
    pointer match {
      case Right(published) => published.map { case (name, sha256) =>
          descriptions.get(artifact, name + sha256)(access.files.version(artifact, name, Some(sha256)))
            .fold(reason => other(access, artifact, Seq(Damage(Some(name), reason))), Right(_))
        }
      case Left(reason) => Some(other(access, artifact, Seq(Damage(None, reason))))
    }
  }

  /** @param newer damaged versions, the current one first */
  private def other(access: StoreAccess, artifact: Path, newer: Seq[Damage]): Either[String, ArtifactVersion] =
    descriptions.get(artifact, newer.toString) {
      val names =
        access.files.versions(artifact, newer.head.version).filterNot(name => newer.exists(_.version.contains(name)))
      val tried = names.iterator.map { name =>
        try Right(access.files.version(artifact, name, None))
        catch { case damage: DamagedArtifactException => Left(Damage(Some(name), damage.getMessage)) }
      }
      val (damaged, rest) = tried.span(_.isLeft)
      val all = newer ++ damaged.flatMap(_.left.toOption).toSeq
      val reason = all.map(_.reason).mkString("; ")
      rest.take(1).toVector.headOption.flatMap(_.toOption).map(_.standingFor(all)).map { version =>
        logWarning(s"$artifact: $reason; version ${version.name} is used")
        version
      }.getOrElse(throw new DamagedArtifactException(if (all.length == 1) reason
      else s"$reason; no other version can be used"))
    }

  def bloomFilter(access: StoreAccess, version: ArtifactVersion): Either[String, SplitBlockFilter] =
    warned(
      artifactOf(version),
      filters.get(artifactOf(version), version.name)(BloomFilter.read(version, access.files, access.maxSize)))

  private def warned[T](artifact: Path, found: Either[String, T]): Either[String, T] = {
    found.left.foreach(reason => StoreAccess.warn(s"Queries do without the artifact in $artifact: $reason"))
    found
  }

  /** Reads the distribution and converts its values to the current types of the relation's columns. */
  def distribution(
      access: StoreAccess,
      version: ArtifactVersion,
      source: SourceRelation): Either[String, Distribution] = {
    val read = distributions.get(artifactOf(version), version.name + source.schema.catalogString) {
      Distribution.read(
        version,
        access.files,
        name =>
          source.schema.find(_.name == name).map(_.dataType)
            .getOrElse(throw new DamagedArtifactException(s"the source has no column $name any more"))
      )
    }
    read.fold(reason => instead(access, version, reason).flatMap(distribution(access, _, source)), Right(_))
  }

  private def artifactOf(version: ArtifactVersion): Path = version.folder.getParent.getParent

  private val descriptions = new Kept[ArtifactVersion]
  private val filters = new Kept[SplitBlockFilter]
  private val distributions = new Kept[Distribution]

  /**
   * Cache with one undamaged version per artifact. It also keeps the errors of damaged versions for 30 seconds, so that
   * not every query reads them again.
   */
  private class Kept[T <: AnyRef] {
    private class Entry {
      private var version: String = _
      private var value = new SoftReference[T](null.asInstanceOf[T])
      private var failures = Map.empty[String, (String, Long)]

      def get(wanted: String)(read: => T): Either[String, T] = synchronized {
        failures = failures.filter { case (_, (_, at)) => System.nanoTime() - at < RetryNs }
        val kept = value.get
        if (wanted == version && kept != null) Right(kept)
        else failures.get(wanted).map { case (reason, _) => Left(reason) }.getOrElse {
          try {
            val fresh = read
            version = wanted
            value = new SoftReference(fresh)
            Right(fresh)
          } catch {
            case damage: DamagedArtifactException =>
              failures += wanted -> ((damage.getMessage, System.nanoTime()))
              Left(damage.getMessage)
          }
        }
      }
    }

    private val entries = new ConcurrentHashMap[Path, Entry]()

    def get(artifact: Path, version: String)(read: => T): Either[String, T] =
      entries.computeIfAbsent(artifact, _ => new Entry).get(version)(read)
  }

  private val RetryNs = 30L * 1000 * 1000 * 1000
}

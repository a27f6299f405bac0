package io.github.sparkjoinery.artifacts

import java.lang.ref.SoftReference
import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

/**
 * The artifacts of a relation, as they are now. Descriptions and data are kept in memory, softly, for as long as their version is
 * the current one; which version that is, is read anew for each query.
 */
object ArtifactStore {

  /** All artifacts of a kind, or the reason why one cannot be used, by specification. */
  def versions(access: StoreAccess, kind: String, relation: String): Seq[Either[String, ArtifactVersion]] =
    access.files.artifacts(kind, relation).flatMap { artifact =>
      (try {
        access.files.current(artifact).map { case (name, sha256) =>
          descriptions.get(artifact, name + sha256)(access.files.version(artifact, name, sha256))
        }
      } catch { case NonFatal(failure) => Some(Left(StoreAccess.reason(failure))) }).map(warned(artifact, _))
    }

  def bloomFilter(access: StoreAccess, version: ArtifactVersion): Either[String, BloomFilter] =
    warned(artifactOf(version), filters.get(artifactOf(version), version.name)(BloomFilter.read(version, access.files, access.maxSize)))

  private def warned[T](artifact: Path, found: Either[String, T]): Either[String, T] = {
    found.left.foreach(reason => StoreAccess.warn(s"Queries do without the artifact in $artifact: $reason"))
    found
  }

  /** Its values as the relation's columns have them now. */
  def distribution(access: StoreAccess, version: ArtifactVersion, source: SourceRelation): Either[String, Distribution] =
    distributions.get(artifactOf(version), version.name + source.schema.catalogString) {
      Distribution.read(version, access.files, name => source.schema.find(_.name == name).map(_.dataType)
        .getOrElse(throw new DamagedArtifactException(s"the source has no column $name any more")))
    }

  private def artifactOf(version: ArtifactVersion): Path = version.folder.getParent.getParent

  private val descriptions = new Kept[ArtifactVersion]
  private val filters = new Kept[BloomFilter]
  private val distributions = new Kept[Distribution]

  /** The last version of each artifact; of one that is damaged the reason, for a while, so that not every query reads it again. */
  private class Kept[T <: AnyRef] {
    private class Entry {
      private var version: String = _
      private var value = new SoftReference[T](null.asInstanceOf[T])
      private var failure: Option[(String, Long)] = None

      def get(wanted: String)(read: => T): Either[String, T] = synchronized {
        val kept = value.get
        if (wanted == version && kept != null) Right(kept)
        else failure match {
          case Some((reason, at)) if wanted == version && System.nanoTime() - at < RetryNs => Left(reason)
          case _ =>
            version = wanted
            value = new SoftReference[T](null.asInstanceOf[T])
            failure = None
            try {
              val fresh = read
              value = new SoftReference(fresh)
              Right(fresh)
            } catch {
              case damage: DamagedArtifactException =>
                failure = Some((damage.getMessage, System.nanoTime()))
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

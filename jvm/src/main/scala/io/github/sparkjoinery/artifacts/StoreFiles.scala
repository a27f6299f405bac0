package io.github.sparkjoinery.artifacts

import java.io.FileNotFoundException
import java.security.MessageDigest

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.io.IOUtils

/**
 * Reads an artifact store, checking all that it reads. Every call may take as long as the file system does.
 *
 * @param maxSize
 *   the most that is read of one artifact, in bytes
 */
class StoreFiles(root: String, hadoop: Configuration, maxSize: Long) {
  private val VersionName = "[A-Za-z0-9-]+"

  private lazy val fs: FileSystem = new Path(root).getFileSystem(hadoop)

  /** The folders of a relation's artifacts of a kind, one per specification. */
  def artifacts(kind: String, relation: String): Seq[Path] =
    try fs.listStatus(StoreLayout.folder(root, kind, relation)).toSeq.filter(_.isDirectory).map(_.getPath).sortBy(
        _.getName)
    catch {
      case _: FileNotFoundException if fs.exists(new Path(root)) => Nil
      case _: FileNotFoundException =>
        throw new DamagedArtifactException(
          s"there is no artifact store at $root, which spark.joinery.store names; the first refresh makes one")
    }

  /** Name of the current version and the checksum of its description; none if nothing has been published. */
  def current(artifact: Path): Option[(String, String)] =
    try {
      val json =
        StoreJson.parse(
          read(new Path(artifact, StoreLayout.Current), None, StoreLayout.MaxPointer),
          StoreLayout.Current,
          Set(1, 2))
      val name = StoreJson.text(json, "version")
      // the name becomes a path
      if (!name.matches(VersionName)) throw new DamagedArtifactException(s"${StoreLayout.Current} names no version")
      Some((name, StoreJson.text(json, "version_sha256")))
    } catch { case _: FileNotFoundException => None }

  /**
   * Names of an artifact's versions, the newest first; the Python package has the same order. Names begin with the time
   * of the machine that wrote them: one that is later than the version published last comes from a clock that was
   * wrong, and goes to the end.
   *
   * @param published
   *   the version published last, if known
   */
  def versions(artifact: Path, published: Option[String]): Seq[String] = {
    val names =
      try fs.listStatus(StoreLayout.versions(artifact)).toSeq.filter(_.isDirectory).map(_.getPath.getName)
      catch { case _: FileNotFoundException => Nil }
    val (late, others) =
      names.filter(_.matches(VersionName)).sorted.reverse.partition(name => published.exists(_ < name))
    others ++ late
  }

  /**
   * The description of a version.
   *
   * @param sha256
   *   its checksum, if it is known; else it must hold its own
   */
  def version(artifact: Path, name: String, sha256: Option[String]): ArtifactVersion = {
    val folder = StoreLayout.version(artifact, name)
    val what = s"version $name: ${StoreLayout.Description}"
    val bytes = present(what)(read(new Path(folder, StoreLayout.Description), None, StoreLayout.MaxDescription))
    def wrong = new DamagedArtifactException(s"$what has a wrong checksum")
    if (sha256.exists(_ != StoreLayout.sha256(bytes))) throw wrong
    val version = new ArtifactVersion(folder, name, StoreJson.parse(bytes, what, Set(1, 2)))
    if (Seal.isBroken(bytes)) throw wrong
    if (sha256.isEmpty && !Seal.has(bytes))
      throw new DamagedArtifactException(s"$what has no checksum, as an older release wrote it")
    val kind = artifact.getParent.getParent.getName
    if (version.field("kind") != kind || StoreLayout.relationFolder(
        version.field("relation")) != artifact.getParent.getName) {
      throw new DamagedArtifactException(s"$what belongs to another artifact")
    }
    version
  }

  /** The files of a version's data, one after the other, each as long and with the checksum that it should have. */
  def data(version: ArtifactVersion): Iterator[Array[Byte]] = {
    val size = version.data.map(_.length).sum
    if (size > maxSize) {
      throw new DamagedArtifactException(
        s"version ${version.name} has $size bytes, more than spark.joinery.store.maxArtifactSize")
    }
    version.data.iterator.map { file =>
      val what = s"version ${version.name}: ${file.path}"
      val bytes = present(what)(read(new Path(version.folder, file.path), Some(file.length)))
      if (StoreLayout.sha256(bytes) != file.sha256) throw new DamagedArtifactException(s"$what has a wrong checksum")
      bytes
    }
  }

  /** Reads a version's data, however large, to see that it is what was written. */
  def check(version: ArtifactVersion): Unit = version.data.foreach { file =>
    val what = s"version ${version.name}: ${file.path}"
    val digest = MessageDigest.getInstance("SHA-256")
    var size = 0L
    present(what) {
      val in = fs.open(new Path(version.folder, file.path))
      val buffer = new Array[Byte](1 << 20)
      try Iterator.continually(in.read(buffer)).takeWhile(_ >= 0).foreach { number =>
          digest.update(buffer, 0, number)
          size += number
        }
      finally IOUtils.closeStream(in)
    }
    if (size != file.length)
      throw new DamagedArtifactException(s"$what has $size bytes instead of ${file.length}")
    if (StoreLayout.hex(digest.digest()) != file.sha256)
      throw new DamagedArtifactException(s"$what has a wrong checksum")
  }

  private def present[T](what: String)(read: => T): T =
    try read
    catch { case _: FileNotFoundException => throw new DamagedArtifactException(s"$what is missing") }

  /**
   * @param length
   *   as it should be, where that is known
   * @param most
   *   bytes that are read
   */
  private def read(path: Path, length: Option[Long], most: Long = maxSize): Array[Byte] = {
    val size = fs.getFileStatus(path).getLen
    length.filter(_ != size).foreach { expected =>
      throw new DamagedArtifactException(s"${path.getName} has $size bytes instead of $expected")
    }
    if (size > most) {
      val limit = if (most == maxSize) "spark.joinery.store.maxArtifactSize" else most.toString
      throw new DamagedArtifactException(s"${path.getName} has $size bytes, more than $limit")
    }
    val bytes = new Array[Byte](size.toInt)
    val in = fs.open(path)
    try in.readFully(0, bytes)
    finally IOUtils.closeStream(in)
    bytes
  }
}

package io.github.sparkjoinery.artifacts

import java.io.FileNotFoundException
import java.security.MessageDigest

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.io.IOUtils

/**
 * Reads the files of an artifact store and verifies them. Every call can block for as long as the file system does.
 *
 * @param maxSize
 *   most bytes to read of one artifact
 */
class StoreFiles(root: String, hadoop: Configuration, maxSize: Long) {
  private val VersionName = "[A-Za-z0-9-]+"

  private lazy val fs: FileSystem = new Path(root).getFileSystem(hadoop)

  /** Lists the folders of a relation's artifacts of one kind, one per specification. */
  def artifacts(kind: String, relation: String): Seq[Path] =
    try fs.listStatus(StoreLayout.folder(root, kind, relation)).toSeq.filter(_.isDirectory).map(_.getPath).sortBy(
        _.getName)
    catch {
      case _: FileNotFoundException if fs.exists(new Path(root)) => Nil
      case _: FileNotFoundException =>
        throw new DamagedArtifactException(
          s"there is no artifact store at $root, which spark.joinery.store names; the first refresh makes one")
    }

  /** Reads the name of the current version and the checksum of its description; None if nothing has been published. */
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
   * Lists the versions of an artifact, newest first; the Python package has the same order. Names begin with the
   * writer's clock. A name later than the current version's is from a wrong clock and goes to the end.
   *
   * @param published
   *   the current version, if known
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
   * Reads and verifies the description of a version.
   *
   * @param sha256
   *   the checksum to expect; None if only the description's own checksum can be checked
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

  /** Reads the data files of a version, one after the other, and verifies their lengths and checksums. */
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

  /** Verifies the checksums of a version's data files without holding them in memory. */
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
   *   the length to expect, if known
   * @param most
   *   most bytes to read
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

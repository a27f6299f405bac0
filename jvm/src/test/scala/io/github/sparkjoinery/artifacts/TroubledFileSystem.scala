package io.github.sparkjoinery.artifacts

import java.net.URI
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path, RawLocalFileSystem}
import org.apache.hadoop.security.AccessControlException

/** Local files under the scheme `troubled`, as slow and as forbidding as a test wants them. */
class TroubledFileSystem extends RawLocalFileSystem {
  import TroubledFileSystem._

  override def getUri: URI = URI.create("troubled:///")
  override def getScheme: String = "troubled"

  // Hadoop's own look up rights, which local files have under their own scheme only.
  override def listStatus(path: Path): Array[FileStatus] = {
    trouble(path)
    super.listStatus(path).map(file =>
      new FileStatus(file.getLen, file.isDirectory, 1, file.getBlockSize, file.getModificationTime, file.getPath))
  }
  override def getFileStatus(path: Path): FileStatus = { trouble(path); super.getFileStatus(path) }
  override def open(path: Path, bufferSize: Int): FSDataInputStream = {
    trouble(path)
    if (path.getName.endsWith(".parquet")) opened.incrementAndGet()
    super.open(path, bufferSize)
  }

  private def trouble(path: Path): Unit = {
    Thread.sleep(delayMs.get)
    forbidden.filter(path.toString.contains).foreach(name =>
      throw new AccessControlException(s"Permission denied: $name"))
  }
}

object TroubledFileSystem {
  val delayMs = new AtomicLong()
  val opened = new AtomicInteger()
  @volatile var forbidden: Option[String] = None

  val Setting: (String, String) = "fs.troubled.impl" -> classOf[TroubledFileSystem].getName

  def reset(): Unit = {
    delayMs.set(0)
    opened.set(0)
    forbidden = None
  }
}

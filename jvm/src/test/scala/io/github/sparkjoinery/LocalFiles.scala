package io.github.sparkjoinery

import java.nio.file.attribute.{PosixFileAttributes, PosixFilePermissions}
import java.nio.file.{Files, NoSuchFileException}

import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{FileStatus, LocalFileSystem, Path, RawLocalFileSystem}

/**
 * Local files whose permissions this process sets and reads itself. Hadoop, without its native library, starts `chmod`
 * for each file and folder that it makes, a dozen processes for a table of one file, and `ls` for each that it lists.
 */
class LocalFiles extends LocalFileSystem(new RawLocalFileSystem {
    override def setPermission(path: Path, permission: FsPermission): Unit = {
      val actions = Seq(permission.getUserAction, permission.getGroupAction, permission.getOtherAction)
      Files.setPosixFilePermissions(
        pathToFile(path).toPath,
        PosixFilePermissions.fromString(actions.map(_.SYMBOL).mkString))
    }

    override def getFileStatus(path: Path): FileStatus = {
      val file = super.getFileStatus(path)
      try {
        val attributes = Files.readAttributes(pathToFile(path).toPath, classOf[PosixFileAttributes])
        new FileStatus(
          file.getLen,
          file.isDirectory,
          file.getReplication,
          file.getBlockSize,
          file.getModificationTime,
          file.getAccessTime,
          FsPermission.valueOf("-" + PosixFilePermissions.toString(attributes.permissions)),
          attributes.owner.getName,
          attributes.group.getName,
          file.getPath
        )
      } catch { case _: NoSuchFileException => file } // deleted since, or a link to nothing
    }
  })

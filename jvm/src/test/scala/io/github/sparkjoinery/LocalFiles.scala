package io.github.sparkjoinery

import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions

import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{LocalFileSystem, Path, RawLocalFileSystem}

/**
 * Local files whose permissions this process sets itself. Hadoop, without its native library, starts `chmod` for each
 * file and folder that it makes: a dozen processes for a table of one file.
 */
class LocalFiles extends LocalFileSystem(new RawLocalFileSystem {
    override def setPermission(path: Path, permission: FsPermission): Unit = {
      val actions = Seq(permission.getUserAction, permission.getGroupAction, permission.getOtherAction)
      Files.setPosixFilePermissions(
        pathToFile(path).toPath,
        PosixFilePermissions.fromString(actions.map(_.SYMBOL).mkString))
    }
  })

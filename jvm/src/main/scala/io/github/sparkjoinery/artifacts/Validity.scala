package io.github.sparkjoinery.artifacts

import java.util.Locale
import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

import org.apache.spark.sql.execution.datasources.{CatalogFileIndex, HadoopFsRelation}
import org.apache.spark.sql.joinery.SparkSession

/**
 * Source files that an artifact does not cover.
 *
 * @param files
 *   their paths
 * @param bytes
 *   their size
 * @param allBytes
 *   size of all files of the source
 * @param isReadByQuery
 *   true if the query reads exactly these files besides the covered ones
 * @param reason
 *   names one of the files, for EXPLAIN
 */
case class Uncovered(files: Set[String], bytes: Long, allBytes: Long, isReadByQuery: Boolean, reason: String)

/**
 * Checks that an artifact covers everything that the query will read of its source. It lists the source's files again,
 * because the session's listing may be old.
 */
object Validity {

  /** Returns why the artifact does not fit the relation's current state, as far as that shows without listing files. */
  def mismatch(version: ArtifactVersion, source: SourceRelation): Option[String] = {
    val schema = source.schema.map(Source.columnOf)
    (version.source, version.fingerprint) match {
      case (_, NoFingerprint(reason)) => Some(s"the source has no fingerprint: $reason")
      case (None, _) => Some("its description lacks the source")
      case (Some(described), _) if described.schema != schema => Some("the schema of the source has changed")
      case (Some(described), _) if !source.providers(described.provider) =>
        Some(s"the source was ${described.provider}, and is ${source.providers.mkString(" or ")} now")
      case (Some(described), _: Files) if source.files.isEmpty =>
        Some(s"the files of ${described.provider} cannot be listed")
      case (Some(described), _: Files) if described.options != optionsText(source.options) =>
        Some("the options of the source have changed")
      case (_, _: Snapshot) if source.isVersioned && source.options.nonEmpty =>
        Some(s"the query reads it with the option ${source.options.keys.min}")
      case (_, built: Snapshot)
          if !source.snapshot.exists(now =>
            now.version == built.version && built.tableId.forall(now.tableId.contains)) =>
        Some(s"it was built from version ${built.version} of the source, and the query reads ${source.snapshot.fold(
            "none")(_.version)}")
      case _ => None
    }
  }

  /** Lists the source and returns the files that the version does not cover; None if it covers all. */
  def uncovered(version: ArtifactVersion, source: SourceRelation, session: SparkSession): Option[Uncovered] =
    version.fingerprint match {
      case Files(covered) =>
        def lacking(files: Map[String, (Long, Long)]) =
          files.filterNot { case (path, file) => covered.get(path).contains(file) }
        val relation = source.files.get
        val start = System.nanoTime()
        val now = list(relation, session)
        listingMs.put(source.identity, (System.nanoTime() - start) / 1000000)
        val files = lacking(now)
        files.headOption.map { case (path, _) =>
          Uncovered(
            files.keySet,
            files.values.map(_._1).sum,
            now.values.map(_._1).sum,
            lacking(listedBy(relation)) == files,
            if (covered.contains(path)) s"$path has changed since" else s"$path is not covered"
          )
        }
      case _ => None
    }

  /**
   * Lists the source and returns the files that the query reads in addition to the covered ones, or why the version
   * cannot replace the covered ones. A bloom filter may have too many keys; a range index must have exactly the rows of
   * its files.
   */
  def filesSince(version: ArtifactVersion, source: SourceRelation, session: SparkSession): Either[String, Set[String]] =
    version.fingerprint match {
      case Files(_) if version.uncovered > 0 =>
        Left(s"${version.uncovered} files of the source were still changing when it was built")
      case Files(listed) =>
        val covered = listed.filter { case (_, (length, _)) => length > 0 } // Spark skips empty files
        val files = source.files.get
        val now = list(files, session)
        val reads = readsOf(files)
        val read = reads.toMap
        val gone = covered.keys.find(!now.contains(_)).map(path => s"$path is gone")
        val changed =
          covered.collectFirst { case (path, file) if now.get(path).exists(_ != file) => s"$path has changed since" }
        val unlisted = if (now == read) None else Some("the source's files have changed since the query listed them")
        // Spark reads a file once per partition that has it; the index was built with each file read once
        val shared = if (reads.size == read.size) None else Some("partitions of the source share files")
        gone.orElse(changed).orElse(unlisted).orElse(shared).toLeft(now.keySet -- covered.keySet)
      case _ => Right(Set.empty)
    }

  /** The files that the query reads: those of its own listing, even if files have been added since. */
  private def listedBy(relation: HadoopFsRelation): Map[String, (Long, Long)] = readsOf(relation).toMap

  /** The same, with a file listed as often as the query reads it. */
  private def readsOf(relation: HadoopFsRelation): Seq[(String, (Long, Long))] =
    relation.location.listFiles(Nil, Nil).flatMap(_.files).filter(_.getLen > 0)
      .map(file => file.getPath.toString -> ((file.getLen, file.getModificationTime)))

  // relation -> duration of its last listing
  private val listingMs = new ConcurrentHashMap[String, Long]()

  /**
   * The message for a listing that takes too long. A query never uses the listing of an earlier query, because a file
   * may have been replaced under the same name in between.
   */
  def slowListing(source: SourceRelation): String = {
    val last =
      Option(listingMs.get(source.identity)).filter(_ > 0).fold("")(ms => s", which took $ms ms the last time,")
    s"listing the files of ${source.identity}, again for each query$last"
  }

  /** Writes the options as text, without options that cannot change the rows. */
  def optionsText(options: Map[String, String]): String = options.toSeq
    .map { case (key, value) => (key.toLowerCase(Locale.ROOT), value) }
    .filterNot { case (key, _) => key == "path" || key == "serialization.format" }
    .sorted.map { case (key, value) => s"$key=$value" }.mkString(",")

  /** Lists the source: path -> length and modification time. */
  private def list(relation: HadoopFsRelation, session: SparkSession): Map[String, (Long, Long)] = {
    val hadoop = session.sessionState.newHadoopConfWithOptions(relation.options)
    val hides = hidesByDefault(relation, session)
    def below(root: Path, deep: Boolean): Seq[(String, (Long, Long))] = {
      val fs = root.getFileSystem(hadoop)
      val start = fs.makeQualified(root).toString.length
      for {
        file <- filesOf(fs, root, deep)
        path = file.getPath.toString if file.getLen > 0 && !(hides && isHidden(path.drop(start)))
      } yield path -> ((file.getLen, file.getModificationTime))
    }
    val roots = FrozenFileIndex.freeze(relation.location) match {
      case FrozenFileIndex(index: CatalogFileIndex) =>
        val table = index.table.identifier
        session.sharedState.externalCatalog.listPartitions(table.database.get, table.table).map(p =>
          new Path(p.location))
      case listed => listed.rootPaths
    }
    val deep =
      relation.partitionSchema.nonEmpty || relation.options.exists(_._1.equalsIgnoreCase("recursiveFileLookup"))
    roots.flatMap(below(_, deep)).toMap
  }

  /**
   * Lists the files in a folder, with those of its subfolders if `deep`. An object store answers this in one request.
   * For local files without Hadoop's native library the same request starts a process per file to read permissions.
   * Local folders are therefore listed one by one, as Spark does.
   */
  private def filesOf(fs: FileSystem, folder: Path, deep: Boolean): Seq[FileStatus] =
    if (fs.getUri.getScheme == "file") {
      val (folders, files) = fs.listStatus(folder).toSeq.partition(_.isDirectory)
      if (deep) files ++ folders.flatMap(status => filesOf(fs, status.getPath, deep)) else files
    } else {
      val files = if (deep) fs.listFiles(folder, true) else fs.listLocatedStatus(folder)
      Iterator.continually(files).takeWhile(_.hasNext).map(_.next()).filter(_.isFile).toVector
    }

  // In Spark 4.3 a setting says which names are hidden. If it is set, nothing is hidden here: a file too many is safe.
  private def hidesByDefault(relation: HadoopFsRelation, session: SparkSession): Boolean = {
    val option = "ignoredPathSegmentRegex"
    !relation.options.exists(_._1.equalsIgnoreCase(option)) &&
    session.conf.getAll.get(s"spark.sql.files.$option").forall(_ == "^[._]")
  }

  /** True for paths that Spark ignores by default. */
  private def isHidden(path: String): Boolean =
    path.split(Path.SEPARATOR_CHAR).exists(name => name.startsWith(".") || name.startsWith("_") && !name.contains("="))
}

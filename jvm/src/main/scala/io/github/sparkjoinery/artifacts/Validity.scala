package io.github.sparkjoinery.artifacts

import java.util.Locale
import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.{CatalogFileIndex, HadoopFsRelation}

/**
 * Files of a source whose rows an artifact does not hold.
 *
 * @param files
 *   their URIs
 * @param bytes
 *   in them
 * @param allBytes
 *   in all files of the source
 * @param isReadByQuery
 *   whether the query is going to read just these beside those that are covered
 * @param reason
 *   one of them, in words
 */
case class Uncovered(files: Set[String], bytes: Long, allBytes: Long, isReadByQuery: Boolean, reason: String)

/**
 * Whether an artifact holds all that a query is going to read of its source. The source's files are listed anew for
 * that: what the session knows of them may be old.
 */
object Validity {

  /** Why the artifact was not made from the relation as it is now, as far as that can be told without listing files. */
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

  /** Files of the source that the version does not hold as they are now; None if it holds all. Takes a listing. */
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
   * The files that a query is going to read and the version does not hold; or why it cannot stand for the others.
   * Unlike a filter, of which too much does no harm, it has to hold the rows of just those files. Takes a listing of
   * the source.
   */
  def filesSince(version: ArtifactVersion, source: SourceRelation, session: SparkSession): Either[String, Set[String]] =
    version.fingerprint match {
      case Files(_) if version.uncovered > 0 =>
        Left(s"${version.uncovered} files of the source were still changing when it was built")
      case Files(listed) =>
        val covered = listed.filter { case (_, (length, _)) => length > 0 } // Spark reads no others
        val files = source.files.get
        val now = list(files, session)
        val reads = readsOf(files)
        val read = reads.toMap
        val gone = covered.keys.find(!now.contains(_)).map(path => s"$path is gone")
        val changed =
          covered.collectFirst { case (path, file) if now.get(path).exists(_ != file) => s"$path has changed since" }
        val unlisted = if (now == read) None else Some("the source's files have changed since the query listed them")
        // Spark reads a file once for each partition that has it, and an index was built where none was read twice
        val shared = if (reads.size == read.size) None else Some("partitions of the source share files")
        gone.orElse(changed).orElse(unlisted).orElse(shared).toLeft(now.keySet -- covered.keySet)
      case _ => Right(Set.empty)
    }

  /** A query reads the files that it listed once, even where others have come since. */
  private def listedBy(relation: HadoopFsRelation): Map[String, (Long, Long)] = readsOf(relation).toMap

  /** The same, a file as often as the query reads it. */
  private def readsOf(relation: HadoopFsRelation): Seq[(String, (Long, Long))] =
    relation.location.listFiles(Nil, Nil).flatMap(_.files).filter(_.getLen > 0)
      .map(file => file.getPath.toString -> ((file.getLen, file.getModificationTime)))

  // by relation, how long its last listing took
  private val listingMs = new ConcurrentHashMap[String, Long]()

  /**
   * What to say of a listing that takes too long. A listing that an earlier query began is never used for a later one:
   * a file may have been replaced by another of its name in between, which only a listing that began with the query can
   * tell.
   */
  def slowListing(source: SourceRelation): String = {
    val last =
      Option(listingMs.get(source.identity)).filter(_ > 0).fold("")(ms => s", which took $ms ms the last time,")
    s"listing the files of ${source.identity}, anew for each query$last"
  }

  /** Options as text, without those that do not change what is read. */
  def optionsText(options: Map[String, String]): String = options.toSeq
    .map { case (key, value) => (key.toLowerCase(Locale.ROOT), value) }
    .filterNot { case (key, _) => key == "path" || key == "serialization.format" }
    .sorted.map { case (key, value) => s"$key=$value" }.mkString(",")

  /** Of each file its canonical URI, its length, and when it was changed. */
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
    val roots = ListedFiles.of(relation.location) match {
      case ListedFiles(index: CatalogFileIndex) =>
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
   * The files in a folder, and where `deep` says so those below it. A store of objects lists all of them by one
   * request. For local files that request starts a process for each file, to learn its permissions, where Hadoop has no
   * native library; they are listed folder by folder, as Spark itself does.
   */
  private def filesOf(fs: FileSystem, folder: Path, deep: Boolean): Seq[FileStatus] =
    if (fs.getUri.getScheme == "file") {
      val (folders, files) = fs.listStatus(folder).toSeq.partition(_.isDirectory)
      if (deep) files ++ folders.flatMap(status => filesOf(fs, status.getPath, deep)) else files
    } else {
      val files = if (deep) fs.listFiles(folder, true) else fs.listLocatedStatus(folder)
      Iterator.continually(files).takeWhile(_.hasNext).map(_.next()).filter(_.isFile).toSeq
    }

  // Spark 4.3 lets users say which names are skipped; then none is here, which at worst finds a file too many.
  private def hidesByDefault(relation: HadoopFsRelation, session: SparkSession): Boolean = {
    val option = "ignoredPathSegmentRegex"
    !relation.options.exists(_._1.equalsIgnoreCase(option)) &&
    session.conf.getAll.get(s"spark.sql.files.$option").forall(_ == "^[._]")
  }

  /** What Spark does not read by default. */
  private def isHidden(path: String): Boolean =
    path.split(Path.SEPARATOR_CHAR).exists(name => name.startsWith(".") || name.startsWith("_") && !name.contains("="))
}

package io.github.sparkjoinery.artifacts

/**
 * Reads the fields that only a range index has in its `version.json`. Its data are sorted runs, each of one or more
 * files.
 */
object RangeIndexVersion {
  val Kind = "range_index"

  /** The columns that the index is sorted by: a point, or start and end. */
  def sortedBy(version: ArtifactVersion): Seq[String] = version.names("sorted_by")

  /** All columns in the index. */
  def columns(version: ArtifactVersion): Seq[String] = version.names("columns")

  /** The number of rows, as the description says. Do not rely on it before the rows have been counted. */
  def rows(version: ArtifactVersion): Long = {
    val rows = version.count("rows")
    if (rows < 0) throw new DamagedArtifactException(s"version ${version.name}: it cannot have $rows rows")
    rows
  }

  /** The data files in sort order, one run after the other. */
  def files(version: ArtifactVersion): Seq[StoredFile] = {
    val named = version.data.map(file => file.path -> file).toMap
    val ordered = version.lists("runs").flatten.map(name => s"data/$name")
    if (ordered.toSet != named.keySet || ordered.length != named.size)
      throw new DamagedArtifactException(s"version ${version.name}: its runs are not made of the files that it lists")
    ordered.map(named)
  }
}

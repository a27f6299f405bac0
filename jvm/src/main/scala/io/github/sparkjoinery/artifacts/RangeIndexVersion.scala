package io.github.sparkjoinery.artifacts

/** What the description of a range index says of its data: sorted runs of files with columns of the source. */
object RangeIndexVersion {
  val Kind = "range_index"

  /** The columns that it is sorted by: a point, or start and end. */
  def sortedBy(version: ArtifactVersion): Seq[String] = version.names("sorted_by")

  /** All columns that it holds. */
  def columns(version: ArtifactVersion): Seq[String] = version.names("columns")

  /** Rows that it has, as its description says: nothing may rely on the number before they have been counted. */
  def rows(version: ArtifactVersion): Long = {
    val rows = version.count("rows")
    if (rows < 0) throw new DamagedArtifactException(s"version ${version.name}: it cannot have $rows rows")
    rows
  }

  /** Its files, each run's in their order, one run after the other. */
  def files(version: ArtifactVersion): Seq[StoredFile] = {
    val named = version.data.map(file => file.path -> file).toMap
    val ordered = version.lists("runs").flatten.map(name => s"data/$name")
    if (ordered.toSet != named.keySet || ordered.length != named.size)
      throw new DamagedArtifactException(s"version ${version.name}: its runs are not made of the files that it lists")
    ordered.map(named)
  }
}

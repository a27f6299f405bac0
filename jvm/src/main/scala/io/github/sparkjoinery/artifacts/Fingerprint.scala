package io.github.sparkjoinery.artifacts

/** The state of the source when the artifact was built. */
sealed trait Fingerprint

/** @param files canonical URI -> length and modification time in milliseconds */
case class Files(files: Map[String, (Long, Long)]) extends Fingerprint

/** @param tableId None for formats whose version numbers are unique across tables */
case class Snapshot(tableId: Option[String], version: String) extends Fingerprint

case class NoFingerprint(reason: String) extends Fingerprint

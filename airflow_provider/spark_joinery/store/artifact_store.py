"""The artifact store: immutable versions, one of which is current."""

from __future__ import annotations

import getpass
import hashlib
import json
import logging
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import spark_joinery
from spark_joinery.store import layout
from spark_joinery.store.errors import StoreNotWritableError
from spark_joinery.store.filesystem import HadoopFileSystem, explain_java_error
from spark_joinery.store.fingerprint import Fingerprint
from spark_joinery.store.retention import clean
from spark_joinery.store.verify import FORMAT_VERSION, DamagedError, read_json, read_version
from spark_joinery.store.version import ArtifactVersion, Lookup, PendingVersion

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEEP = 3
ABANDONED_AFTER_S = 6 * 3600.0

log = logging.getLogger(__name__)


@dataclass
class ArtifactStore:
    """Artifacts below one root, on any Hadoop file system.

    Attributes:
        root: Folder or URI; created with mode 0700 by the first refresh.
        filesystem: Hadoop's file systems, see `open_store`.
        keep: Complete versions of an artifact to keep.
        abandoned_after_s: An incomplete version in which nothing changed for so many seconds is deleted by the next
            refresh. A younger one may belong to another refresh that is still writing.

    Example:
        >>> store = open_store(spark, "s3a://warehouse/joinery")
        >>> store.current("distribution", request.relation, request.spec_hash).version
    """

    root: str
    filesystem: HadoopFileSystem
    keep: int = KEEP
    abandoned_after_s: float = ABANDONED_AFTER_S

    def __post_init__(self) -> None:
        self.root = self.filesystem.qualify(self.root).rstrip("/")

    def current(self, kind: str, relation: str, spec_hash: str) -> Lookup:
        """Find the version to use, with all its files verified.

        Args:
            kind: Kind of artifact.
            relation: Identity of the relation.
            spec_hash: Hash of the specification.

        Returns:
            The version published last; if that is damaged, the newest other one that is complete and undamaged.
        """
        folder = f"{self.root}/{layout.artifact_folder(kind, relation, spec_hash)}"
        if self.filesystem.status(f"{folder}/{layout.CURRENT}") is None:
            return Lookup(None, "nothing has been published yet")
        reasons: list[str] = []
        published = None
        try:
            pointer = read_json(self.filesystem, f"{folder}/{layout.CURRENT}", layout.CURRENT)
            published = str(pointer["version"])
            return Lookup(read_version(self.filesystem, folder, published, pointer["version_sha256"]), None)
        except DamagedError as problem:
            reasons.append(str(problem))
        except KeyError as missing:
            reasons.append(f"{layout.CURRENT} has no {missing}")
        for status in reversed(self.filesystem.list(f"{folder}/{layout.VERSIONS}")):
            if status.name == published or self.filesystem.status(f"{status.path}/{layout.MANIFEST}") is None:
                continue
            try:
                version = read_version(self.filesystem, folder, status.name)
                reasons.append(f"version {version.name} is used")
                break
            except DamagedError as problem:
                reasons.append(str(problem))
        else:
            version = None
            reasons.append("no valid version is left")
        reason = "; ".join(reasons)
        log.warning("%s of %s: %s", kind, relation, reason)
        return Lookup(version, reason)

    def begin(self, kind: str, relation: str, spec_hash: str, mode: int = 0o700) -> PendingVersion:
        """Make room for a new version, and find out early whether the store can be written.

        Args:
            kind: Kind of artifact.
            relation: Identity of the relation.
            spec_hash: Hash of the specification.
            mode: Permissions of new folders, at most those of the source; the root's own limit them further.

        Returns:
            The version: write Parquet files to its `data_path`, then publish it.

        Raises:
            StoreNotWritableError: If the process may not write there.
        """
        folder = f"{self.root}/{layout.artifact_folder(kind, relation, spec_hash)}"
        pending = PendingVersion(kind, relation, spec_hash, layout.new_version_name(), folder)
        with self._writing():
            self.filesystem.make_folder(self.root, 0o700)
            root = self.filesystem.status(self.root)
            self.filesystem.make_folder(pending.path, (mode & root.mode) | 0o700 if root else 0o700)
        return pending

    def publish(
        self, pending: PendingVersion, fingerprint: Fingerprint, details: Mapping[str, Any] | None = None
    ) -> ArtifactVersion:
        """Make a version the current one; whoever publishes last wins. Then remove what is no longer needed.

        Args:
            pending: The version; its data must be complete.
            fingerprint: What the source looked like.
            details: Further entries for `version.json`.

        Returns:
            The published version.

        Raises:
            StoreNotWritableError: If the process may not write there. The former version stays current.
        """
        with self._writing():
            files = [
                {"path": f.path[len(pending.path) + 1 :], "length": f.length, "sha256": self.filesystem.sha256(f.path)}
                for f in self.filesystem.walk(pending.data_path)
            ]
            description = {
                **(details or {}),
                "format_version": FORMAT_VERSION,
                "kind": pending.kind,
                "relation": pending.relation,
                "spec_hash": pending.spec_hash,
                "version": pending.name,
                "built_by": f"{_user()}@{socket.gethostname()}, spark-joinery {spark_joinery.__version__}",
                "built_at": f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%S.%fZ}",
                "fingerprint": fingerprint,
                "files": files,
            }
            content = _json(description)
            # version.json is what makes a version complete, so it comes last
            self.filesystem.replace(f"{pending.path}/{layout.MANIFEST}", content, f"{pending.path}/_{layout.MANIFEST}")
            pointer = {
                "format_version": FORMAT_VERSION,
                "version": pending.name,
                "version_sha256": hashlib.sha256(content).hexdigest(),
            }
            current = f"{pending.folder}/{layout.CURRENT}"
            self.filesystem.replace(current, _json(pointer), f"{pending.folder}/_{pending.name}.json")
        clean(self.filesystem, pending, self.keep, self.abandoned_after_s)
        return ArtifactVersion(pending.name, pending.path, json.loads(content))

    def abandon(self, pending: PendingVersion) -> None:
        """Delete a version that could not be completed.

        Args:
            pending: The version.
        """
        with self._writing():
            self.filesystem.delete(pending.path)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turn the many ways in which Hadoop refuses to write into one error."""
        from py4j.protocol import Py4JJavaError

        try:
            yield
        except (Py4JJavaError, OSError) as error:
            cause = explain_java_error(error) if isinstance(error, Py4JJavaError) else str(error)
            raise StoreNotWritableError(
                f"The artifact store {self.root} cannot be written ({cause}). Give {_user()} the right to write there, "
                "or name another folder with --store or spark.joinery.store."
            ) from error


def open_store(spark: SparkSession, root: str | None = None) -> ArtifactStore:
    """Open the artifact store of a session.

    Args:
        spark: A classic session.
        root: Folder or URI; by default the conf `spark.joinery.store`.

    Returns:
        The store. Nothing is created before the first refresh.

    Raises:
        JoineryError: If the session is Spark Connect, or no root is given at all.

    Example:
        >>> open_store(spark, "/data/joinery").root
        'file:/data/joinery'
    """
    filesystem = HadoopFileSystem.of_session(spark)
    root = root or spark.conf.get("spark.joinery.store", None)
    if not root:
        raise spark_joinery.JoineryError("No artifact store is named: give --store, or set spark.joinery.store.")
    return ArtifactStore(root, filesystem)


def _json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, default=str) + "\n").encode()


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        # containers often run under a user id without a name
        return "unknown"

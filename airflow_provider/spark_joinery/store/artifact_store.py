"""The artifact store: each artifact has immutable versions, and one of them is current."""

from __future__ import annotations

import getpass
import hashlib
import json
import logging
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import spark_joinery
from spark_joinery.cause import one_line
from spark_joinery.store import layout, seal
from spark_joinery.store.contents import problem_of
from spark_joinery.store.errors import StoreError, StoreNotWritableError
from spark_joinery.store.filesystem import LARGEST, ArrowFileSystem, FileSystem, HadoopFileSystem
from spark_joinery.store.fingerprint import Fingerprint
from spark_joinery.store.formats import CURRENT_FORMAT_VERSION, FORMAT_VERSION
from spark_joinery.store.lookup import earlier_versions, find_current
from spark_joinery.store.retention import Limits, remove, superfluous
from spark_joinery.store.verify import UnreadableError, Verify, files_of
from spark_joinery.store.version import ArtifactVersion, Lookup, PendingVersion

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

# Characters of Hadoop's path patterns that do not match themselves. `*` and `?` match themselves, so they are allowed.
_PATTERN = re.compile(r"[\[\]{}\\]")


@dataclass
class ArtifactStore:
    """Artifacts below one root.

    Attributes:
        root: Folder or URI; created with mode 0700 by the first refresh.
        filesystem: How to reach it, see `open_store`.
        limits: Which earlier versions each publication keeps.

    Raises:
        StoreError: If the root's name is one that Spark would take for a pattern.

    Example:
        >>> store = open_store(spark, "s3a://warehouse/joinery")
        >>> store.current("distribution", request.relation, request.spec_hash).version
    """

    root: str
    filesystem: FileSystem
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        self.root = self.filesystem.qualify(self.root).rstrip("/")
        if pattern := _PATTERN.search(self.root):
            raise StoreError(
                f"The artifact store {self.root} has a {pattern[0]} in its path: Spark takes that for a pattern, and "
                "would not find what it has written there. Name another folder with --store or spark.joinery.store, "
                "without any of [ ] { } and \\."
            )

    def current(self, kind: str, relation: str, spec_hash: str, verify: Verify = "checksum") -> Lookup:
        """Find the version to use, with all its files verified.

        Args:
            kind: Kind of artifact.
            relation: Identity of the relation.
            spec_hash: Hash of the specification.
            verify: "length" checks that all files are there with their lengths, which costs one listing; "checksum"
                reads them all as well.

        Returns:
            The version published last; if that is damaged, the newest other one that is complete and undamaged.
        """
        folder = f"{self.root}/{layout.artifact_folder(kind, relation, spec_hash)}"
        lookup = find_current(self.filesystem, folder, verify)
        if lookup.damaged:
            log.warning("%s of %s: %s", kind, relation, lookup.reason)
        return lookup

    def begin(self, kind: str, relation: str, spec_hash: str, mode: int = 0o700) -> PendingVersion:
        """Create the folder of a new version, and find out early whether the store can be written.

        Args:
            kind: Kind of artifact.
            relation: Identity of the relation.
            spec_hash: Hash of the specification.
            mode: Permissions of new folders, at most those of the source; the root's own limit them further.

        Returns:
            The version: write Parquet files to its `data_path`, and to its `state_path` if the kind has a state that
            later refreshes merge with; then publish it.

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
        """Make a version the current one, and remove files that are no longer needed. The last publisher wins.

        Args:
            pending: The version; its data must be complete.
            fingerprint: State of the source that the version was built from.
            details: Further entries for `version.json`.

        Returns:
            The published version.

        Raises:
            StoreError: If the data is missing, for example because Spark wrote it on another machine; or if readers
                would not accept the files or their description.
            StoreNotWritableError: If the process may not write there. The former version stays current.
        """
        with self._writing():
            if self.filesystem.status(pending.data_path) is None:
                raise StoreError(
                    f"Spark has written no {pending.data_path}. If it runs on another machine, as over Spark Connect, "
                    "name a store that both reach, with its scheme."
                )
            files = [
                {"path": f.path[len(pending.path) + 1 :], "length": f.length, "sha256": self.filesystem.sha256(f.path)}
                for f in files_of(self.filesystem, pending.path)
            ]
            description = {
                "built_from": None,
                "source": None,
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
                seal.FIELD: seal.BLANK,
            }
            if problem := problem_of(description):
                raise StoreError(f"{pending.path} cannot be published: it {problem}.")
            content = seal.sealed(_json(description))
            if len(content) > LARGEST:
                raise StoreError(
                    f"{pending.path} cannot be published: its description, which lists every file of the source, has "
                    f"{len(content):,} bytes, and readers take {LARGEST:,} at most. Compact the files of the source."
                )
            # a version is complete once it has its version.json, so that file is written last
            self.filesystem.replace(f"{pending.path}/{layout.MANIFEST}", content, f"{pending.path}/_{layout.MANIFEST}")
            pointer = {
                "format_version": CURRENT_FORMAT_VERSION,
                "version": pending.name,
                "version_sha256": hashlib.sha256(content).hexdigest(),
                "earlier": earlier_versions(self.filesystem, pending.folder),
            }
            current = f"{pending.folder}/{layout.CURRENT}"
            self.filesystem.replace(current, _json(pointer), f"{pending.folder}/_{pending.name}.json")
        self._clean(pending)
        return ArtifactVersion(pending.name, pending.path, json.loads(content), FORMAT_VERSION)

    def abandon(self, pending: PendingVersion) -> None:
        """Delete a version that could not be completed.

        Args:
            pending: The version.
        """
        with self._writing():
            self.filesystem.delete(pending.path)

    def _clean(self, published: PendingVersion) -> None:
        """Remove what a new version makes superfluous. The version is published already, so a failure only warns."""
        try:
            current = self.filesystem.status(f"{published.folder}/{layout.CURRENT}")
            if current is None:
                # another process has just removed the artifact; without the time of this file everything would look old
                return
            # just written, so it tells the time of the store's own clock
            now_ms = current.modified_ms
            removals = superfluous(self.filesystem, published.folder, now_ms, self.limits, whole=published.name)
            remove(self.filesystem, list(removals))
        except (OSError, UnreadableError) as error:
            log.warning("%s could not be cleaned: %s", published.folder, error)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turn the many ways in which a file system refuses to write into one error."""
        try:
            yield
        except OSError as error:
            cause = next(iter(str(error).splitlines()), type(error).__name__)
            raise StoreNotWritableError(
                f"The artifact store {self.root} cannot be written ({cause}). Give {_user()} the right to write there, "
                "or name another folder with --store or spark.joinery.store."
            ) from error


def open_store(spark: SparkSession, root: str | None = None) -> ArtifactStore:
    """Open the artifact store of a session.

    Args:
        spark: A session, classic or Spark Connect. Over Connect this process itself must reach the store, by pyarrow.
        root: Folder or URI; by default the conf `spark.joinery.store`.

    Returns:
        The store. Nothing is created before the first refresh.

    Raises:
        StoreError: If no file system has its scheme, or Spark would take its name for a pattern. Over Connect also if
            it cannot be reached.
        JoineryError: If no root is given at all. Over Connect also if pyarrow is missing.

    Example:
        >>> open_store(spark, "/data/joinery").root
        'file:/data/joinery'
    """
    root = root or spark.conf.get("spark.joinery.store", None)
    if not root:
        raise spark_joinery.JoineryError("No artifact store is named: give --store, or set spark.joinery.store.")
    if hasattr(spark, "_jsc"):
        try:
            return ArtifactStore(root, HadoopFileSystem.of_session(spark))
        except OSError as error:
            raise StoreError(f"The artifact store cannot be used: {one_line(error)}") from error
    store = ArtifactStore(root, ArrowFileSystem())
    try:
        store.filesystem.status(store.root)
    except OSError as error:
        cause = next(iter(str(error).splitlines()), type(error).__name__)
        raise StoreError(
            f"The artifact store {root} cannot be reached from here, the client of Spark Connect ({cause}). Name a "
            "place that pyarrow reaches, or run the refresh in a classic session: `joinery refresh`, spark-submit."
        ) from error
    return store


def _json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, default=str) + "\n").encode()


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        # containers often run under a user id without a name
        return "unknown"

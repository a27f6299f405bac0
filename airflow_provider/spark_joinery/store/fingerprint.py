"""The state of a source when an artifact was built from it."""

from __future__ import annotations

import time
from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict
from urllib.parse import unquote

from typing_extensions import NotRequired

from spark_joinery.store.filesystem import FileStatus, FileSystem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SETTLE_MS = 2000


class SourceFile(TypedDict):
    """One file of a source: canonical URI, bytes, milliseconds since 1970."""

    path: str
    length: int
    modified_ms: int


class Fingerprint(TypedDict):
    """The state of the source that an artifact was built from. `type` says how it is known.

    - "files": the artifact covers `files`. It may have read a part of `uncovered` more files.
    - "snapshot": the artifact holds the rows of one version of a Delta or Iceberg table, `table_id` and `version`.
    - "none": nothing is known, and `reason` says why.
    """

    type: str
    reason: str | None
    files: list[SourceFile]
    uncovered: NotRequired[int]
    table_id: NotRequired[str | None]
    version: NotRequired[str | None]


@dataclass(frozen=True)
class Listing:
    """The files behind a relation at one moment.

    Attributes:
        files: Sorted by path.
        folders: All folders above them, for their permissions.
        listed_ms: When, in milliseconds since 1970.
        absent: Canonical paths that the relation names, and at which there was no file.
    """

    files: list[FileStatus]
    folders: list[FileStatus]
    listed_ms: int
    absent: frozenset[str] = frozenset()

    @property
    def paths(self) -> set[str]:
        """Paths of all files that the relation may be read from, absent ones too."""
        return {file.path for file in self.files} | self.absent


def list_source(frame: DataFrame, filesystem: FileSystem) -> Listing:
    """List the files that a DataFrame reads.

    Takes about half a millisecond per file.

    Args:
        frame: The relation.
        filesystem: The file systems of its session.

    Returns:
        The files; none for relations that are not made of files (JDBC, generated data).
    """
    listed_ms = int(time.time() * 1000)
    wanted = {path_of_uri(uri) for uri in frame.inputFiles()}
    files: dict[str, FileStatus] = {}
    found: set[str] = set()
    for folder in {path.rsplit("/", 1)[0] for path in wanted}:
        # a folder's listing costs one call, however many files it has
        statuses = {status.path: status for status in filesystem.list(folder)}
        for path in wanted & statuses.keys():
            below = filesystem.walk(path) if statuses[path].is_folder else [statuses[path]]
            files.update((status.path, status) for status in below)
            found.add(path)
    ancestors = {parent for path in files for parent in _parents(path)}
    folders = [status for path in sorted(ancestors) if (status := filesystem.status(path))]
    return Listing([files[path] for path in sorted(files)], folders, listed_ms, frozenset(wanted - found))


def list_settled(frame: DataFrame, filesystem: FileSystem, settle_ms: int = SETTLE_MS) -> Listing:
    """List the files that a DataFrame reads, once they are old enough for `fingerprint` to cover them.

    Waits once, for at most `settle_ms`, if files have just been written. Files written while it waits stay too young.

    Args:
        frame: The relation.
        filesystem: The file systems of its session.
        settle_ms: How old a file must be, in milliseconds.

    Returns:
        The files.
    """
    listing = list_source(frame, filesystem)
    youngest_ms = max((file.modified_ms for file in listing.files), default=0)
    missing_ms = youngest_ms + settle_ms - listing.listed_ms
    # a file from the future will not get old enough while we wait
    if not 0 < missing_ms <= settle_ms:
        return listing
    time.sleep((missing_ms + 1) / 1000)
    return list_source(frame, filesystem)


def fingerprint(
    before: Listing,
    after: Listing,
    settle_ms: int = SETTLE_MS,
    *,
    is_increment: bool = False,
    left_out: Set[str] = frozenset(),
) -> Fingerprint:
    """Find the files that an artifact covers for sure.

    A file counts if it was the same before and after the build, and was not written just before the first listing.
    A second change of a file within the clock's resolution could not be seen.

    Args:
        before: Listing before the source was read.
        after: Listing after it was read.
        settle_ms: How old a file must be, in milliseconds.
        is_increment: Whether the build read only files of the first listing. Otherwise it may have read any file that
            the relation had in the meantime.
        left_out: Canonical paths of files that the build did not read, and that the first listing did not find.

    Returns:
        The fingerprint to store with the artifact.
    """
    read = {file.path for file in before.files} if is_increment else (before.paths | after.paths) - left_out
    if not read:
        return {"type": "none", "reason": "the relation is not read from files", "files": []}
    unchanged = {(f.path, f.length, f.modified_ms) for f in after.files}
    files: list[SourceFile] = [
        {"path": f.path, "length": f.length, "modified_ms": f.modified_ms}
        for f in before.files
        if (f.path, f.length, f.modified_ms) in unchanged and f.modified_ms <= before.listed_ms - settle_ms
    ]
    return {"type": "files", "reason": None, "files": files, "uncovered": len(read) - len(files)}


def permissions_of(source: Listing, store_root: str) -> int:
    """Folder permissions for a copy of a source: only users who can read the source may read the copy.

    The copy is open to its owner alone or to everybody. A group cannot be let in alone, as the copy's group need not be
    the source's. Permissions on another file system are ignored: "everybody" means other users there, and object stores
    have no permissions and make some up.

    Args:
        source: The files; with none, nothing is known about who may read them.
        store_root: Root of the store that will hold the copy, qualified.

    Returns:
        0o755 if everybody can read all files and enter the folders above them, else 0o700.
    """
    if any(_file_system_of(status.path) != _file_system_of(store_root) for status in (*source.files, *source.folders)):
        return 0o700
    readable = source.files and all(file.mode & 0o044 == 0o044 for file in source.files)
    reachable = all(folder.mode & 0o011 == 0o011 for folder in source.folders)
    return 0o755 if readable and reachable else 0o700


def path_of_uri(uri: str) -> str:
    """Turn a URI as Spark writes it in `inputFiles`, with %20 for a space, into the path that Hadoop prints.

    It is computed in Python: a call into the JVM takes milliseconds, and there may be many files.

    Args:
        uri: An absolute URI with a scheme.

    Returns:
        The path, with a space for %20.

    Example:
        >>> path_of_uri("file:///data/a%20b")
        'file:/data/a b'
    """
    scheme, _, rest = unquote(uri).partition(":")
    return f"{scheme}:{rest.removeprefix('//') if rest.startswith('///') else rest}"


def _file_system_of(path: str) -> str:
    """Scheme and authority of a qualified path."""
    scheme, _, rest = path.partition(":")
    return f"{scheme}://{rest[2:].partition('/')[0]}" if rest.startswith("//") else f"{scheme}:"


def _parents(path: str) -> list[str]:
    """All folders above a path, without the root."""
    root = len(path.split("://", 1)[0]) + 3 if "://" in path else path.find("/")
    parents = []
    while (path := path.rsplit("/", 1)[0]) and len(path) > root:
        parents.append(path)
    return parents

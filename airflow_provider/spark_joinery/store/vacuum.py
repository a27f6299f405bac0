"""Remove everything that a store no longer needs."""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection
from dataclasses import dataclass

from spark_joinery.store.artifact_store import ArtifactStore
from spark_joinery.store.catalog import KINDS, Artifact, list_artifacts, may_be
from spark_joinery.store.filesystem import FileStatus, FileSystem
from spark_joinery.store.retention import (
    Limits,
    Removal,
    changes,
    is_foreign,
    is_near,
    is_temporary,
    remove,
    size_of,
    superfluous,
)
from spark_joinery.store.verify import UnreadableError


@dataclass(frozen=True)
class VacuumResult:
    """Result of a vacuum.

    Attributes:
        removals: The files and folders to delete, in this order.
        failed: From the path of a file or folder that could not be read or deleted to the reason.
    """

    removals: list[Removal]
    failed: dict[str, str]


def vacuum(
    store: ArtifactStore,
    *,
    names: Collection[str] = (),
    declared: Collection[tuple[str, str, str]] | None = None,
    dry_run: bool = False,
) -> VacuumResult:
    """Delete everything that is superfluous by the store's limits.

    Symbolic links below the root and their targets are left alone: a target need not belong to the store.

    Ages are measured by the clock of the store's file system, which stamps the files. A machine whose own clock is
    wrong deletes nothing too early.

    Args:
        store: The store; its `limits` say what stays.
        names: Only these relations, see `is_named`; none means all.
        declared: Kind, relation and specification hash of all artifacts that are still wanted. Others are deleted as a
            whole, if nothing in them changed for `abandoned_after_s`. None keeps all artifacts.
        dry_run: Only find the files and folders, delete nothing.

    Returns:
        The files and folders that were deleted, or would be.

    Raises:
        OSError: If the store cannot be read, or nothing can be written to it.

    Example:
        >>> vacuum(open_store(spark, "/data/joinery"), dry_run=True).removals
        []
    """
    filesystem, limits = store.filesystem, store.limits
    # a dry run must not need the right to write, so it takes this machine's clock
    now_ms = int(time.time() * 1000) if dry_run else clock_of(store)
    found: dict[str, Removal] = {}
    failed: dict[str, str] = {}
    for artifact in list_artifacts(store, names=names):
        if _is_linked(store, artifact):
            continue
        wanted = declared is None or any(
            (kind, spec_hash) == (artifact.kind, artifact.spec_hash) and may_be(relation, artifact.relation)
            for kind, relation, spec_hash in declared
        )
        try:
            removals = (
                list(superfluous(filesystem, artifact.folder, now_ms, limits))
                if wanted
                else _undeclared(filesystem, artifact, now_ms, limits)
            )
        except (OSError, UnreadableError) as error:
            # an artifact that cannot be read must not keep the others from being cleaned
            failed[artifact.folder] = str(error)
            continue
        found.update((removal.path, removal) for removal in removals)
    for status in filesystem.list(store.root) if not names else []:
        if is_temporary(status) and not is_near(status.modified_ms, now_ms, limits.abandoned_after_s):
            found[status.path] = Removal(status.path, "temporary", status.length)
        elif status.is_folder and status.name in KINDS and not filesystem.is_link(status.path):
            _sweep(filesystem, status, found, now_ms, limits, depth=3)
    removals = list(found.values())
    return VacuumResult(removals, failed if dry_run else {**failed, **remove(filesystem, removals)})


def clock_of(store: ArtifactStore) -> int:
    """Read the clock that stamps the files of a store.

    Args:
        store: The store.

    Returns:
        Milliseconds since 1970.

    Raises:
        OSError: If nothing can be written.
    """
    path = f"{store.root}/_clock-{uuid.uuid4().hex}.json"
    # empty, so that a full disk takes it, too
    store.filesystem.touch(path)
    status = store.filesystem.status(path)
    store.filesystem.delete(path)
    if status is None:
        raise OSError(f"{path} has vanished")
    return status.modified_ms


def _is_linked(store: ArtifactStore, artifact: Artifact) -> bool:
    """Whether the folder of an artifact, or one between it and the root, is a link."""
    parts = artifact.folder.removeprefix(f"{store.root}/").split("/")
    return any(store.filesystem.is_link("/".join([store.root, *parts[: n + 1]])) for n in range(len(parts)))


def _undeclared(filesystem: FileSystem, artifact: Artifact, now_ms: int, limits: Limits) -> list[Removal]:
    """Remove an artifact, unless it changed recently or a newer release wrote to it: it may be in use elsewhere."""
    status = filesystem.status(artifact.folder)
    if status is None or is_foreign(filesystem, artifact.folder):
        return []
    times = changes(filesystem, status)
    if not times or any(is_near(time, now_ms, limits.abandoned_after_s) for time in times):
        return []
    return [Removal(artifact.folder, "undeclared", size_of(filesystem, status))]


def _sweep(
    filesystem: FileSystem, folder: FileStatus, found: dict[str, Removal], now_ms: int, limits: Limits, depth: int
) -> bool:
    """Find folders that are empty, or will be after the removals. Folders in `versions/` are not searched."""
    is_empty = True
    for below in filesystem.list(folder.path):
        if below.path not in found and not (
            below.is_folder
            and not filesystem.is_link(below.path)
            and depth > 0
            and _sweep(filesystem, below, found, now_ms, limits, depth - 1)
        ):
            is_empty = False
    # a refresh may be about to fill a young folder; a folder without a time, in an object store, costs nothing
    if is_empty and folder.tells_time and not is_near(folder.modified_ms, now_ms, limits.grace_s):
        found[folder.path] = Removal(folder.path, "empty")
    return folder.path in found

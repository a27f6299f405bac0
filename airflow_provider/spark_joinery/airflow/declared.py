"""Declarations of a dbt project, kept between reads: the DAG processor parses each file again and again."""

from __future__ import annotations

import logging
import time
from os import PathLike
from pathlib import Path

from airflow.providers.common.compat.sdk import ObjectStoragePath

import spark_joinery
from spark_joinery.airflow.copies import KEPT_S, Copy, read_copy, write_copy
from spark_joinery.airflow.credentials import without_credentials
from spark_joinery.metadata import (
    ArtifactRequest,
    ManifestError,
    ManifestFormatError,
    ManifestNotReadableError,
    read_manifest,
)

log = logging.getLogger(__name__)

# far longer than it takes to write a large manifest
_WRITTEN_S = 1.0


def declared(manifest: str | PathLike[str]) -> list[ArtifactRequest]:
    """
    Read what a manifest declares, from a copy of it if the manifest has not changed since.

    The copies are in ``joinery/manifests`` below AIRFLOW_HOME; they hold declarations only, not the whole manifest. A
    copy replaces its manifest for up to a week while that cannot be read or is no manifest, and the log says so.

    :param manifest: path, or URI as :class:`airflow.sdk.ObjectStoragePath` reads it, such as ``s3://conn@bucket/key``
    :return: its requests, sorted as by :func:`spark_joinery.metadata.read_manifest`
    :raises spark_joinery.metadata.ManifestError: if the manifest cannot be used

    .. code-block:: python

        requests = declared("s3://dbt@artifacts/manifest.json")
    """
    copy = read_copy(str(manifest))
    try:
        return _as_it_is_now(manifest, copy)
    except (ManifestNotReadableError, ManifestFormatError) as error:
        if copy is None or not _stands_in(copy, error):
            raise
        return copy.requests


def _as_it_is_now(manifest: str | PathLike[str], copy: Copy | None) -> list[ArtifactRequest]:
    """Read a manifest, or its copy if that is of the same content."""
    path = _path(manifest)
    state = _state(path)
    if copy is not None and copy.state == state:
        copy.confirm()
        return copy.requests
    try:
        requests = read_manifest(path).requests
    except ManifestFormatError:
        # dbt writes the file in place, also while the DAG runs: half a file is read again, and is no error
        time.sleep(_WRITTEN_S)
        if (later := _state(path)) == state:
            raise
        state, requests = later, read_manifest(path).requests
    if state is not None:
        write_copy(str(manifest), state, requests)
    return requests


def _stands_in(copy: Copy, error: ManifestError) -> bool:
    """Whether a copy is young enough to replace its manifest; if so, the log says that it is used."""
    try:
        age_s = copy.age_s()
    except OSError:
        return False
    if age_s > KEPT_S:
        return False
    log.error(
        "%s Used in its place is what it declared when it could last be read, %.1f h ago. This is an error from the "
        "day on which that is %d days ago.",
        without_credentials(str(error)),
        age_s / 3600,
        KEPT_S // 86_400,
    )
    return True


def _path(manifest: str | PathLike[str]) -> ObjectStoragePath | Path:
    if "://" not in str(manifest):
        return Path(manifest)
    try:
        return ObjectStoragePath(str(manifest))
    except Exception as error:  # readers of such URIs have errors of their own for a missing connection or library
        reason = without_credentials(f"{type(error).__name__}: {error}")
        raise ManifestNotReadableError(
            without_credentials(f"{manifest}: cannot be opened: {reason.rstrip('.')}. Is its connection there?")
        ) from error


def _state(path: ObjectStoragePath | Path) -> str | None:
    """
    A text that changes with the content of a file, found without reading the file.

    :param path: the file
    :return: None if the file system does not say; reading the file gives a better error
    """
    try:
        # checked first: with an old universal-pathlib it is also a Path
        if isinstance(path, ObjectStoragePath):
            state = f"{path}|{path.checksum()}"
        else:
            status = path.resolve().stat()
            state = f"{path.resolve()}|{status.st_mtime_ns}|{status.st_size}"
    except Exception as error:  # libraries of object stores have errors of their own
        log.debug("%s: no state: %s", path, error)
        return None
    return f"{spark_joinery.__version__}|{state}"

"""What a dbt project declares, read often and kept: the DAG processor parses every file again and again."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from os import PathLike
from pathlib import Path

from airflow.providers.common.compat.sdk import ObjectStoragePath

import spark_joinery
from spark_joinery.metadata import ArtifactRequest, ManifestFormatError, read_manifest

log = logging.getLogger(__name__)

# far longer than it takes to write a large manifest
_WRITTEN_S = 1.0


def declared(manifest: str | PathLike[str]) -> list[ArtifactRequest]:
    """
    Read what a manifest declares, from a copy of it if the manifest has not changed since.

    The copies lie in ``joinery/manifests`` below AIRFLOW_HOME; they hold declarations only, not the whole manifest.

    :param manifest: path, or URI as :class:`airflow.sdk.ObjectStoragePath` reads it, such as ``s3://conn@bucket/key``
    :return: its requests, sorted as by :func:`spark_joinery.metadata.read_manifest`
    :raises spark_joinery.metadata.ManifestError: if the manifest cannot be used

    .. code-block:: python

        requests = declared("s3://dbt@artifacts/manifest.json")
    """
    path = ObjectStoragePath(str(manifest)) if "://" in str(manifest) else Path(manifest)
    state = _state(path)
    copy = _copies() / f"{hashlib.sha256(str(manifest).encode()).hexdigest()[:32]}.json"
    if state is not None and (kept := _kept(copy, state)) is not None:
        return kept
    try:
        requests = read_manifest(path).requests
    except ManifestFormatError:
        # dbt writes the file in place, also while the DAG runs: half of it is no error
        time.sleep(_WRITTEN_S)
        if (later := _state(path)) == state:
            raise
        state, requests = later, read_manifest(path).requests
    if state is not None:
        _keep(copy, state, requests)
    return requests


def _state(path: ObjectStoragePath | Path) -> str | None:
    """
    Tell one content of a file from the next, without reading it.

    :param path: the file
    :return: None if it is not there, which reading it will say better
    """
    try:
        # asked first, as it is a Path, too, where universal-pathlib is old
        if isinstance(path, ObjectStoragePath):
            state = f"{path}|{path.checksum()}"
        else:
            status = path.resolve().stat()
            state = f"{path.resolve()}|{status.st_mtime_ns}|{status.st_size}"
    except OSError:
        return None
    return f"{spark_joinery.__version__}|{state}"


def _copies() -> Path:
    return Path(os.environ.get("AIRFLOW_HOME", "~/airflow")).expanduser() / "joinery" / "manifests"


def _kept(copy: Path, state: str) -> list[ArtifactRequest] | None:
    try:
        document = json.loads(copy.read_text(encoding="utf-8"))
        if document["state"] == state:
            return [ArtifactRequest.from_dict(request) for request in document["requests"]]
    except FileNotFoundError:
        log.debug("%s has not been read before", copy)
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.warning("%s cannot be used, the manifest is read again: %s", copy, error)
    return None


def _keep(copy: Path, state: str, requests: list[ArtifactRequest]) -> None:
    document = {"state": state, "requests": [request.to_dict() for request in requests]}
    temporary = copy.with_suffix(f".{os.getpid()}")
    try:
        copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.write_text(json.dumps(document), encoding="utf-8")
        temporary.replace(copy)
    except OSError as error:
        log.info("What %s declares is not kept, as %s cannot be written: %s", state, copy, error)

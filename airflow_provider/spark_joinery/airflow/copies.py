"""Copies of what manifests declare, in `joinery/manifests` below AIRFLOW_HOME."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from dataclasses import dataclass
from pathlib import Path

from spark_joinery.errors import JoineryError
from spark_joinery.metadata import ArtifactRequest

log = logging.getLogger(__name__)

# A copy stands in for its manifest this long, and is deleted afterwards
KEPT_S = 7 * 86_400
_MOST_COPIES = 1_000
# the DAG processor parses twice a minute, which is too often for a write
_CONFIRMED_EVERY_S = 3_600


@dataclass(frozen=True)
class Copy:
    """
    Declarations of a manifest, as they were when it could be read.

    :param state: fingerprint of the manifest's content
    :param requests: the declared artifacts
    :param file: path of the copy; its time is when the manifest was last seen unchanged
    """

    state: str
    requests: list[ArtifactRequest]
    file: Path

    def confirm(self) -> None:
        """Note that the manifest is unchanged."""
        try:
            if self.age_s() > _CONFIRMED_EVERY_S:
                os.utime(self.file)
        except OSError as error:
            log.debug("%s is not noted as used: %s", self.file, error)

    def age_s(self) -> float:
        """
        Say how long ago the manifest was last seen unchanged.

        :return: seconds, accurate to an hour
        :raises OSError: if the copy is gone
        """
        return time.time() - self.file.stat().st_mtime


def read_copy(manifest: str) -> Copy | None:
    """
    Read the copy of a manifest.

    :param manifest: path or URI
    :return: None if there is none that can be used
    """
    file = _file(manifest)
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        requests = [ArtifactRequest.from_dict(request) for request in document["requests"]]
        return Copy(str(document["state"]), requests, file)
    except FileNotFoundError:
        log.debug("%s has not been read before", file)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, JoineryError) as error:
        log.warning("%s cannot be used, the manifest is read again: %s", file, error)
    return None


def write_copy(manifest: str, state: str, requests: list[ArtifactRequest]) -> None:
    """
    Keep the declarations of a manifest, and delete copies of manifests that are no longer read.

    :param manifest: path or URI
    :param state: fingerprint of the manifest's content
    :param requests: the declared artifacts
    """
    file = _file(manifest)
    document = {"state": state, "requests": [request.to_dict() for request in requests]}
    temporary = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.write_text(json.dumps(document), encoding="utf-8")
        temporary.replace(file)
        _delete_unused(file.parent)
    except OSError as error:
        log.info("The declarations of %s are not kept, as %s cannot be written: %s", state, file, error)


def _file(manifest: str) -> Path:
    home = Path(os.environ.get("AIRFLOW_HOME", "~/airflow")).expanduser()
    # a path may hold characters that UTF-8 cannot encode
    digest = hashlib.sha256(manifest.encode(errors="surrogatepass")).hexdigest()
    return home / "joinery" / "manifests" / f"{digest[:32]}.json"


def _delete_unused(folder: Path) -> None:
    """Delete old copies. Each version of a DAG bundle is a folder with its own manifest, and so has its own copy."""
    newest_first = sorted(((_time(file), file) for file in folder.iterdir()), reverse=True)
    for number, (used, file) in enumerate(newest_first):
        if number >= _MOST_COPIES or used < time.time() - KEPT_S:
            file.unlink(missing_ok=True)


def _time(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:  # another process has just deleted or renamed it
        return 0.0

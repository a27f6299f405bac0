"""Pages that a task leaves for people: the report on its artifacts, and the driver's log."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from airflow.providers.common.compat.sdk import ObjectStoragePath

from spark_joinery.airflow.credentials import without_credentials
from spark_joinery.airflow.links import DriverLogLink, SkewReportLink

if TYPE_CHECKING:
    from spark_joinery.batch import BatchFolder

log = logging.getLogger(__name__)

# a driver that logs at DEBUG writes far more than people read
_LOG_BYTES = 10_000_000


@dataclass(frozen=True)
class Pages:
    """
    The directory that keeps pages.

    :param directory: path, or URI as ObjectStoragePath reads it
    :param url: address under which browsers find the directory; default: the directory itself
    :param shows_values: whether pages show values of the sources; if not, the report hides them, and there is no log
    """

    directory: str
    url: str | None = None
    shows_values: bool = False

    def keep(self, folder: BatchFolder, task: str) -> dict[str, str]:
        """
        Copy the pages of a batch.

        :param folder: of the batch
        :param task: which task, and which try of it, as a relative path
        :return: addresses by the name of their link; pages that are missing or cannot be written have none
        """
        texts = {(SkewReportLink().name, "report.html"): _content(folder.report).decode("utf-8", "replace")}
        # Spark's errors quote rows and conditions
        if self.shows_values:
            log_text = _content(folder.log)[-_LOG_BYTES:].decode("utf-8", "replace")
            # the name ends in .txt, so that a browser shows the log, from any server
            texts[DriverLogLink().name, "driver.log.txt"] = without_credentials(log_text)
        addresses = {}
        for (link, file), text in texts.items():
            if text:
                try:
                    self._write(f"{task}/{file}", text)
                    addresses[link] = self._address(f"{task}/{file}")
                except Exception as error:
                    # Clients of object stores raise errors of many types, as does a missing provider or connection.
                    # None of them may change the result of the refresh.
                    log.warning(
                        "%s is not kept, as %s/%s cannot be written (%s: %s): give the worker the right to, or name "
                        "another directory ('report_dir' in the connection's extra)",
                        link,
                        self.directory,
                        task,
                        type(error).__name__,
                        without_credentials(str(error)),
                    )
        return addresses

    def _write(self, name: str, text: str) -> None:
        parent = ObjectStoragePath(self.directory) if "://" in self.directory else Path(self.directory)
        path = parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _address(self, name: str) -> str:
        root = self.url or (self.directory if "://" in self.directory else Path(self.directory).absolute().as_uri())
        return f"{root.rstrip('/')}/{quote(name)}"


def task_path(context: Mapping[str, Any]) -> str:
    """
    Name the try of a task by a path.

    :param context: of the task instance
    :return: DAG, run, task and try, as a relative path that cannot lead out of its directory
    """
    ti = context["ti"]
    task = ti.task_id if ti.map_index < 0 else f"{ti.task_id}.{ti.map_index}"
    names = [ti.dag_id, ti.run_id, task, f"try-{ti.try_number}"]
    # ids may hold characters with a meaning in paths, such as ":" and "/"
    quoted = (quote(name, safe="").replace("%", "~") for name in names)
    return "/".join("~2E" * len(name) if set(name) == {"."} else name for name in quoted)


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""

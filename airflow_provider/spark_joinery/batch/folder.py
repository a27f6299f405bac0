"""The files by which a scheduler and a batch talk to each other."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from spark_joinery.batch.batch import Batch
from spark_joinery.batch.progress import Progress
from spark_joinery.metadata import ArtifactRequest


@dataclass(frozen=True)
class BatchFolder:
    """A folder of one batch, readable to its owner only, as settings may hold secrets.

    Attributes:
        path: The folder, on a disk that both sides share.

    Example:
        >>> folder = BatchFolder.create(Path("/data/runs/nightly-1"), Batch(requests))
        >>> folder.progress().state
        'starting'
    """

    path: Path

    @classmethod
    def create(cls, path: Path, batch: Batch) -> BatchFolder:
        """Make the folder and write the batch into it.

        Args:
            path: The folder; it must not exist yet.
            batch: What to do.

        Returns:
            The folder.

        Raises:
            OSError: If it exists or cannot be written.
        """
        path.mkdir(mode=0o700, parents=True)
        folder = cls(path)
        try:
            folder.write("batch.json", batch.to_json())
            folder.write("requests.json", json.dumps([request.to_dict() for request in batch.requests]))
            folder.write_progress(Progress())
            folder.look_after()
        except BaseException:  # such as a full disk
            folder.remove()
            raise
        return folder

    @property
    def log(self) -> Path:
        """What Spark's driver prints."""
        return self.path / "driver.log"

    @property
    def report(self) -> Path:
        """The report on what was refreshed, if the batch asked for one."""
        return self.path / "report.html"

    @property
    def settings(self) -> Path:
        """The settings that Spark is started with, if a program reads them from the folder."""
        return self.path / "spark.properties"

    def take_batch(self) -> Batch:
        """Read what to do, once: the files may hold secrets, and the folder of a run that was cancelled may stay."""
        file = self.path / "batch.json"
        batch = Batch.from_json(file.read_text(encoding="utf-8"))
        file.unlink()
        # who started this program has read them
        self.settings.unlink(missing_ok=True)
        return batch

    def requests(self) -> list[ArtifactRequest]:
        """What the batch was asked to refresh, which stays when the batch is taken.

        Returns:
            The requests, in the order of the results.
        """
        documents = json.loads((self.path / "requests.json").read_text(encoding="utf-8"))
        return [ArtifactRequest.from_dict(document) for document in documents]

    def progress(self) -> Progress:
        """Read how far the batch is.

        Returns:
            What it said last.

        Raises:
            FileNotFoundError: If the folder is not there, or not on a disk that this machine sees.
        """
        return Progress.from_json((self.path / "progress.json").read_text(encoding="utf-8"))

    def write_progress(self, progress: Progress) -> None:
        """Say how far the batch is; a reader sees the former state or this one, never half of it.

        Args:
            progress: How far it is.
        """
        self.write("progress.json", progress.to_json())

    def write(self, name: str, text: str) -> Path:
        """Replace a file of the folder.

        Args:
            name: Its name.
            text: Its content.

        Returns:
            The file, readable to its owner only.
        """
        target, temporary = self.path / name, self.path / f".{name}.{os.getpid()}"
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        return temporary.replace(target)

    def look_after(self) -> None:
        """Tell the batch that somebody waits for it."""
        (self.path / "watched").touch()

    def looked_after_at(self) -> float:
        """When somebody last did, by the clock of the folder's disk."""
        return (self.path / "watched").stat().st_mtime

    def send_heartbeat(self) -> None:
        """Tell whoever waits that the batch is alive."""
        (self.path / "alive").touch()

    def last_heartbeat(self) -> float:
        """When the batch last did, by the clock of the folder's disk; 0 if it never has."""
        try:
            return (self.path / "alive").stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def cancel(self) -> None:
        """Ask the batch to end at once; without its folder it does so anyway, a little later."""
        with contextlib.suppress(FileNotFoundError):
            (self.path / "cancel").touch()

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody asked for its end.

        Raises:
            OSError: If the disk does not say so.
        """
        return _exists(self.path / "cancel")

    @property
    def is_gone(self) -> bool:
        """Whether there is no folder: somebody has deleted it, or its disk is away for a moment.

        Raises:
            OSError: If the disk does not say so.
        """
        return not _exists(self.path)

    def log_tail(self, lines: int = 30) -> str:
        """The end of what Spark's driver has printed.

        Args:
            lines: How many at most.

        Returns:
            The lines; "" if there are none.
        """
        try:
            text = self.log.read_bytes()[-64_000:].decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def remove(self) -> None:
        """Delete the folder with all that is in it; a batch that still runs ends then."""
        shutil.rmtree(self.path, ignore_errors=True)


def _exists(path: Path) -> bool:
    """Whether a path exists. Newer Pythons' `Path.exists` takes every refusal of a disk for a no."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True

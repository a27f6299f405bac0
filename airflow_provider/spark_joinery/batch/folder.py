"""The files through which a scheduler and a batch talk to each other."""

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
        """The output of Spark's driver."""
        return self.path / "driver.log"

    @property
    def report(self) -> Path:
        """The report on the refreshed artifacts, if the batch asked for one."""
        return self.path / "report.html"

    @property
    def settings(self) -> Path:
        """The settings that Spark is started with, if a program reads them from the folder."""
        return self.path / "spark.properties"

    def take_batch(self) -> Batch:
        """Read the batch and delete its files: they may hold secrets, and the folder of a cancelled run may stay."""
        file = self.path / "batch.json"
        batch = Batch.from_json(file.read_text(encoding="utf-8"))
        file.unlink()
        # spark-submit has read them when it started this program
        self.settings.unlink(missing_ok=True)
        return batch

    def requests(self) -> list[ArtifactRequest]:
        """Read the requests of the batch, which stay after the batch is taken.

        Returns:
            The requests, in the order of the results.
        """
        documents = json.loads((self.path / "requests.json").read_text(encoding="utf-8"))
        return [ArtifactRequest.from_dict(document) for document in documents]

    def progress(self) -> Progress:
        """Read the progress of the batch.

        Returns:
            The progress that it wrote last.

        Raises:
            FileNotFoundError: If the folder is not there, or not on a disk that this machine sees.
        """
        return Progress.from_json((self.path / "progress.json").read_text(encoding="utf-8"))

    def write_progress(self, progress: Progress) -> None:
        """Write the progress of the batch; a reader sees the former state or this one, never half of it.

        Args:
            progress: The progress.
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
        """The time of the last `look_after`, by the clock of the folder's disk."""
        return (self.path / "watched").stat().st_mtime

    def send_heartbeat(self) -> None:
        """Show the scheduler that the batch is alive."""
        (self.path / "alive").touch()

    def last_heartbeat(self) -> float:
        """The time of the last heartbeat, by the clock of the folder's disk; 0 before the first one."""
        try:
            return (self.path / "alive").stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def cancel(self) -> None:
        """Ask the batch to end at once; a batch without its folder ends by itself, a little later."""
        with contextlib.suppress(FileNotFoundError):
            (self.path / "cancel").touch()

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody has asked the batch to end.

        Raises:
            OSError: If the disk cannot be read.
        """
        return _exists(self.path / "cancel")

    @property
    def is_gone(self) -> bool:
        """Whether the folder is missing: somebody has deleted it, or its disk is away for a moment.

        Raises:
            OSError: If the disk cannot be read.
        """
        return not _exists(self.path)

    def log_tail(self, lines: int = 30) -> str:
        """The end of the output of Spark's driver.

        Args:
            lines: The largest number of lines.

        Returns:
            The lines; "" if there are none.
        """
        try:
            text = self.log.read_bytes()[-64_000:].decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def remove(self) -> None:
        """Delete the folder and all its files; a batch that still runs then ends."""
        shutil.rmtree(self.path, ignore_errors=True)


def _exists(path: Path) -> bool:
    """Whether a path exists. `Path.exists` of newer Pythons returns False for any error of the disk."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True

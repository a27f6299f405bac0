"""What ends a batch, without Spark. (With Spark: tests/airflow/test_application.py.)"""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import pytest
from spark_joinery.batch import Batch, BatchFolder
from spark_joinery.jobs.batch import _Watch


class Ended(threading.Thread):
    """A watch that has to come to its end, with the reason that it gives."""

    def __init__(self, folder: BatchFolder, orphan_after_s: float) -> None:
        super().__init__(daemon=True)
        self.reason: str | None = None
        self._watch = _Watch(folder, orphan_after_s, self._end)

    def _end(self, reason: str) -> None:
        self.reason = reason
        raise SystemExit  # of this thread, as of the program

    def run(self) -> None:
        with contextlib.suppress(SystemExit):
            self._watch.run()


@pytest.fixture
def folder(tmp_path: Path) -> BatchFolder:
    return BatchFolder.create(tmp_path / "run", Batch([]))


def reason(folder: BatchFolder, orphan_after_s: float = 600.0) -> str | None:
    ended = Ended(folder, orphan_after_s)
    ended.start()
    ended.join(10)
    return ended.reason


def test_a_cancelled_batch_ends(folder: BatchFolder) -> None:
    folder.cancel()
    assert reason(folder) == "it was cancelled"


def test_a_batch_whose_folder_is_deleted_ends(folder: BatchFolder) -> None:
    folder.remove()
    assert reason(folder) == "it was cancelled"


def test_a_disk_that_refuses_everything_makes_an_orphan(tmp_path: Path) -> None:
    """Such as one that has become stale; here a name is too long, which `Path.exists` raises, too."""
    folder = BatchFolder(tmp_path / ("x" * 300))
    with pytest.raises(OSError, match="too long"):
        _ = folder.is_cancelled
    assert reason(folder, orphan_after_s=0.0) == "nobody has waited for it for 0 s"


def test_settings_are_gone_when_the_batch_is_taken(folder: BatchFolder) -> None:
    folder.write(folder.settings.name, "spark.hadoop.fs.s3a.secret.key=hunter2\n")
    assert folder.take_batch() == Batch([])
    assert {file.name for file in folder.path.iterdir()} == {"requests.json", "progress.json", "watched"}

"""The reasons that end a batch, without Spark. (With Spark: tests/airflow/test_application.py.)"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path

import pytest
from spark_joinery.batch import Batch, BatchFolder
from spark_joinery.jobs import RefreshResult
from spark_joinery.jobs.batch import _Run, _Watch


class Ended(threading.Thread):
    """A thread with a watch that has to end, and the reason that the watch gave."""

    def __init__(self, folder: BatchFolder, orphan_after_s: float) -> None:
        super().__init__(daemon=True)
        self.reason: str | None = None
        self._watch = _Watch(folder, orphan_after_s, self._end)

    def _end(self, reason: str) -> None:
        self.reason = reason
        raise SystemExit  # ends this thread, and in a batch the program

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


def test_a_folder_that_is_away_for_a_moment_ends_nothing(folder: BatchFolder, tmp_path: Path) -> None:
    """The folder may be on a network disk that is mounted again."""
    ended = Ended(folder, 600.0)
    ended.start()
    time.sleep(0.2)
    for _ in range(3):  # in total, the folder is missed more often than a deleted one
        folder.path.rename(tmp_path / "away")
        ended.join(1.2)
        (tmp_path / "away").rename(folder.path)
        ended.join(0.8)
        assert ended.reason is None
    folder.cancel()
    ended.join(10)
    assert ended.reason == "it was cancelled"


def test_results_are_written_once_the_folder_is_back(folder: BatchFolder, tmp_path: Path) -> None:
    run = _Run(folder)
    folder.path.rename(tmp_path / "away")
    run._result(RefreshResult("raw.t", "bloom_filter", "unchanged"))
    (tmp_path / "away").rename(folder.path)
    run._result(RefreshResult("raw.u", "bloom_filter", "unchanged"))
    assert [result["relation"] for result in folder.progress().results] == ["raw.t", "raw.u"]


def test_a_disk_that_refuses_everything_makes_an_orphan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that is too long stands in for a stale disk. Newer Pythons say that such a path does not exist."""
    monkeypatch.setattr(Path, "exists", os.path.exists)
    folder = BatchFolder(tmp_path / ("x" * 300))
    with pytest.raises(OSError, match="too long"):
        _ = folder.is_cancelled
    with pytest.raises(OSError, match="too long"):
        _ = folder.is_gone
    assert reason(folder, orphan_after_s=0.0) == "no task has waited for it for 0 s"


def test_settings_are_gone_when_the_batch_is_taken(folder: BatchFolder) -> None:
    folder.write(folder.settings.name, "spark.hadoop.fs.s3a.secret.key=hunter2\n")
    assert folder.take_batch() == Batch([])
    assert {file.name for file in folder.path.iterdir()} == {"requests.json", "progress.json", "watched"}

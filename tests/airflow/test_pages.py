"""The report pages that tasks write. (Pages of a real run: test_run.py.)"""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from spark_joinery.airflow.pages import Pages, task_path
from spark_joinery.batch import Batch, BatchFolder
from support.documentation import ROOT, blocks

pytestmark = pytest.mark.airflow


@pytest.fixture
def folder(tmp_path: Path) -> BatchFolder:
    """The folder of a batch that printed a password and made a report."""
    folder = BatchFolder.create(tmp_path / "run", Batch([]))
    folder.log.write_text("opening s3a://me:hunter2@bucket\n")
    folder.report.write_text("<p>名前</p>")
    return folder


def test_pages_are_kept_for_a_web_server(folder: BatchFolder, tmp_path: Path) -> None:
    pages = Pages(str(tmp_path / "pages"), "https://r.example.org/j/", shows_values=True)
    kept = pages.keep(folder, "dag/run~3a1/t/try-1")
    assert kept == {
        "Skew report": "https://r.example.org/j/dag/run~3a1/t/try-1/report.html",
        "Driver log": "https://r.example.org/j/dag/run~3a1/t/try-1/driver.log.txt",
    }
    place = tmp_path / "pages" / "dag" / "run~3a1" / "t" / "try-1"
    assert (place / "report.html").read_text() == "<p>名前</p>"
    assert (place / "driver.log.txt").read_text() == "opening s3a://***@bucket\n"


def test_a_log_quotes_values_so_none_is_beside_a_redacted_report(folder: BatchFolder, tmp_path: Path) -> None:
    assert set(Pages(str(tmp_path / "pages")).keep(folder, "t")) == {"Skew report"}
    assert [path.name for path in (tmp_path / "pages" / "t").iterdir()] == ["report.html"]


def test_a_long_log_loses_its_begin_and_a_long_report_nothing(folder: BatchFolder, tmp_path: Path) -> None:
    for file in (folder.log, folder.report):
        file.write_text("begin" + "x" * 10_000_000 + "end")
    Pages(str(tmp_path / "pages"), shows_values=True).keep(folder, "t")
    place = tmp_path / "pages" / "t"
    assert (place / "driver.log.txt").stat().st_size == 10_000_000
    assert (place / "report.html").read_text().startswith("begin")


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_without_an_address_the_place_is_linked(folder: BatchFolder, tmp_path: Path, scheme: str) -> None:
    folder.report.unlink()
    kept = Pages(f"{scheme}{tmp_path}/pages", shows_values=True).keep(folder, "d/r/t/try-1")
    assert kept == {"Driver log": f"file://{tmp_path}/pages/d/r/t/try-1/driver.log.txt"}


def test_a_place_that_cannot_be_written_costs_the_link_only(
    folder: BatchFolder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    assert Pages(str(tmp_path / "file")).keep(folder, "t") == {}
    assert "'report_dir' in the connection's extra" in caplog.text


@pytest.mark.parametrize("directory", ["s3://conn@bucket/x", "nosuchfs://bucket/x"])
def test_a_place_that_no_provider_knows_costs_the_link_only(
    folder: BatchFolder, directory: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert Pages(directory).keep(folder, "t") == {}
    assert f"Skew report is not kept, as {directory}/t cannot be written (" in caplog.text


@pytest.mark.parametrize(
    ("ids", "path"),
    [
        (
            ("d", "manual__2026-01-01T00:00:00+00:00", "g.t", -1),
            "d/manual__2026-01-01T00~3A00~3A00~2B00~3A00/g.t/try-2",
        ),
        (("d", "../../etc", "t", 3), "d/..~2F..~2Fetc/t.3/try-2"),
        (("d", "..", "t", -1), "d/~2E~2E/t/try-2"),
    ],
)
def test_no_id_leads_out_of_the_directory(ids: tuple[str, str, str, int], path: str) -> None:
    dag_id, run_id, task_id, index = ids
    ti: Any = SimpleNamespace(dag_id=dag_id, run_id=run_id, task_id=task_id, map_index=index, try_number=2)
    assert task_path({"ti": ti}) == path


def test_the_commands_of_the_page_delete_what_is_old(tmp_path: Path) -> None:
    (commands,) = (block.text for block in blocks(ROOT / "docs/reference/airflow.md", "sh") if "find " in block.text)
    now, day = time.time(), 86_400
    for run, age in (("old", 40 * day), ("mixed", 0), ("new", 0)):
        for attempt, file_age in (("try-1", max(age, 40 * day * (run == "mixed"))), ("try-2", age)):
            page = tmp_path / "dag" / run / "t" / attempt / "report.html"
            page.parent.mkdir(parents=True)
            page.touch()
            os.utime(page, (now - file_age, now - file_age))

    def clean() -> set[str]:
        script = commands.replace("/data/joinery-reports", shlex.quote(str(tmp_path)))
        subprocess.run(["sh", "-ec", script], check=True)
        for folder in filter(Path.is_dir, tmp_path.rglob("*")):
            os.utime(folder, (now - day, now - day))
        return {str(path.relative_to(tmp_path / "dag")) for path in tmp_path.rglob("try-*")}

    kept = {"mixed/t/try-2", "new/t/try-1", "new/t/try-2"}
    # a task may have just made an empty folder, so the commands leave young empty folders for the next day
    assert clean() > kept
    assert [clean() for _ in range(3)][-1] == kept
    assert not (tmp_path / "dag" / "old").exists()

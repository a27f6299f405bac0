"""`joinery report`, as a user runs it, and the small functions that write its figures."""

from __future__ import annotations

import datetime as dt
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from spark_joinery.cli import main
from spark_joinery.report import text, write
from spark_joinery.store import ArtifactStore
from support.html import parse


def joinery(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    quick = ("--conf", "spark.master=local[1]", "--conf", "spark.sql.session.timeZone=UTC")
    return subprocess.run(
        [sys.executable, "-c", "from spark_joinery.cli import main; main()", "report", *arguments, *quick],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
    )


def test_a_page_is_written_and_nothing_else(store: ArtifactStore, tmp_path: Path) -> None:
    done = joinery(tmp_path, "--store", store.root, "--select", "flights")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("joinery-report.html: 1 artifact, ")
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    page = parse(file.read_text(encoding="utf-8"))
    assert page.article("carrier, ordered by departs_at").all("table")[0].rows()[1][0] == "UA"


def test_a_redacted_page_is_for_everybody(store: ArtifactStore, tmp_path: Path) -> None:
    done = joinery(tmp_path, "--store", store.root, "--redact", "--output", "skew.html")
    assert done.returncode == 0, done.stderr
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "skew.html").stat().st_mode) == 0o666 & ~umask
    assert "UA" not in (tmp_path / "skew.html").read_text(encoding="utf-8")


def test_an_empty_store_and_a_wrong_name(tmp_path: Path) -> None:
    done = joinery(tmp_path, "--store", str(tmp_path / "store"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "joinery-report.html: the store is empty; `joinery refresh` fills it\n"


def test_no_folder_for_the_page_is_known_at_once(tmp_path: Path) -> None:
    refused = CliRunner().invoke(main, ["report", "--output", str(tmp_path / "gone" / "page.html")])
    assert refused.exit_code == 2
    assert f"cannot be written: there is no folder {tmp_path}/gone." in refused.output


def test_a_page_that_cannot_be_written_leaves_the_former_one(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    write("former", file, private=True)
    with pytest.raises(UnicodeEncodeError):
        write("\ud800", file, private=True)
    assert file.read_text() == "former"
    assert list(tmp_path.iterdir()) == [file]


def test_figures() -> None:
    assert [text.percent(share) for share in (0, 0.00001, 0.0123, 0.1, 0.3456, 1)] == [
        "0.0 %",
        "< 0.01 %",
        "1.23 %",
        "10.0 %",
        "34.6 %",
        "100.0 %",
    ]
    assert [text.size(count) for count in (0, 999, 1500, 123_456, 10**9, 10**15)] == [
        "0 B",
        "999 B",
        "1.5 KB",
        "123 KB",
        "1.0 GB",
        "1,000.0 TB",
    ]
    assert [text.compact(value) for value in (0, 0.25, -9999, 20_000, 1.5e6, 1735689600)] == [
        "0",
        "0.25",
        "-9999",
        "20 k",
        "1.5 M",
        "1.7356896 G",
    ]
    assert [text.number(value) for value in (1234567, 1234.5)] == ["1,234,567", "1.23e+03"]


def test_ages() -> None:
    now = dt.datetime(2026, 1, 3, tzinfo=dt.timezone.utc)
    passed = [dt.timedelta(seconds=59), dt.timedelta(minutes=1), dt.timedelta(hours=23), dt.timedelta(days=1200)]
    assert [text.age(now - one, now) for one in passed] == ["< 1 minute", "1 minute", "23 hours", "1,200 days"]
    assert text.age(now + dt.timedelta(hours=1), now) == "< 1 minute"
    assert text.age(None, now) == "unknown"

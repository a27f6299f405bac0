"""`joinery report` as a user runs it, and the small functions that write its figures."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from spark_joinery import text
from spark_joinery.cause import one_line
from spark_joinery.cli import main
from spark_joinery.report import text as values
from spark_joinery.report import write
from spark_joinery.store import ArtifactStore
from support.html import parse

# Runs several commands in one process, because most of the time goes into starting a JVM.
COMMANDS = """
import sys
from spark_joinery.cli import main

for command in sys.argv[1:]:
    try:
        main(["report", *command.split()])
    except SystemExit as end:
        print("exit code", end.code, flush=True)
"""


def joinery(folder: Path, *commands: str) -> str:
    """Run `joinery report` once with each of these options; returns all output."""
    confs = "--conf spark.master=local[1] --conf spark.sql.session.timeZone=UTC"
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, *(f"{command} {confs}" for command in commands)],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_pages_are_written_and_nothing_else(
    store: ArtifactStore, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shown = joinery(
        tmp_path,
        f"--store {store.root} --select flights",
        f"--store {store.root} --redact --output redacted.html",
        f"--store {tmp_path_factory.mktemp('store')} --output empty.html",
        f"--store {store.root} --select fights",
        "",
        "--store nosuchfs://box/store",
        f"--store {tmp_path}/mistyped",
    )
    names = ["joinery-report.html", "redacted.html", "empty.html"]
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(names)
    full, redacted, empty = (parse((tmp_path / name).read_text(encoding="utf-8")) for name in names)

    assert "joinery-report.html: 1 artifact, " in shown
    assert full.article("carrier, ordered by departs_at").all("table")[0].rows()[1][0] == "UA"
    assert "redacted.html: 5 artifacts, " in shown
    assert "UA" not in redacted.source
    assert "empty.html: the store is empty; `joinery refresh` fills it\n" in shown
    assert "The store is empty" in empty.source
    assert f"Error: Nothing in {store.root} is named 'fights'." in shown
    assert "Error: No artifact store is named: give --store, or set spark.joinery.store." in shown
    assert "Error: The artifact store cannot be used: UnsupportedFileSystemException: No FileSystem for scheme" in shown
    assert f"Error: file:{tmp_path}/mistyped does not exist; `joinery refresh` creates it." in shown
    assert [line for line in shown.splitlines() if line.startswith("exit code")] == [
        f"exit code {code}" for code in (0, 0, 0, 2, 2, 2, 2)
    ]

    # only the owner may read pages that show values of the source
    umask = os.umask(0)
    os.umask(umask)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in names]
    assert modes == [0o600, 0o666 & ~umask, 0o600]


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
    assert [values.percent(share) for share in (0, 0.00001, 0.0123, 0.1, 0.3456, 1)] == [
        "0.0 %",
        "< 0.01 %",
        "1.23 %",
        "10.0 %",
        "34.6 %",
        "100.0 %",
    ]
    assert [text.size(count) for count in (None, 0, 1023, 1536, 123_456, 2**30, 2**50)] == [
        "-",
        "0 B",
        "1023 B",
        "1.5 KiB",
        "120.6 KiB",
        "1.0 GiB",
        "1,024.0 TiB",
    ]
    assert [values.compact(value) for value in (0, 0.25, -9999, 20_000, 1.5e6, 1735689600)] == [
        "0",
        "0.25",
        "-9999",
        "20 k",
        "1.5 M",
        "1.7356896 G",
    ]
    assert [text.number(value) for value in (None, 1234567, 1234.5)] == ["-", "1,234,567", "1.23e+03"]


def test_ages() -> None:
    passed = [59, 150, 23 * 3600, 26 * 3600, 1200 * 86400]
    assert [text.age(seconds) for seconds in passed] == ["59 s", "2 min", "23 h", "26 h", "1,200 d"]
    assert text.age(-3600) == "0 s"
    assert text.age(None) == "-"


def test_errors_in_one_line() -> None:
    assert one_line(ValueError("\n what\n\tat java.lang.Thread")) == "what"
    assert one_line(ValueError(" ")) == one_line(ValueError()) == "ValueError"

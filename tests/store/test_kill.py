"""Refreshes killed at every step, by SIGKILL, in a process of their own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from spark_joinery.store import open_store

ARTIFACT = ("distribution", "spark_catalog.raw.flights", "0123456789abcdef")

# One JVM, started for the first order and then shared; each order is run by a fork that kills itself at the step named.
# A step is a call that changes the file system: the process dies before it is made.
SERVER = textwrap.dedent(
    """
    import os, signal, sys
    from pathlib import Path
    from pyspark.java_gateway import launch_gateway
    from spark_joinery.store import ArtifactStore, HadoopFileSystem, Limits

    class Mortal(HadoopFileSystem):
        left = 0
        def __getattribute__(self, name):
            if name in ("make_folder", "_write", "_rename_over", "delete"):
                if self.left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                self.left -= 1
            return super().__getattribute__(name)

    root, artifact = sys.argv[1], tuple(sys.argv[2:5])
    jvm = launch_gateway().jvm
    for line in sys.stdin:
        steps, content = line.split()
        child = os.fork()
        if child == 0:
            store = ArtifactStore(root, Mortal(jvm, jvm.org.apache.hadoop.conf.Configuration()), Limits(3, 0, 0))
            store.filesystem.left = int(steps)
            pending = store.begin(*artifact)
            data = Path(pending.data_path.removeprefix("file:"))
            data.mkdir()
            (data / "part-0.parquet").write_text(content)
            store.publish(pending, {"type": "none", "reason": "test", "files": []})
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    """
)


@pytest.fixture
def server(spark: SparkSession, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", SERVER, str(tmp_path / "store"), *ARTIFACT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def test_a_killed_refresh_leaves_the_old_version_current(
    spark: SparkSession, server: subprocess.Popen[str], tmp_path: Path
) -> None:
    def refresh(steps: int, content: str) -> int:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(f"{steps} {content}\n")
        server.stdin.flush()
        return int(server.stdout.readline())

    def current() -> str:
        lookup = open_store(spark, str(tmp_path / "store")).current(*ARTIFACT)
        assert lookup.version is not None
        assert lookup.reason is None
        return Path(lookup.version.data_path.removeprefix("file:"), "part-0.parquet").read_text()

    assert refresh(-1, "old") == 0
    expected, codes = [], []
    for steps in range(40):  # beyond the publication there is one step for each leftover to delete
        codes.append(refresh(steps, f"new{steps}"))
        expected.append(current())
        if codes[-1] == 0:
            break
    published = next(i for i, content in enumerate(expected) if content != "old")
    # killed before: two folders, version.json (write, rename), _current.json (write, rename)
    assert published == 6
    assert codes[:published] == [-9] * published
    assert codes[-1] == 0
    assert expected[published:] == [f"new{i}" for i in range(published, len(expected))]

    assert refresh(-1, "last") == 0
    folder = tmp_path.joinpath("store", *ARTIFACT)
    assert sorted(path.name for path in folder.iterdir()) == ["_current.json", "versions"]
    versions = list((folder / "versions").iterdir())
    assert len(versions) == 3
    assert all((version / "version.json").exists() for version in versions)

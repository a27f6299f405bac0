"""A store on the file systems of Spark's JVM and on those of pyarrow, in this process and in others."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from spark_joinery.store import ArrowFileSystem, FileSystem, HadoopFileSystem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TESTS = Path(__file__).parents[1]


@pytest.fixture(params=["hadoop", "arrow"])
def way(request: pytest.FixtureRequest) -> str:
    """The kind of file systems that reach the store."""
    return str(request.param)


@pytest.fixture
def filesystem(request: pytest.FixtureRequest, way: str) -> FileSystem:
    """The file systems of Spark's JVM, or those of pyarrow."""
    if way == "arrow":
        return ArrowFileSystem()
    spark: SparkSession = request.getfixturevalue("spark")
    return HadoopFileSystem.of_session(spark)


class Worker:
    """A process of `support.store_worker`."""

    def __init__(self, way: str, root: Path, environment: dict[str, str], prefix: Sequence[str] = ()) -> None:
        command = [*prefix, sys.executable, "-m", "support.store_worker", way, str(root)]
        path = os.pathsep.join([str(TESTS), *sys.path])
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path, **environment},
        )

    def send(self, do: str, **order: Any) -> None:
        """Send an order to the process."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"do": do, **order}) + "\n")
        self.process.stdin.flush()

    def is_done(self) -> bool:
        """Whether an answer is ready, or the process has ended."""
        return bool(select.select([self.process.stdout], [], [], 0)[0])

    def answer(self) -> dict[str, Any]:
        """Wait for the answer to the oldest order."""
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def __call__(self, do: str, **order: Any) -> dict[str, Any]:
        self.send(do, **order)
        return self.answer()


@pytest.fixture
def worker(request: pytest.FixtureRequest, way: str) -> Iterator[Callable[[Path], Worker]]:
    """Start processes that work on a store; all share the JVM of the session."""
    environment = {}
    if way == "hadoop":
        spark: SparkSession = request.getfixturevalue("spark")
        parameters = spark.sparkContext._gateway.gateway_parameters  # type: ignore[union-attr]
        environment = {"PYSPARK_GATEWAY_PORT": str(parameters.port), "PYSPARK_GATEWAY_SECRET": parameters.auth_token}
    with ExitStack() as stack:

        def start(root: Path) -> Worker:
            started = Worker(way, root, environment)
            stack.enter_context(started.process)
            assert started.process.stdin is not None
            stack.callback(started.process.stdin.close)
            return started

        yield start

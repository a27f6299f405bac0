"""Spark servers started from pyspark's own jars, with Joinery loaded."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from spark_joinery import jar_path
from spark_joinery.jar import EXTENSION

START_SECONDS = 240  # far more than a quiet machine needs


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def server(folder: Path, main_class: str, port: int, confs: dict[str, str]) -> Iterator[None]:
    """Run a Spark server with Joinery until the block ends; its log is ``server.log`` in the folder."""
    settings = {
        "spark.jars": str(jar_path()),
        "spark.sql.extensions": EXTENSION,
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        **confs,
    }
    command = [str(Path(sys.executable).parent / "spark-submit"), "--master", "local[2]", "--class", main_class]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    log = folder / "server.log"
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, "spark-internal"],
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
    try:
        wait_for(port, process, log)
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the server has ended:\n{log.read_text()[-4000:]}"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.5)
    pytest.fail(f"nothing listens on port {port} after {START_SECONDS} s:\n{log.read_text()[-4000:]}")

"""Starts Spark servers from pyspark's own jars, with Joinery loaded."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
    command = [spark_program("spark-submit"), "--master", "local[2]", "--class", main_class]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    with running([*command, "spark-internal"], folder, port, "server.log"):
        yield


@contextmanager
def standalone_cluster(folder: Path, workers: int = 1) -> Iterator[str]:
    """Run a master, and workers with a core each in `work-0` and so on, until the block ends; yields the URL."""
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    spark_class = spark_program("spark-class")
    master = [spark_class, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port)]
    with ExitStack() as started:
        started.enter_context(running([*master, "--webui-port", str(free_port())], folder, port, "master.log"))
        for number in range(workers):
            worker_port = free_port()
            worker = [spark_class, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1"]
            worker += ["--port", str(worker_port), "--webui-port", str(free_port()), "--cores", "1", "--memory", "1g"]
            worker += ["--work-dir", str(folder / f"work-{number}"), url]
            started.enter_context(running(worker, folder, worker_port, f"worker-{number}.log"))
        yield url


def spark_program(name: str) -> str:
    """The path of a program of the installed pyspark."""
    return str(Path(sys.executable).parent / name)


@contextmanager
def running(command: list[str], folder: Path, port: int, log_name: str) -> Iterator[None]:
    """Run a program that listens on a port until the block ends."""
    log = folder / log_name
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
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

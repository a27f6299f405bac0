"""Peak memory of one query in a separate JVM: `python -m benchmarks.last_join.heap '<request as JSON>'`."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.common.cores import MIB, POLLING, execution_memory
from benchmarks.common.spark import Spark, operators, register, session, stock
from benchmarks.last_join.data import Shape, tables
from benchmarks.report import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAUSE = 0.25  # seconds between collections, or as long as the last one took
WARM_UP = 0.001  # scale


@dataclass(frozen=True)
class Peak:
    """The memory of a query at its peak.

    Args:
        live: MiB of heap in use right after a forced full collection, above what the idle session holds.
        execution: MiB of Spark's execution memory in use, over all tasks, at the worst moment of any stage.
        samples: Collections that were forced while the query ran.
        operators: Joinery's operators in its plan.
    """

    live: float
    execution: float
    samples: int
    operators: list[str]


def peak(shape: Shape, sql: str, joinery: bool) -> Peak:
    """Run a query in a new JVM and sample its memory.

    Args:
        shape: The shape of the tables.
        sql: The query.
        joinery: Whether Joinery is on.

    Raises:
        RuntimeError: The process failed.
    """
    tables(shape)  # made here, so that the process only reads them
    request = json.dumps({"shape": asdict(shape), "sql": sql, "joinery": joinery})
    command = [sys.executable, "-m", "benchmarks.last_join.heap", request]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f"no peak memory of {sql}: {process.stderr[-2000:]}")
    return Peak(**json.loads(process.stdout.splitlines()[-1]))


class Sampler:
    """Context manager that forces collections in a thread, and keeps the largest figure."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        self._collect = jvm.java.lang.System.gc
        self._heap = jvm.java.lang.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage
        self._done = threading.Event()
        self.live = 0.0
        self.samples = 0

    def live_now(self) -> float:
        """MiB of heap that a full collection leaves."""
        self._collect()
        return float(self._heap().getUsed() / MIB)

    def __enter__(self) -> Sampler:
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _sample(self) -> None:
        pause = PAUSE
        while not self._done.wait(pause):
            start = time.monotonic()
            self.live = max(self.live, self.live_now())
            self.samples += 1
            pause = max(PAUSE, time.monotonic() - start)


def _serve(request: dict[str, Any]) -> None:
    spark = session(POLLING)
    settings = {} if request["joinery"] else stock(spark)
    shape = Shape(**request["shape"])
    register(spark, tables(shape.scaled(WARM_UP)))
    Spark(spark, request["sql"], settings).answer()
    register(spark, tables(shape))
    sampler = Sampler(spark)
    idle = min(sampler.live_now() for _ in range(3))
    with sampler:
        query = Spark(spark, request["sql"], settings)
        run = query.answer()
    execution = execution_memory(spark, query.group)
    print(json.dumps(asdict(Peak(sampler.live - idle, execution, sampler.samples, operators(run.plan)))))
    spark.stop()


if __name__ == "__main__":
    _serve(json.loads(sys.argv[1]))

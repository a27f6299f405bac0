"""A cost model of a point-in-time join on a cluster, fitted on one to four executors and tried at a size held out.

`python -m benchmarks.cluster EXECUTORS SCALE` measures one number of executors, each a JVM of its own with one core.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

import numpy as np

from benchmarks.common.cores import CORES, tasks
from benchmarks.common.spark import Spark, operators, register, session
from benchmarks.last_join import queries as q
from benchmarks.last_join.data import Shape, tables
from benchmarks.last_join.point_in_time import QUESTION
from benchmarks.report import ROOT, Result, Section

EXECUTORS = (1, 2, 3, 4)
MILLIONS = (0.5, 1, 2)
HELD_OUT = 4
BROADCAST = "BROADCAST"
WIDTHS = ("", "64", "200")  # the number that Joinery chooses, and others
WARM_UP, ROUNDS = 2, 3
EXCHANGE = re.compile(r"hashpartitioning\(.*?, (\d+)\)")
SIZE = re.compile(r"([\d.]+) ([KMG]?)i?B")
MIB = {"": 2**-20, "K": 2**-10, "M": 1.0, "G": 2.0**10}
TERMS = (
    "query", "million rows of both sides on a core", "thousand blocks (map tasks x partitions) on a core",
    "MiB sent to an executor by broadcasts", "million rows in the last, uneven wave of tasks",
)  # fmt: skip


@dataclass(frozen=True)
class Ran:
    """One query on a number of executors.

    Args:
        executors: Their number. Each has one core; more than `CORES` of them share the machine's cores.
        millions: Rows of each side.
        way: The hint, or the requested number of partitions.
        map_tasks: Tasks that wrote into shuffles.
        partitions: Partitions of each shuffle; 0 without a shuffle.
        sent: MiB of the broadcast index.
        seconds: Median.
    """

    executors: int
    millions: float
    way: str
    map_tasks: int
    partitions: int
    sent: float
    seconds: float

    def terms(self) -> list[float]:
        """How often each of `TERMS` counts."""
        cores = min(self.executors, CORES)
        each = 2 * self.millions / max(self.map_tasks, 1)  # of rows, for a task that reads a file
        waves = -(-self.map_tasks // self.executors) * self.executors - self.map_tasks
        blocks = self.map_tasks * self.partitions / 1000
        return [1.0, 2 * self.millions / cores, blocks / cores, self.sent * self.executors, each * waves / cores]


def fitted(runs: Sequence[Ran]) -> np.ndarray:
    """Seconds for each of `TERMS`, none below 0: the least squares of relative errors.

    Args:
        runs: The runs to fit.
    """
    weights = np.array([1 / run.seconds for run in runs])
    all_terms = np.array([run.terms() for run in runs]) * weights[:, None]
    kept = list(range(len(TERMS)))
    while True:
        found, *_ = np.linalg.lstsq(all_terms[:, kept], np.ones(len(runs)), rcond=None)
        if (found >= 0).all():
            costs = np.zeros(len(TERMS))
            costs[kept] = found
            return costs
        del kept[int(found.argmin())]


def run(scale: float = 1) -> Result:
    """Measure and fit.

    Args:
        scale: Scale of the rows.

    Returns:
        The costs, and predicted next to measured seconds at the size held out.
    """
    runs = [ran for executors in EXECUTORS for ran in _in_a_process(executors, scale)]
    known = [ran for ran in runs if ran.millions < HELD_OUT * scale]
    unknown = [ran for ran in runs if ran.millions >= HELD_OUT * scale]
    costs = fitted(known)
    errors = {True: _errors(known, costs), False: _errors(unknown, costs)}
    return Result(
        case="cluster",
        title="A cost model of a point-in-time join on one to four executors",
        columns=["executors", "rows of each side", "way", "map tasks", "partitions", "sent, MiB", "measured, s",
                 "model, s", "error"],
        rows=[_row(ran, costs) for ran in unknown],
        verdict=f"at {HELD_OUT:g} M rows, held out: median error {statistics.median(errors[False]):.0%}, largest "
        f"{max(errors[False]):.0%}; where it was fitted {statistics.median(errors[True]):.0%} and "
        f"{max(errors[True]):.0%}",
        met=True,
        sections=[
            Section("What a query costs by the model", ["a", "seconds"],
                    [[name, f"{cost:.4f}"] for name, cost in zip(TERMS, costs, strict=True)]),
            Section("Measured and fitted", ["executors", "rows of each side", "way", "map tasks", "partitions",
                                            "sent, MiB", "measured, s", "model, s", "error"],
                    [_row(ran, costs) for ran in known]),
        ],
        notes=[
            f"local-cluster of so many executors with one core each, on {CORES} cores: more executors than cores wait "
            f"for each other. Medians of {ROUNDS} runs after {WARM_UP}. Spark's defaults, but for the number of "
            "partitions where a row has one.",
            "The model adds up its five terms, fitted by least squares of relative errors with no term below 0. It "
            "knows no network: all executors are on one machine.",
        ],
        data={"runs": [asdict(ran) for ran in runs], "costs": dict(zip(TERMS, map(float, costs), strict=True))},
    )  # fmt: skip


def _errors(runs: Sequence[Ran], costs: np.ndarray) -> list[float]:
    return [abs(float(costs @ run.terms()) / run.seconds - 1) for run in runs]


def _row(run: Ran, costs: np.ndarray) -> list[str]:
    model = float(costs @ run.terms())
    return [
        str(run.executors), f"{run.millions:g} M", run.way, str(run.map_tasks), str(run.partitions), f"{run.sent:.0f}",
        f"{run.seconds:.2f}", f"{model:.2f}", f"{model / run.seconds - 1:+.0%}",
    ]  # fmt: skip


def _in_a_process(executors: int, scale: float) -> Iterator[Ran]:
    command = [sys.executable, "-m", "benchmarks.cluster", str(executors), str(scale)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f"{executors} executors: {process.stderr[-2000:]}")
    for values in json.loads(process.stdout.splitlines()[-1]):
        yield Ran(*values)


def _serve(executors: int, scale: float) -> None:
    spark = session({"spark.master": f"local-cluster[{executors},1,2048]", "spark.executor.memory": "2g"})
    found = []
    for millions in (*MILLIONS, HELD_OUT):
        rows = int(millions * scale * 1_000_000)
        register(spark, tables(Shape("as_of", rows, max(rows // 100, 1))))
        for way in (*WIDTHS, BROADCAST):
            found.append(_measured(spark, executors, rows / 1e6, way))
    spark.stop()
    print(json.dumps([astuple(ran) for ran in found]), flush=True)


def _measured(spark: Any, executors: int, millions: float, way: str) -> Ran:
    sql = q.last_join(QUESTION, BROADCAST if way == BROADCAST else "SHUFFLE_HASH")
    settings = {"spark.sql.shuffle.partitions": way} if way.isdecimal() else {}
    query = Spark(spark, sql, settings, watch="BroadcastExchange")
    runs = [query.answer() for _ in range(WARM_UP + ROUNDS)][WARM_UP:]
    last = runs[-1]
    if not operators(last.plan):
        raise RuntimeError(f"{way or 'the default'} ran without an operator of Joinery's")
    partitions = [int(number) for number in EXCHANGE.findall(last.plan)]
    ran = tasks(spark, query.group)
    answer = max(task.stage for task in ran)
    sent = SIZE.search(last.metrics.get("data size", ""))
    return Ran(
        executors, millions, way or "Joinery's number",
        sum(task.stage != answer for task in ran), max(partitions, default=0),
        float(sent[1]) * MIB[sent[2]] if sent else 0.0,
        statistics.median(run.seconds for run in runs),
    )  # fmt: skip


if __name__ == "__main__":
    _serve(int(sys.argv[1]), float(sys.argv[2]))

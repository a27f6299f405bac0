"""Spark's figures of the tasks of a query that ran, and the time in which cores were idle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CORES = 2
MIB = 2**20
POLLING = {"spark.executor.metrics.pollingInterval": "10ms"}  # the setting that `execution_memory` needs


def idle_tail(spans: list[tuple[float, float]]) -> float:
    """The share of a run, at its end, in which not every core has a task.

    Args:
        spans: Launch and finish of each task, all in the same unit.

    Returns:
        A share, from 0 to 1, of the time between the first launch and the last finish.

    Example:
        >>> idle_tail([(0, 10), (0, 8)])
        0.2
    """
    start, end = min(a for a, _ in spans), max(b for _, b in spans)
    ends = sorted((b for _, b in spans), reverse=True)
    last_busy = ends[CORES - 1] if len(ends) >= CORES else start
    return (end - last_busy) / (end - start) if end > start else 0.0


@dataclass(frozen=True)
class Task:
    """One task that ran.

    Args:
        stage: The stage of the task. The stage with the largest number in a query computes the answer.
        launched: Milliseconds since 1970.
        ended: Milliseconds since 1970, too.
        cpu_s: Seconds of a core that it used.
        peak_memory: Bytes of execution memory that its operators say they held.
    """

    stage: int
    launched: float
    ended: float
    cpu_s: float
    peak_memory: int

    @property
    def seconds(self) -> float:
        """From launch to end."""
        return (self.ended - self.launched) / 1000


def tasks(spark: SparkSession, group: str) -> list[Task]:
    """The tasks of a job group.

    Args:
        spark: The session it ran in.
        group: Its name.
    """
    store = spark._jsc.sc().statusStore()
    found = []
    for stage, attempt in stages(spark, group):
        listed = store.taskList(stage, attempt, 100_000)
        for task in (listed.apply(i) for i in range(listed.size())):
            launched = task.launchTime().getTime()
            metrics = task.taskMetrics().get()
            found.append(
                Task(
                    stage=stage,
                    launched=launched,
                    ended=launched + task.duration().get(),
                    cpu_s=metrics.executorCpuTime() / 1e9,
                    peak_memory=metrics.peakExecutionMemory(),
                )
            )
    return found


def stages(spark: SparkSession, group: str) -> list[tuple[int, int]]:
    """The stages of a job group that ran.

    Args:
        spark: The session it ran in.
        group: Its name.

    Returns:
        Stage and attempt.
    """
    spark._jsc.sc().listenerBus().waitUntilEmpty()
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    infos = {stage: tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds}
    # a stage without tasks was skipped, because its shuffle existed
    return [(stage, info.currentAttemptId) for stage, info in infos.items() if info and info.numCompletedTasks]


def execution_memory(spark: SparkSession, group: str) -> float:
    """The most MiB of execution memory that all tasks held together, at any moment of any stage of a job group.

    Args:
        spark: The session it ran in, with the setting `POLLING`.
        group: Its name.
    """
    store = spark._jsc.sc().statusStore()
    peaks = [store.lastStageAttempt(stage).peakExecutorMetrics() for stage, _ in stages(spark, group)]
    pools = ("OnHeapExecutionMemory", "OffHeapExecutionMemory")
    held = [[float(peak.get().getMetricValue(pool)) for pool in pools] for peak in peaks if peak.isDefined()]
    return max(sum(pools) / MIB for pools in held)

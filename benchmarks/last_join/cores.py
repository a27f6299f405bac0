"""How long cores stood idle while a query ran, from the launch and finish times of its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CORES = 2


def idle_tail(spans: list[tuple[float, float]]) -> float:
    """The share of a run, at its end, in which not every core has a task.

    Args:
        spans: Launch and finish of each task, in any one unit.

    Returns:
        From 0 to 1, of the time from the first launch to the last finish.

    Example:
        >>> idle_tail([(0, 10), (0, 8)])
        0.2
    """
    start, end = min(a for a, _ in spans), max(b for _, b in spans)
    ends = sorted((b for _, b in spans), reverse=True)
    last_busy = ends[CORES - 1] if len(ends) >= CORES else start
    return (end - last_busy) / (end - start) if end > start else 0.0


def task_spans(spark: SparkSession, group: str) -> list[tuple[float, float]]:
    """Launch and finish of each task of a job group.

    Args:
        spark: The session it ran in.
        group: Its name.

    Returns:
        Pairs of milliseconds since 1970.
    """
    store = spark._jsc.sc().statusStore()
    spans = []
    for stage, attempt in stages(spark, group):
        tasks = store.taskList(stage, attempt, 100_000)
        for i in range(tasks.size()):
            task = tasks.apply(i)
            launched = task.launchTime().getTime()
            spans.append((launched, launched + task.duration().get()))
    return spans


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
    # no task of its own: skipped, because its shuffle was there already
    return [(stage, info.currentAttemptId) for stage, info in infos.items() if info and info.numCompletedTasks]

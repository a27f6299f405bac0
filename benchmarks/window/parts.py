"""A hot key in 1, 2, 4 and 8 parts: the cost of each part, and a prediction for more cores than this machine has."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.common.cores import CORES, Task, tasks
from benchmarks.common.spark import Spark
from benchmarks.report import Section
from benchmarks.window import queries as q

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COPIES = "CopyRows"  # the operator that sends each row to the parts that need it
PARTS = (1, 2, 4, 8)
ROUNDS = 5
PREDICTED_CORES = (16, 64)
PREDICTED_PARTS = (1, 4, 16, 64)


@dataclass(frozen=True)
class Split:
    """The times of a run with the hot key in a number of parts.

    Args:
        parts: The number in the hint; 1 forbids a split.
        wall_s: Seconds of the query.
        longest_s: The longest task of the stage with the window.
        window_s: All tasks of that stage.
        before_s: All tasks of the stages before.
        cpu_s: Seconds of a core that all tasks used.
        metrics: The metrics of the operator that copies rows, if there is one.
    """

    parts: int
    wall_s: float
    longest_s: float
    window_s: float
    before_s: float
    cpu_s: float
    metrics: Mapping[str, str]

    @staticmethod
    def of(parts: int, wall_s: float, ran: Sequence[Task], metrics: Mapping[str, str]) -> Split:
        """The figures of one run from its tasks."""
        last = max(task.stage for task in ran)
        window = [task.seconds for task in ran if task.stage == last]
        before = [task.seconds for task in ran if task.stage != last]
        cpu_s = sum(task.cpu_s for task in ran)
        return Split(parts, wall_s, max(window), sum(window), sum(before), cpu_s, metrics)


@dataclass(frozen=True)
class Model:
    """The time of a query by its number of parts and cores.

    Args:
        driver_s: Time in which no core works: planning, and starting jobs.
        before_s: Work of the stages before the window, without a split.
        sample_s: Work that a split adds to them: the sample, and finding the part of each row.
        repeated_s: Time of the task of each part of the hot key, for any number of rows.
        divisible_s: Work of the hot key that parts share.
        window_s: Work of the window's stage, for all keys, that does not depend on the number of parts.
        each_s: Work that each part adds to that stage.
    """

    driver_s: float
    before_s: float
    sample_s: float
    repeated_s: float
    divisible_s: float
    window_s: float
    each_s: float

    @staticmethod
    def fit(runs: Sequence[Split]) -> Model:
        """Fit a model to runs, by least squares, with no cost below 0.

        Args:
            runs: Runs on `CORES` cores, the first without a split.
        """
        parts = [float(run.parts) for run in runs]
        repeated, divisible = _line([1 / count for count in parts], [run.longest_s for run in runs])
        window, each = _line(parts, [run.window_s for run in runs])
        before = runs[0].before_s
        sample = max(statistics.mean(run.before_s for run in runs[1:]) - before, 0.0)
        model = Model(0.0, before, sample, repeated, divisible, window, each)
        driver = statistics.mean(run.wall_s - model.wall_s(run.parts, CORES) for run in runs)
        return replace(model, driver_s=max(driver, 0.0))

    def longest_s(self, parts: int) -> float:
        """Seconds of the task of one part."""
        return self.repeated_s + self.divisible_s / parts

    def wall_s(self, parts: int, cores: int) -> float:
        """Seconds of the query. A stage takes at least its work over all cores, and at least its longest task."""
        window = self.window_s + parts * self.each_s
        before = self.before_s + (self.sample_s if parts > 1 else 0.0)
        return self.driver_s + before / cores + max(self.longest_s(parts), window / cores)

    def error(self, runs: Sequence[Split]) -> float:
        """The largest relative error of query times and longest tasks, over runs on `CORES` cores."""
        walls = [abs(self.wall_s(run.parts, CORES) / run.wall_s - 1) for run in runs]
        return max(*walls, *(abs(self.longest_s(run.parts) / run.longest_s - 1) for run in runs))


def measure(spark: SparkSession, question: q.Question, rounds: int = ROUNDS) -> list[Split]:
    """Run the query in each number of parts, in turn.

    Args:
        spark: The session, with `t` registered.
        question: The question.
        rounds: The number of rounds.

    Returns:
        Medians by number of parts.
    """
    runs: dict[int, list[Split]] = {parts: [] for parts in PARTS}
    for round_ in range(rounds):
        for parts in PARTS if round_ % 2 == 0 else reversed(PARTS):
            query = Spark(spark, q.window(question, f"SKEW_WINDOW({parts})"), watch=COPIES)
            run = query.answer()
            runs[parts].append(Split.of(parts, run.seconds, tasks(spark, query.group), run.metrics))
    return [_median(splits) for splits in runs.values()]


def section(runs: Sequence[Split], model: Model) -> Section:
    """The table of measured times, next to the times of the fitted model.

    Args:
        runs: Runs in the order of their number of parts, from 1.
        model: The model that was fitted to them.
    """
    measured = [
        [
            str(run.parts), f"{run.wall_s:.2f}", f"{run.longest_s:.2f}", f"{run.longest_s / runs[0].longest_s:.2f}",
            f"{run.cpu_s:.2f}", f"{run.cpu_s / runs[0].cpu_s - 1:+.0%}",
            run.metrics.get("number of copied rows", ""),
            f"{model.wall_s(run.parts, CORES):.2f}", f"{model.longest_s(run.parts):.2f}",
        ]
        for run in runs
    ]  # fmt: skip
    columns = [
        "parts", "wall, s", "longest task, s", "of unsplit", "CPU, s", "extra CPU", "copied rows",
        "model: wall, s", "model: longest task, s",
    ]  # fmt: skip
    return Section(f"The hot key in parts, {CORES} cores", columns, measured)


def prediction(model: Model) -> Section:
    """The table of the model's times on more cores than this machine has."""
    predicted = [
        [f"{model.wall_s(parts, cores):.2f}" for cores in PREDICTED_CORES] + [f"{model.longest_s(parts):.2f}"]
        for parts in PREDICTED_PARTS
    ]
    return Section(
        "Predicted by the model, not measured",
        ["parts", *(f"wall on {cores} cores, s" for cores in PREDICTED_CORES), "longest task, s"],
        [[str(parts), *figures] for parts, figures in zip(PREDICTED_PARTS, predicted, strict=True)],
    )


def note(runs: Sequence[Split], model: Model) -> str:
    """The model in words, with its error."""
    return (
        f"Model, fitted to the medians of the rounds: a task of one of p parts of the hot key takes "
        f"{model.repeated_s:.2f} s + {model.divisible_s:.2f} s / p; all tasks of its stage "
        f"{model.window_s:.2f} s + {model.each_s:.2f} s * p; the stages before {model.before_s:.2f} s, a split adds "
        f"{model.sample_s:.2f} s; the driver {model.driver_s:.2f} s. A stage takes its work / cores, or its longest "
        f"task. Largest error on these runs {model.error(runs):.0%}. Predictions know of no limit but cores: no "
        "network, no files too few."
    )


def _median(splits: Sequence[Split]) -> Split:
    """The median of each figure. The metrics are those of the last run, because they do not vary."""
    names = ("wall_s", "longest_s", "window_s", "before_s", "cpu_s")
    figures = {name: statistics.median(getattr(split, name) for split in splits) for name in names}
    return replace(splits[-1], **figures)


def _line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Intercept and slope, neither below 0, of the line with the least squares."""
    slope, intercept = np.polyfit(x, y, 1)
    if intercept < 0:
        return 0.0, float(np.dot(x, y) / np.dot(x, x))
    if slope < 0:
        return statistics.mean(y), 0.0
    return float(intercept), float(slope)

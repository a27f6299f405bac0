"""The cost model of a cluster finds the costs behind given runs, and one query runs on a real cluster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.cluster import EXECUTORS, TERMS, Ran, _in_a_process, fitted

COSTS = np.array([0.3, 0.5, 0.1, 0.002, 0.4])


def runs(costs: np.ndarray) -> list[Ran]:
    """Runs that take exactly the time of their terms' costs."""
    made = [
        Ran(executors, millions, "", map_tasks, partitions, sent, 0.0)
        for executors in EXECUTORS
        for millions in (1.0, 2.0, 5.0)
        for map_tasks, partitions, sent in ((16, 8, 0.0), (15, 200, 0.0), (8, 0, 40.0))
    ]
    return [replace(run, seconds=float(costs @ run.terms())) for run in made]


def test_the_model_finds_what_runs_were_made_of() -> None:
    assert fitted(runs(COSTS)) == pytest.approx(COSTS)


def test_no_cost_is_below_0() -> None:
    costs = fitted([replace(run, seconds=run.seconds + 1 / (1 + run.sent)) for run in runs(COSTS)])
    assert len(costs) == len(TERMS)
    assert (costs >= 0).all()


def test_tasks_of_an_uneven_wave_cost_a_core_that_waits() -> None:
    even, uneven = (Ran(2, 4.0, "", map_tasks, 8, 0.0, 1.0).terms()[-1] for map_tasks in (8, 7))
    assert (even, uneven) == (0, 8 / 7 / 2)


@pytest.mark.soak
def test_queries_run_on_a_cluster() -> None:
    ran = list(_in_a_process(1, 0.002))
    assert {run.way for run in ran} == {"Joinery's number", "64", "200", "BROADCAST"}
    assert all((run.sent > 0) == (run.way == "BROADCAST") == (run.partitions == 0) for run in ran)
    assert all(run.map_tasks and run.seconds for run in ran)

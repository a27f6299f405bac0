"""Finds the operators of Joinery that computed an answer, and their forms, in the final plan and its metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame

NAMES = re.compile(
    r"\b(BroadcastLastJoin|ShuffledHashLastJoin|SortMergeLastJoin|TimeSlice|CarryOver|LastRowPerKey|AfterRight"
    r"|SlidingWindow|BroadcastRangeJoin|ShuffledRangeJoin|StoredRangeIndex|joinery_might_contain)\b"
)
# All operators and forms, as `forms_of` names them.
FORMS = (
    "AfterRight",
    "BroadcastLastJoin",
    "BroadcastRangeJoin (generated)",
    "BroadcastRangeJoin (read twice)",
    "CarryOver",
    "LAST JOIN cut by a stored distribution",
    "LAST JOIN cut by time",
    "LAST JOIN split on the left",
    "LastRowPerKey",
    "ShuffledHashLastJoin (in memory)",
    "ShuffledHashLastJoin (spilled)",
    "ShuffledRangeJoin (in parts)",
    "ShuffledRangeJoin (one index)",
    "SlidingWindow (indexed)",
    "SlidingWindow (spilled)",
    "SlidingWindow cut by a sample",
    "SlidingWindow cut by a stored distribution",
    "SortMergeLastJoin (in memory)",
    "SortMergeLastJoin (spilled)",
    "StoredRangeIndex",
    "joinery_might_contain",
)
WINDOW_PARTS = re.compile(r"CopyRows .*, \d+ parts by (a sample|the distribution)")


def forms_of(frame: DataFrame) -> tuple[list[str], str]:
    """Find operators and forms.

    Args:
        frame: A DataFrame on which an action has run.

    Returns:
        The forms, each once, and the final plan.
    """
    executed = frame._jdf.queryExecution().executedPlan()
    plan, initial = final_and_initial(str(executed.toString()))
    names = set(NAMES.findall(plan))
    if "AfterRight" in initial:  # the final plan lacks it once the right side is there
        names.add("AfterRight")
    forms = names - {"ShuffledHashLastJoin", "SortMergeLastJoin", "SlidingWindow", "TimeSlice"}
    forms -= {"BroadcastRangeJoin", "ShuffledRangeJoin"}
    if names - forms:
        for node in _nodes(executed):
            forms.update(_forms(node, str(node.nodeName()), names))
        if "TimeSlice" in names and "cut by the distribution" in plan:
            forms.add("LAST JOIN cut by a stored distribution")
    for source in WINDOW_PARTS.findall(plan):
        forms.add(
            "SlidingWindow cut by a sample" if source == "a sample" else "SlidingWindow cut by a stored distribution"
        )
    return sorted(forms), plan


def final_and_initial(text: str) -> tuple[str, str]:
    """Split a plan into the final plans, which ran, and the initial ones. Adaptive subqueries have both, too.

    Args:
        text: A plan with its subqueries.
    """
    final, initial, depth = [], [], None
    for line in text.splitlines():
        at = len(line) - len(line.lstrip(" :"))  # the tree's lines are drawn with blanks and colons
        if depth is not None and at <= depth:
            depth = None
        if depth is None and line[at:].startswith("+- == Initial Plan =="):
            depth = at
        (final if depth is None else initial).append(line)
    return "\n".join(final), "\n".join(initial)


def _forms(node: Any, name: str, names: set[str]) -> Iterator[str]:
    if name in ("ShuffledHashLastJoin", "SortMergeLastJoin"):
        yield f"{name} (spilled)" if _metric(node, "spillSize") > 0 else f"{name} (in memory)"
        if node.isSplit():
            yield "LAST JOIN cut by time" if "TimeSlice" in names else "LAST JOIN split on the left"
    elif name == "BroadcastRangeJoin":
        yield f"{name} (generated)" if node.supportCodegen() else f"{name} (read twice)"
    elif name == "ShuffledRangeJoin":
        yield f"{name} (in parts)" if _metric(node, "tasksInParts") > 0 else f"{name} (one index)"
    elif name == "SlidingWindow":
        yield f"{name} (spilled)" if _metric(node, "spillSize") > 0 else f"{name} (indexed)"


def _nodes(plan: Any) -> Iterator[Any]:
    """The nodes of a plan and of its stages."""
    kind = str(plan.getClass().getSimpleName())
    if kind == "AdaptiveSparkPlanExec":
        yield from _nodes(plan.executedPlan())
    elif kind.endswith("QueryStageExec"):
        yield from _nodes(plan.plan())
    elif kind != "ReusedExchangeExec":
        yield plan
        children = plan.children()
        for i in range(children.size()):
            yield from _nodes(children.apply(i))


def _metric(node: Any, name: str) -> int:
    found = node.metrics().get(name)
    return int(found.get().value()) if found.isDefined() else 0

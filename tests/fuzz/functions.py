"""Functions of queries. The module imports little, because each Python process after a failed task imports it."""

from __future__ import annotations

from pyspark import TaskContext


def flaky(_: int) -> bool:
    """Fail once amid the rows of some tasks. Only few do, as each then needs a process that takes a second to start."""
    task = TaskContext.get()
    if task is not None and task.attemptNumber() == 0 and task.partitionId() in (0, 2, 4, 8):
        raise RuntimeError("this task fails once")
    return True


def is_int(text: str | None) -> bool:
    """Whether a text can be cast to INT, to guard such a cast."""
    return text is not None and text.isascii() and text.isdecimal() and len(text) < 10

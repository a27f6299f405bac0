"""What makes tasks fail once, in a module that imports little: the process after a failure imports it anew."""

from __future__ import annotations

from pyspark import TaskContext


def flaky(_: int) -> bool:
    """Fail once in the midst of the rows of a few tasks: the process that each needs then takes a second to start."""
    task = TaskContext.get()
    if task is not None and task.attemptNumber() == 0 and task.partitionId() in (0, 2, 4, 8):
        raise RuntimeError("this task fails once")
    return True

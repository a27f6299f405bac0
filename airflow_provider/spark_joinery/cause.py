"""The cause of an error in one line: Spark's errors come wrapped in errors of py4j, its scheduler and its tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spark_joinery.text import printable

SPARK_IS_GONE = (
    "Spark's JVM has ended while it was needed: it was killed, perhaps for want of memory, or has crashed. Its log or "
    "the kernel's (dmesg) tells why; give the machine fewer jobs at once, or Spark less memory"
)
HOW_TO_INSTALL_SPARK = "pyspark is not installed: pip install 'spark-joinery[spark]'."
_LONGEST = 600
_LOST_TASK = re.compile(r"most recent failure: Lost task .*? \(TID \d+\) \([^)]*\): (.*)")
_CLASS = re.compile(r"^\(?((?:[a-z_]\w*\.)+)([A-Z][\w$]*)\)?(?::\s*|\s+|$)")
_WRAPPERS = (
    "An error occurred while calling",
    "Job aborted",
    "[TASK_WRITE_FAILED]",
    "Task failed while writing rows",
    "Exception thrown in awaitResult",
    "Could not execute broadcast",
)
# the message of these errors says everything
_SPARK_S_OWN = re.compile(r"^Spark\w*Exception$")


def one_line(error: BaseException) -> str:
    """Say what caused an error.

    Args:
        error: Any error. The text of Spark's, classic or Spark Connect, may hold causes, plans and stack traces.

    Returns:
        The failure and, if it differs, the innermost cause, without line breaks.

    Example:
        >>> one_line(RuntimeError("[FAILED_READ_FILE] a.csv\\n\\tat x\\nCaused by: java.io.IOException: No such disk"))
        '[FAILED_READ_FILE] a.csv: IOException: No such disk'
    """
    if is_gone(error):
        return SPARK_IS_GONE
    text = printable(str(error).strip())
    found = [cause for line in _causes(text) if (cause := _plain(line)) and not cause.startswith(_WRAPPERS)]
    if not found:
        return next(iter(text.splitlines()), type(error).__name__)[:_LONGEST]
    first, last = found[0], found[-1]
    said = first if last.partition(": ")[2] in first or last in first else f"{first}: {last}"
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}..."


def refusal(error: Exception) -> str:
    """Say why a file system refused. Errors of libraries for object stores may lack a number, and so the number's text.

    Args:
        error: Any error of a file system.

    Example:
        >>> refusal(PermissionError("Access Denied"))
        'Access Denied'
    """
    number_s_text = error.strerror if isinstance(error, OSError) else None
    return printable(number_s_text or next(iter(str(error).strip().splitlines()), type(error).__name__))


def is_gone(error: BaseException) -> bool:
    """Whether an error says that Spark's JVM does not answer any more.

    Args:
        error: An error of a call into a JVM.

    Returns:
        True for lost connections, and for errors of py4j that hold no error of Java.
    """
    if isinstance(error, ConnectionError):
        return True
    name = f"{type(error).__module__}.{type(error).__name__}"
    if name == "py4j.protocol.Py4JNetworkError":
        return True
    # py4j adds Java's trace if the JVM itself says that a call is impossible
    return name == "py4j.protocol.Py4JError" and "Trace:" not in str(error)


def is_spark_missing(error: BaseException) -> bool:
    """Whether an error says that pyspark, which is an extra of this package, is not installed.

    Args:
        error: Any error.
    """
    return isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in ("pyspark", "py4j")


def _causes(text: str) -> Iterator[str]:
    """The errors in a text, from the outermost to the innermost."""
    for number, line in enumerate(text.splitlines()):
        if lost := _LOST_TASK.search(line):
            yield lost[1]
        elif line.startswith("Caused by: "):
            yield line.removeprefix("Caused by: ")
        elif line.startswith(": "):  # where py4j begins with Java's own text
            yield line.removeprefix(": ")
        elif number == 0:
            yield line


def _plain(line: str) -> str:
    """An error without the package of its class, and without the class if that says nothing."""
    match = _CLASS.match(line)
    if match is None:
        return line.strip()
    rest = line[match.end() :].strip()
    return rest if rest and _SPARK_S_OWN.match(match[2]) else f"{match[2]}: {rest}" if rest else match[2]

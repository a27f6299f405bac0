"""Which jars there are: `make test` builds those of three Spark lines, `make soak` those of all."""

from __future__ import annotations

import pyspark
from spark_joinery import jar_path
from spark_joinery.errors import JarNotFoundError
from spark_joinery.jar import supported_versions


def other_lines() -> list[str]:
    """The Spark lines that have a jar here, but for that of the installed pyspark."""
    return [line for line in supported_versions() if not pyspark.__version__.startswith(line) and _is_built(line)]


def _is_built(line: str) -> bool:
    try:
        return jar_path(line).exists()
    except JarNotFoundError:
        return False

"""The jars that exist here: `make test` builds jars for three Spark lines, `make soak` for all."""

from __future__ import annotations

import pyspark
from spark_joinery import jar_path
from spark_joinery.errors import JarNotFoundError
from spark_joinery.jar import supported_versions


def other_lines() -> list[str]:
    """The Spark lines that have a jar here, except the line of the installed pyspark."""
    return [line for line in supported_versions() if not pyspark.__version__.startswith(line) and _is_built(line)]


def _is_built(line: str) -> bool:
    try:
        return jar_path(line).exists()
    except JarNotFoundError:
        return False

"""The path of the jar, and the settings by which a Spark session loads it."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_joinery.errors import JarNotFoundError, JoineryWarning, UnsupportedSparkError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXTENSION = "io.github.sparkjoinery.JoineryExtensions"

_PACKAGE = Path(__file__).resolve().parent
# the root of the source tree, if this is an editable installation
_CHECKOUT = _PACKAGE.parent.parent


def supported_versions() -> dict[str, dict[str, str]]:
    """Read the Spark lines that jars are built for.

    Returns:
        From line (``"4.3"``) to its entry in ``spark-versions.json``, the default line first.
    """
    # The wheel carries a copy; in a checkout the build's own file is the only one.
    packaged = _PACKAGE / "spark-versions.json"
    listed = json.loads((packaged if packaged.exists() else _CHECKOUT / "jvm/spark-versions.json").read_text())
    return dict(sorted(listed["versions"].items(), key=lambda entry: entry[0] != listed["default"]))


def jar_path(spark_version: str | None = None) -> Path:
    """Find the jar for a version of Spark.

    Args:
        spark_version: Such as ``"4.3.0"`` or ``"4.3"``; the installed pyspark's by default.

    Returns:
        The absolute path of the jar inside this package.

    Raises:
        UnsupportedSparkError: There is no jar for this version, or no version is given and pyspark is not installed.
        JarNotFoundError: This is a checkout in which the jar has not been built.

    Example:
        >>> jar_path("4.3").name
        'spark-joinery-4.3_2.13-0.1.0.jar'
    """
    asked = spark_version or _installed_spark()
    lines = supported_versions()
    found = re.match(r"\d+\.\d+", asked)
    line = found.group() if found else asked
    if line not in lines:
        raise UnsupportedSparkError(
            f"Joinery has no jar for Spark {asked}. Supported: {', '.join(lines)}. "
            f'Install one of them (pip install "pyspark=={next(iter(lines))}.*"), or a release of spark-joinery '
            f"that supports Spark {line}. Without a jar, the dbt macros still work: in portable mode "
            "(var joinery_mode: auto or portable), they render plain Spark SQL."
        )
    scala = lines[line]["scala"].rpartition(".")[0]
    jar = _PACKAGE / "jars" / f"spark-joinery-{line}_{scala}-{version('spark-joinery')}.jar"
    if not jar.exists():
        built_here = (_CHECKOUT / "jvm/pom.xml").exists()
        remedy = "run `make jar` (all versions: `make jars`)" if built_here else "install spark-joinery again"
        raise JarNotFoundError(f"The Joinery jar for Spark {line}, {jar.name}, is missing: {remedy}.")
    return jar


def configure_spark(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Make the session that a builder creates load Joinery.

    Joinery's jar and extension class are appended to the ones that the builder, ``spark-submit`` or
    ``spark-defaults.conf`` already name, so that Delta Lake or Iceberg stay loaded. Both are static settings:
    they only take effect on the first session of a process.

    A client cannot give a remote Spark Connect server a jar. The builder is returned unchanged for ``sc://``
    addresses, with a `JoineryWarning` that says how to start the server.

    Args:
        builder: A ``SparkSession.builder``, configured or not.

    Returns:
        The same builder.

    Raises:
        UnsupportedSparkError: There is no jar for the installed pyspark.
        JarNotFoundError: This is a checkout in which the jar has not been built.

    Example:
        >>> spark = configure_spark(SparkSession.builder.master("local[2]")).getOrCreate()
        >>> spark.sql("SELECT joinery_version()").first()
    """
    options: dict[str, Any] = builder._options
    remote = str(options.get("spark.remote") or os.environ.get("SPARK_REMOTE", ""))
    # This process itself starts the Connect server of "local[2]", with the builder's options.
    if remote and not remote.startswith("local"):
        warnings.warn(
            f"The Spark Connect server at {remote} must load Joinery itself: start it with "
            f"--jars <the file named by spark_joinery.jar_path()> --conf spark.sql.extensions={EXTENSION}. "
            "Nothing was added to this builder.",
            JoineryWarning,
            stacklevel=2,
        )
        return builder
    for key, value in settings_with_joinery(options).items():
        builder.config(key, value)
    return builder


def settings_with_joinery(settings: Mapping[str, Any], *, of_new_process: bool = False) -> dict[str, str]:
    """Find the settings that load Joinery in addition to the present jars and extensions.

    Args:
        settings: The settings that a session will be started with.
        of_new_process: Whether the session gets a process of its own, to which this one's settings do not apply.

    Returns:
        `spark.jars` and `spark.sql.extensions`: the values of the settings, else of `spark-submit` or
        `spark-defaults.conf`, with Joinery's appended.

    Raises:
        UnsupportedSparkError: There is no jar for the installed pyspark.
        JarNotFoundError: This is a checkout in which the jar has not been built.

    Example:
        >>> settings_with_joinery({"spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension"})
    """
    outside = of_defaults if of_new_process else inherited
    jar, loaded = jar_path(), {}
    for key, spellings in (("spark.jars", (str(jar), jar.as_uri())), ("spark.sql.extensions", (EXTENSION,))):
        present = [item.strip() for item in str(settings.get(key) or outside(key)).split(",") if item.strip()]
        is_there = any(spelling in present for spelling in spellings)
        loaded[key] = ",".join(present if is_there else [*present, spellings[0]])
    return loaded


def _installed_spark() -> str:
    try:
        import pyspark
    except ImportError as error:
        raise UnsupportedSparkError(
            "pyspark is not installed, so there is no Spark version to find a jar for: install it "
            f"({', '.join(supported_versions())}), or name the version, as in jar_path({min(supported_versions())!r})."
        ) from error
    return pyspark.__version__


def inherited(key: str) -> str:
    """Read a setting from outside the program; the builder's own would replace it rather than extend it.

    Args:
        key: The setting's name.

    Returns:
        The value from `spark-submit`, else from `spark-defaults.conf`; "" without either.
    """
    from pyspark import SparkConf, SparkContext

    # Only if a JVM runs already: starting one here would fix its memory before the builder's settings are known.
    if SparkContext._jvm is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()  # connects to the JVM of spark-submit
        return SparkConf().get(key, "") or ""
    return of_defaults(key)


def of_defaults(key: str) -> str:
    """Read a setting of `spark-defaults.conf`.

    Args:
        key: The setting's name.

    Returns:
        The value in the file; "" if there is no file, or it does not have the setting.
    """
    from pyspark.find_spark_home import _find_spark_home

    folder = os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home(), "conf")
    defaults = Path(folder, "spark-defaults.conf")
    # The file is read as Spark does: in UTF-8 under any locale, and a backslash at the end of a line joins it with the
    # next one, unless it is a comment.
    text = defaults.read_text(encoding="utf-8", errors="replace") if defaults.is_file() else ""
    told = re.sub(r"^[ \t\f]*[#!].*$", "", text, flags=re.MULTILINE)
    lines = re.sub(r"(?<!\\)\\\n[ \t\f]*", "", told).splitlines()
    entries = [re.split(r"\s*[=:\s]\s*", line.strip(), maxsplit=1) for line in lines]
    return next((entry[1] for entry in reversed(entries) if len(entry) == 2 and entry[0] == key), "")

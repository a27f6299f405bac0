"""`joinery doctor`: is everything in place to run Joinery here?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from spark_joinery.cause import HOW_TO_INSTALL_SPARK, is_spark_missing, one_line
from spark_joinery.cli.advice import PARTITIONS, partitions_advice
from spark_joinery.cli.dbt_mode import ask_dbt
from spark_joinery.cli.opened_store import opened_store, require_folder
from spark_joinery.cli.options import (
    CannotStartError,
    cell,
    conf_option,
    json_option,
    show_json,
    store_option,
)
from spark_joinery.cli.session import spark_session
from spark_joinery.errors import JoineryError
from spark_joinery.jar import jar_path, supported_versions
from spark_joinery.loaded import is_loaded, misfit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_joinery.store import ArtifactStore

# The oldest Java that Spark runs on, by the first number of its version.
OLDEST_JAVA = {"3": 8, "4": 17}


@dataclass(frozen=True)
class Check:
    """One line of the report: ``info`` neither passes nor fails."""

    name: str
    status: Literal["ok", "info", "fail"]
    detail: str


@click.command()
@store_option
@conf_option
@click.option(
    "--project-dir",
    type=click.Path(path_type=Path),
    help="Folder of a dbt project: also check the session of its profile, and say which mode its macros render in.",
)
@json_option
def doctor(store: str | None, confs: dict[str, str], project_dir: Path | None, as_json: bool) -> None:
    """Check Java, Spark, the jar, the artifact store and a dbt project, and name a setting that costs time.

    The exit code is 0 if nothing fails, else 1.
    """
    checks = [*check_programs(), *check_session(confs, store, with_advice=project_dir is None)]
    if project_dir is not None:
        checks.extend(check_project(project_dir, confs))
    healthy = all(check.status != "fail" for check in checks)
    if as_json:
        show_json({"ok": healthy, "checks": [asdict(check) for check in checks]})
    else:
        print_table(checks)
    sys.exit(0 if healthy else 1)


def check_programs() -> list[Check]:
    """Check what can be seen without starting Spark.

    Returns:
        The state of Java and pyspark, and the versions of the optional companions.
    """
    return [
        _check("Java", _java),
        _check("pyspark", _pyspark),
        *(
            Check(package, "info", _version_or_none(package) or "not installed")
            for package in ("dbt-core", "dbt-spark", "apache-airflow")
        ),
    ]


def check_session(confs: dict[str, str], store: str | None, *, with_advice: bool = True) -> list[Check]:
    """Check what only a running session can tell.

    Args:
        confs: Spark settings of the session.
        store: The artifact store, or None to use the session's own, if it has one.
        with_advice: True to name a setting that costs time; False where the advice is about a project's session.

    Returns:
        Which jar fits the session's Spark, whether it is loaded, whether the store can be reached, and what setting
        costs time.
    """
    from spark_joinery.store import open_store

    try:
        with spark_session(confs) as spark:
            root = store or spark.conf.get("spark.joinery.store", None)
            checks = [_check("jar", lambda: str(jar_path(spark.version))), check_jar(spark)]
            if root:
                checks.append(_check("store", lambda: _reach_store(open_store(spark, root))))
            if with_advice:
                checks += _advise(str(spark.conf.get(PARTITIONS)))
            return checks
    except Exception as error:
        detail = HOW_TO_INSTALL_SPARK if is_spark_missing(error) else one_line(error)
        return [
            _check("jar", lambda: str(jar_path())),  # for the installed pyspark, as there is no session to ask
            Check("jar loaded", "fail", f"no Spark session: {detail}"),
        ]


def check_jar(spark: SparkSession) -> Check:
    """Check that a session has loaded the jar, and that the jar fits its Spark.

    Args:
        spark: The session.

    Returns:
        The version of the jar, or why it is not in use.
    """
    return _check("jar loaded", lambda: _loaded_version(spark))


def check_project(project_dir: Path, confs: dict[str, str]) -> list[Check]:
    """Check the session of a dbt project, which is not the session that this command starts.

    Args:
        project_dir: Folder of `dbt_project.yml`.
        confs: Spark settings, in case the project's store needs Spark.

    Returns:
        The mode that the macros render in and the reason for it, the project's store, and a setting that costs time;
        or the fault that dbt reports.
    """
    folder = project_dir.resolve()
    try:
        session = ask_dbt(folder)
    except Exception as error:
        return [_failure("dbt project", error)]
    checks = [Check("dbt project", "ok", session.mode)]
    if store := session.settings.get("spark.joinery.store"):
        # a path without a scheme is relative to the folder of the project, as dbt runs there
        checks.append(check_project_store(store if ":" in store else str(folder / store), confs))
    if partitions := session.settings.get(PARTITIONS):
        checks += _advise(partitions)
    return checks


def check_project_store(store: str, confs: dict[str, str]) -> Check:
    """Check a store that may wait for its first refresh.

    Args:
        store: Its root.
        confs: Spark settings, in case Spark is needed.

    Returns:
        The kinds of artifact in it; or that it does not exist, which is no failure; or why it cannot be used.
    """
    name = "project's store"
    try:
        with opened_store(store, confs, is_required=False) as opened:
            if opened.store.filesystem.status(opened.store.root) is None:
                return Check(name, "info", f"{opened.store.root} does not exist yet; `joinery refresh` creates it.")
            return _check(name, lambda: _reach_store(opened.store))
    except Exception as error:
        return _failure(name, error)


def _advise(partitions: str) -> list[Check]:
    advice = partitions_advice(int(partitions))
    return [Check("settings", "info", advice)] if advice else []


def print_table(checks: list[Check]) -> None:
    """Print the report for people.

    Args:
        checks: The lines, in order.
    """
    from rich.console import Console
    from rich.table import Column, Table

    marks = {"ok": cell("ok", "green"), "info": cell("-", "dim"), "fail": cell("FAIL", "bold red")}
    table = Table("check", "", Column("detail", overflow="fold"))
    for check in checks:
        table.add_row(cell(check.name), marks[check.status], cell(check.detail))
    Console().print(table)


def _check(name: str, probe: Callable[[], str]) -> Check:
    try:
        return Check(name, "ok", probe())
    except Exception as error:  # a doctor reports every fault of a machine
        return _failure(name, error)


def _failure(name: str, error: Exception) -> Check:
    is_plain = isinstance(error, JoineryError | CannotStartError)
    return Check(name, "fail", str(error) if is_plain else one_line(error))


def _java() -> str:
    oldest = OLDEST_JAVA.get((_version_or_none("pyspark") or "").partition(".")[0], max(OLDEST_JAVA.values()))
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if program is None or not Path(program).exists():
        where = f"JAVA_HOME, {home}" if home else "PATH"
        raise JoineryError(f"No java in {where}: install a JDK {oldest} or newer.")
    output = subprocess.run([program, "-version"], capture_output=True, text=True, check=True).stderr
    found = re.search(r'version "(?:1\.)?(\d+)([^"]*)"', output)
    if found is None or int(found.group(1)) < oldest:
        raise JoineryError(f"{program} is {one_line(Exception(output))}: Spark needs Java {oldest} or newer.")
    return f"{found.group(1)}{found.group(2)} ({program})"


def _pyspark() -> str:
    installed = _version_or_none("pyspark")
    if installed is None:
        raise JoineryError(HOW_TO_INSTALL_SPARK)
    jar_lines = supported_versions()
    if ".".join(installed.split(".")[:2]) not in jar_lines:
        raise JoineryError(f"{installed} is not supported; supported: {', '.join(jar_lines)}.")
    return installed


def _version_or_none(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _loaded_version(spark: SparkSession) -> str:
    if why := misfit(spark):
        raise JoineryError(why)
    if not is_loaded(spark):
        raise JoineryError("The session runs without the extension: another session was first, or the jar is not read.")
    row = spark.sql("SELECT joinery_version()").first()
    assert row is not None
    return str(row[0])


def _reach_store(store: ArtifactStore) -> str:
    """List a store that must be there."""
    require_folder(store)
    kinds = [status.name for status in store.filesystem.list(store.root) if status.is_folder]
    return f"{store.root}: {', '.join(kinds) or 'empty'}"

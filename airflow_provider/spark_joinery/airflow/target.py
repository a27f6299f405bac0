"""The Spark that jobs run on: only this module knows the ways of starting it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, get_args

from airflow.providers.common.compat.sdk import AirflowFailException

from spark_joinery.batch import BatchFolder

DeployMode = Literal["client", "cluster"]

DEFAULT_MASTER = "local[*]"
CONNECT_SCHEME = "sc://"


@dataclass(frozen=True)
class SparkTarget:
    """
    A Spark that can run a batch: embedded, on a cluster by ``spark-submit``, or a Spark Connect server.

    :param master: ``local[...]``, ``spark://...``, ``yarn``, ``k8s://...`` or ``sc://...``
    :param deploy_mode: whether the driver runs on the worker ("client") or in the cluster ("cluster")
    :param spark_submit: path of the program; default: in ``SPARK_HOME``, else in the installed pyspark, else on PATH
    :param options: further options of ``spark-submit``, such as ``--queue``
    :param confs: Spark settings
    """

    master: str = DEFAULT_MASTER
    deploy_mode: DeployMode = "client"
    spark_submit: str | None = None
    options: tuple[str, ...] = ()
    confs: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.deploy_mode not in get_args(DeployMode):
            raise AirflowFailException(f"deploy mode is '{self.deploy_mode}', expected 'client' or 'cluster'")
        if self.deploy_mode == "cluster" and not self.master.startswith(("yarn", "k8s://")):
            raise AirflowFailException(
                f"deploy mode is 'cluster', but the Spark master is '{self.master}': Spark runs Python drivers in the "
                "cluster with yarn and k8s:// only; set it to 'client'"
            )

    @property
    def is_connect(self) -> bool:
        """Whether it is a Spark Connect server."""
        return self.master.startswith(CONNECT_SCHEME)

    @property
    def is_local(self) -> bool:
        """Whether Spark runs on the worker as a whole."""
        return self.master.startswith("local")

    @property
    def session_confs(self) -> dict[str, str]:
        """Settings that the program gives its session: none if ``spark-submit`` has them, all for a Connect server."""
        return {**self.confs, "spark.remote": self.master} if self.is_connect else {}

    def command(self, folder: BatchFolder) -> list[str]:
        """
        Say how to start the program that runs a batch.

        Settings may hold secrets, so they are in a file: all users of the machine can see a command line.

        :param folder: of the batch
        :return: program and arguments
        :raises AirflowFailException: if there is no ``spark-submit``
        """
        if self.is_connect:
            return [sys.executable, "-m", "spark_joinery.jobs.batch", str(folder.path)]
        return [
            self._program(),
            *("--master", self.master),
            *("--deploy-mode", self.deploy_mode),
            *("--name", "joinery"),
            *("--properties-file", str(folder.settings)),
            "--load-spark-defaults",
            *self.options,
            str(Path(__file__).parents[1] / "jobs" / "batch.py"),
            str(folder.path),
        ]

    def prepare(self, folder: BatchFolder) -> None:
        """
        Write the settings into the folder of the batch.

        :param folder: of the batch
        """
        if not self.is_connect:
            confs = {**self.confs, **_jar_of_joinery(self)}
            folder.write(
                folder.settings.name, "".join(f"{_escaped(key)}={_escaped(confs[key])}\n" for key in sorted(confs))
            )

    def environment(self) -> dict[str, str]:
        """
        The environment of the program.

        :return: that of the worker; a driver on it runs the worker's Python, unless the environment names another
        """
        # SPARK_REMOTE would win over the master
        kept = {key: value for key, value in os.environ.items() if key != "SPARK_REMOTE"}
        if self.deploy_mode == "cluster":
            return kept
        return {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable} | kept

    def _program(self) -> str:
        """Find ``spark-submit``."""
        named = [self.spark_submit] if self.spark_submit else _known_programs()
        for program in named:
            if found := shutil.which(program):
                return found
        raise AirflowFailException(
            f"spark-submit is not at {', '.join(named)}: install pyspark (pip install 'spark-joinery[spark]'), set "
            "SPARK_HOME, or name the program in the connection ('spark_submit' in extra)"
        )


def _known_programs() -> list[str]:
    homes = [os.environ.get("SPARK_HOME"), _pyspark_home()]
    return [*(str(Path(home) / "bin" / "spark-submit") for home in homes if home), "spark-submit"]


def _pyspark_home() -> str | None:
    """The Spark that comes with pyspark, found without importing it."""
    spec = find_spec("pyspark")
    return str(Path(spec.origin).parent) if spec and spec.origin else None


def _jar_of_joinery(target: SparkTarget) -> dict[str, str]:
    """
    Settings that load Joinery's jar into an embedded Spark; jobs do not need it, and clusters have their own.

    :param target: where Spark runs
    :return: the settings; none where there is no jar for this Spark
    """
    if not target.is_local or target.spark_submit or "SPARK_HOME" in os.environ or _pyspark_home() is None:
        return {}
    from spark_joinery.errors import JoineryError
    from spark_joinery.jar import settings_with_joinery

    try:
        return settings_with_joinery(target.confs, of_new_process=True)
    except JoineryError:
        return {}


def _escaped(text: str) -> str:
    """Write a text for a file of Java properties."""
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return "".join(f"\\{char}" if char in "=: #!" else char for char in escaped)

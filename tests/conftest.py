"""The Spark session that the tests of one process share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from xdist.scheduler import LoadScopeScheduling

pytest.register_assert_rewrite("support")  # otherwise a failed assertion there shows no values

# Small enough for two cores, the same on every machine, and strict. Generated code that does not compile is
# an error here. Spark's default is to interpret the expressions quietly instead.
SETTINGS = {
    "spark.master": "local[2]",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.log.level": "ERROR",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.codegen.factoryMode": "CODEGEN_ONLY",
    "spark.sql.codegen.fallback": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "3",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# Folders whose shared fixtures take a good part of their tests' time to set up.
TOGETHER = ("airflow", "dbt", "docs", "example", "metadata", "report")


@pytest.hookimpl(optionalhook=True)  # environments of other Spark lines lack xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """Make xdist run the tests of a file in one process, or of a folder if its files share fixtures."""
    from xdist.scheduler import LoadScopeScheduling

    class FilesAndFolders(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return together(nodeid)

    return FilesAndFolders(config, log)


def together(nodeid: str) -> str:
    """The file of a test, or its folder if the folder is in TOGETHER."""
    file = PurePosixPath(nodeid.partition("::")[0])
    return str(file.parent if file.parent.name in TOGETHER else file)


def settings_of(session: SparkSession) -> dict[str, str]:
    """The settings of a session. PySpark 3.5 has no `conf.getAll`."""
    return {row.key: row.value for row in session.sql("SET").collect()}


class SettingsEndWithTheirTests:
    """Undoes settings that tests leave in the shared session: dbt-spark, for example, switches ANSI off.

    Args:
        session: The new session.
    """

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self.settings = settings_of(session)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
        """Restore the settings after the last test of a file or folder and the end of its fixtures."""
        yield
        if nextitem is None or together(nextitem.nodeid) == together(item.nodeid):
            return
        from pyspark.errors import AnalysisException

        settings = settings_of(self.session)
        for key in settings.keys() | self.settings.keys():
            before = self.settings.get(key)
            if settings.get(key) != before:
                with suppress(AnalysisException):  # a setting of the application, put there by a builder
                    self.session.conf.unset(key) if before is None else self.session.conf.set(key, before)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[SparkSession]:
    """A classic session with the jar, without Hive; its tables live below pytest's temporary folder."""
    from pyspark.sql import SparkSession
    from spark_joinery import configure_spark

    os.environ["PYSPARK_PYTHON"] = sys.executable  # otherwise workers run the python of PATH
    warehouse = str(tmp_path_factory.mktemp("warehouse"))
    builder = SparkSession.builder.appName("joinery-tests").config("spark.sql.warehouse.dir", warehouse)
    session = configure_spark(builder.config(map=SETTINGS)).getOrCreate()
    restoring = SettingsEndWithTheirTests(session)
    pytestconfig.pluginmanager.register(restoring)
    yield session
    pytestconfig.pluginmanager.unregister(restoring)
    session.stop()

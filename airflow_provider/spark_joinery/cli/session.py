"""The Spark session of a command: quiet, small, and with the jar."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from spark_joinery.jar import configure_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def parse_confs(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Turn repeated ``key=value`` options into a dict (a click callback).

    Args:
        values: As typed by the user.

    Returns:
        From key to value.

    Raises:
        click.BadParameter: A value has no key or no equals sign.
    """
    confs = {}
    for value in values:
        key, separator, setting = value.partition("=")
        if not (key.strip() and separator):
            raise click.BadParameter(f"{value!r} is not of the form key=value")
        confs[key.strip()] = setting.strip()
    return confs


conf_option = click.option(
    "--conf",
    "confs",
    metavar="KEY=VALUE",
    multiple=True,
    callback=parse_confs,
    help="A Spark setting for the session; may be repeated.",
)


@contextmanager
def spark_session(confs: Mapping[str, str]) -> Iterator[SparkSession]:
    """Run a session with the jar and a user's settings, and stop it afterwards.

    Args:
        confs: Spark settings; they win over the defaults below.

    Yields:
        A classic session, or a Spark Connect one if the settings or SPARK_REMOTE say so.

    Raises:
        JoineryError: There is no jar for the installed pyspark.
    """
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory(prefix="joinery-") as scratch:
        builder = SparkSession.builder.appName("joinery")
        defaults = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            # or every run would leave a spark-warehouse folder wherever it is started
            "spark.sql.warehouse.dir": scratch,
        }
        for key, value in {**defaults, **confs}.items():
            builder.config(key, value)
        spark = configure_spark(builder).getOrCreate()
        try:
            yield spark
        finally:
            spark.stop()

"""Write an artifact's files, and read them, without losing a row on the way."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Observation, SparkSession

from spark_joinery.errors import JoineryError
from spark_joinery.jobs.reading import strict_reader


class LostRowsError(JoineryError):
    """The rows that were written are not the rows that can be read."""


def read_whole(spark: SparkSession, *paths: str) -> DataFrame:
    """Read Parquet files of the store, all of them or none.

    A session may tell Spark to skip missing or damaged files. The rest would then be taken for the whole.

    Args:
        spark: A session.
        paths: Folders or files.

    Returns:
        Their rows.
    """
    return strict_reader(spark).parquet(*paths)


def write_counted(frame: DataFrame, path: str, totals: Mapping[str, Column]) -> dict[str, int]:
    """Write rows, count them on their way, and check that the files hold all of them.

    Args:
        frame: The rows.
        path: A folder that does not exist yet.
        totals: Aggregates that give whole numbers, by name.

    Returns:
        The totals; 0 for NULL.

    Raises:
        LostRowsError: If the files give other totals.
    """
    aggregates = [total.alias(name) for name, total in totals.items()]
    observation = Observation()
    frame.observe(observation, *aggregates).write.parquet(path)
    counted = observation.get
    written = {name: int(counted[name] or 0) for name in totals}
    found = read_whole(frame.sparkSession, path).agg(*aggregates).collect()[0].asDict()
    for name, total in written.items():
        if (there := int(found[name] or 0)) != total:
            what = name.replace("_", " ")
            raise LostRowsError(
                f"Spark wrote {total:,} {what} to {path}, and {there:,} can be read. Run the job again."
            )
    return written

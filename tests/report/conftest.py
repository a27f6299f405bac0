"""A store like that of the nightly jobs, with values that could break a page."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from spark_joinery.jobs import refresh
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, DistributionSpec, HotKeys, RangeIndexSpec, Spec
from spark_joinery.report import Report, read_report
from spark_joinery.store import ArtifactStore, Fingerprint, open_store
from support.html import Page, parse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILES: Fingerprint = {
    "type": "files",
    "reason": None,
    "files": [{"path": "file:/raw/planes/manufacturer=BOEING/part-0.parquet", "length": 10, "modified_ms": 1}],
}
STRANGE = [
    "<script>alert(1)</script>",
    "\"quoted\" & 'single'",
    "$x_1^2$ {{ 7 * 7 }}",
    "日本語 ✈ é",
    "left\u202eto right",
    "two\nlines\x07",
    "x" * 300,
    "",
    None,
]
BY_CARRIER = DistributionSpec(partition_by=["carrier"], order_by="departs_at", quantiles=4, hot=HotKeys(min_rows=20))
BY_NOTE = DistributionSpec(partition_by=["note"], order_by="delay", quantiles=4, hot=HotKeys(min_rows=1))
BY_TYPES = DistributionSpec(partition_by=["digits", "measure"], order_by="label", quantiles=2, hot=HotKeys(min_rows=2))
CESSNAS = BloomFilterSpec(keys=["tailnum"], where="manufacturer = 'CESSNA' AND seats > 4123")
STORMS = RangeIndexSpec(start="starts_at", end="ends_at", columns=["storm_id"])


def publish(
    store: ArtifactStore, table: str, spec: Spec, frame: DataFrame, fingerprint: Fingerprint = FILES, **fields: Any
) -> Path:
    """Publish an artifact by hand; returns the folder of the version."""
    request = ArtifactRequest.of_table(table, spec)
    pending = store.begin(request.kind, request.relation, request.spec_hash)
    frame.coalesce(1).write.parquet(pending.data_path)
    (written,) = Path(pending.data_path.removeprefix("file:")).glob("*.parquet")
    for name in [name for run in fields.get("runs", []) for name in run]:
        (written.parent / name).parent.mkdir(exist_ok=True)
        shutil.copy(written, written.parent / name)
    if "runs" in fields:
        written.unlink()
    details = {"spec": spec.model_dump(mode="json", exclude_none=True), "settings": {}, **fields}
    return Path(store.publish(pending, fingerprint, details).path.removeprefix("file:"))


@pytest.fixture(scope="package")
def tables(spark: SparkSession) -> Iterator[None]:
    """Create the tables `report_test.flights` and `report_test.strange`."""
    spark.sql("CREATE SCHEMA report_test")
    # UA has 80 flights, AA has 15, and 5 have no carrier
    carrier = "CASE WHEN id < 80 THEN 'UA' WHEN id < 95 THEN 'AA' END AS carrier"
    departs_at = "TIMESTAMP '2013-01-01' + make_dt_interval(id) AS departs_at"
    spark.range(100).selectExpr(carrier, departs_at).coalesce(1).write.saveAsTable("report_test.flights")
    rows = [
        (note, delay, bytearray(b"\x00<b>"), float("nan"), f"label {number}")
        for number, note in enumerate(STRANGE)
        for delay in (float("-inf"), 1.5, float("nan"), 4567.25)[: 4 - number % 2]
    ]
    strange = spark.createDataFrame(rows, "note string, delay double, digits binary, measure double, label string")
    strange.coalesce(1).write.saveAsTable("report_test.strange")
    yield
    spark.sql("DROP SCHEMA report_test CASCADE")


@pytest.fixture(scope="package")
def store(spark: SparkSession, tables: None, tmp_path_factory: pytest.TempPathFactory) -> ArtifactStore:
    """Distributions made by the real job, and one artifact of every other kind."""
    store = open_store(spark, str(tmp_path_factory.mktemp("report") / "store"))
    requests = [
        ArtifactRequest.of_table("report_test.flights", BY_CARRIER),
        ArtifactRequest.of_table("report_test.strange", BY_NOTE),
        ArtifactRequest.of_table("report_test.strange", BY_TYPES),
    ]
    assert {result.status for result in refresh(spark, requests, store, schema=None)} == {"refreshed"}
    words = ("CAST(id AS INT) AS block", "id AS w0", "id AS w1", "id AS w2", "id AS w3")
    publish(
        store,
        "report_test.planes",
        CESSNAS,
        spark.range(2).selectExpr(*words),
        rows=3322,
        keys=20,
        blocks=2,
        filled_blocks=2,
        set_bits=4,
        fpp=0.01,
        expected_fpp=0.0072,
        capacity=24,
        hash="xxhash64",
        key_types=["string"],
    )
    publish(
        store,
        "report_test.storms",
        STORMS,
        spark.range(9).selectExpr("id AS starts_at", "id + 1 AS ends_at", "concat('storm ', id) AS storm_id"),
        {"type": "snapshot", "reason": None, "table_id": "t", "version": "42", "files": []},
        rows=9,
        columns=["starts_at", "ends_at", "storm_id"],
        sorted_by=["starts_at", "ends_at"],
        runs=[["run-0/a.parquet", "run-0/b.parquet"], ["run-1/c.parquet"]],
        null_rows=3,
    )
    return store


@pytest.fixture(scope="package")
def report(spark: SparkSession, store: ArtifactStore) -> Report:
    """The report read from the store, dated 2099."""
    found = read_report(spark, store)
    return Report(found.store, found.artifacts, dt.datetime(2099, 1, 1, tzinfo=dt.timezone.utc), found.time_zone)


@pytest.fixture(scope="package")
def page(report: Report) -> Page:
    """The page rendered from the report."""
    from spark_joinery.report import render

    return parse(render(report))

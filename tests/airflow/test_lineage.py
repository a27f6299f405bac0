"""How relations and artifacts are named for OpenLineage. (Events of a real run: test_run.py.)"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from spark_joinery.airflow.lineage import outputs_of, relation_name
from spark_joinery.airflow.operators.joinery import JoineryRefreshOperator
from spark_joinery.jobs import RefreshResult
from spark_joinery.metadata import ArtifactRequest, RangeIndexSpec

pytestmark = pytest.mark.airflow


@pytest.mark.parametrize(
    ("relation", "confs", "named"),
    [
        ("spark_catalog.raw.flights", {}, ("spark", "raw.flights")),
        (
            "spark_catalog.raw.flights",
            {"spark.hadoop.hive.metastore.uris": "thrift://meta:9083,thrift://spare:9083"},
            ("hive://meta:9083", "raw.flights"),
        ),
        ("lake.raw.`my flights`", {}, ("spark", "lake.raw.my flights")),
        ("file:/data/flights", {}, ("file", "/data/flights")),
        ("s3a://key:secret@bucket/flights", {}, ("s3://bucket", "/flights")),
        ("hdfs://name:8020/flights", {}, ("hdfs://name:8020", "/flights")),
    ],
)
def test_a_relation_is_named_as_others_name_it(relation: str, confs: dict[str, str], named: tuple[str, str]) -> None:
    assert relation_name(relation, confs) == named


@pytest.mark.parametrize(("status", "statistics"), [("refreshed", 7), ("unchanged", None)])
def test_an_artifact_that_was_not_written_has_no_statistics(status: Any, statistics: int | None) -> None:
    request = ArtifactRequest.of_table("raw.storms", RangeIndexSpec(point="at"))
    result = asdict(RefreshResult(request.relation, request.kind, status, rows=7, keys=3, version="v1"))
    (output,) = outputs_of([(request, result)], "s3a://me:pw@lake/joinery/")
    assert output.namespace == "s3://lake"
    assert output.name == f"/joinery/range_index/spark_catalog.raw.storms/{request.spec_hash}"
    assert {name: facet.rowCount for name, facet in output.outputFacets.items()} == (
        {"outputStatistics": statistics} if statistics else {}
    )


def test_a_task_that_has_done_nothing_has_nothing_to_say() -> None:
    lineage = JoineryRefreshOperator(
        task_id="t", manifest="m", joinery_conn_id="gone"
    ).get_openlineage_facets_on_complete(None)
    assert (lineage.inputs, lineage.outputs) == ([], [])

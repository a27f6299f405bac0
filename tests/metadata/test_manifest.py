"""The requests in a manifest that real dbt wrote, and the errors for manifests that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from spark_joinery.errors import JoineryError
from spark_joinery.metadata import (
    BloomFilterSpec,
    DistributionSpec,
    ManifestFormatError,
    ManifestNotFoundError,
    ManifestNotReadableError,
    MetaError,
    NothingDeclaredError,
    RangeIndexSpec,
    read_manifest,
)

FLIGHTS = "source.shop.raw.flights"


def write(tmp_path: Path, document: Any) -> Path:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(document))
    return path


def declare(document: dict[str, Any], value: Any) -> dict[str, Any]:
    """Replace the declaration of the flights source."""
    node = document["sources"][FLIGHTS]
    node["config"]["meta"]["joinery"] = node["meta"]["joinery"] = value
    return document


@pytest.mark.dbt
def test_requests_of_a_real_manifest(dbt_manifest: Path) -> None:
    manifest = read_manifest(dbt_manifest)
    by_carrier = DistributionSpec(partition_by=["carrier"], order_by="departs_at")
    by_origin = DistributionSpec(partition_by=["origin"], order_by="departs_at")
    found = [(r.unique_id, r.resource_type, r.stage, r.relation, r.sql_name, r.spec) for r in manifest.requests]
    models, session = "after_models", "spark_catalog"
    flights = (FLIGHTS, "source", "before_models", f"{session}.raw_data.flights", "raw_data.Flights")
    assert found == [
        (
            "model.shop.storms",
            "model",
            models,
            f"{session}.analytics.storms_v2",
            "Analytics.storms_v2",
            RangeIndexSpec(start="a", end="b", columns=["id"]),
        ),
        ("seed.shop.carriers", "seed", models, f"{session}.analytics.carriers", "Analytics.carriers", by_carrier),
        (
            "snapshot.shop.planes_history",
            "snapshot",
            models,
            f"{session}.analytics.planes_history",
            "Analytics.planes_history",
            by_carrier,
        ),
        (*flights, by_carrier),
        (*flights, by_origin),
        (*flights, RangeIndexSpec(point="departs_at")),
        (
            "source.shop.raw.odd",
            "source",
            "before_models",
            f"{session}.raw_data.`odd.name 2013`",
            "raw_data.`Odd.Name 2013`",
            by_carrier,
        ),
        (
            "source.shop.raw.planes",
            "source",
            "before_models",
            f"{session}.raw_data.planes",
            "raw_data.planes",
            BloomFilterSpec(keys=["tailnum"]),
        ),
    ]
    assert manifest.project_name == "shop"
    assert manifest.path == dbt_manifest


@pytest.mark.dbt
@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("flights", "meta.joinery: expected an object, found str 'flights'"),
        (None, "meta.joinery: nothing is declared: give distributions, bloom_filters or range_indexes"),
        ({}, "meta.joinery: nothing is declared"),
        (
            {"distribution": []},
            "meta.joinery.distribution: unknown key, expected one of distributions, bloom_filters, range_indexes; "
            "did you mean 'distributions'?",
        ),
        ({"distributions": {}}, "meta.joinery.distributions: expected a list, found dict {}"),
        ({"distributions": ["a"]}, "meta.joinery.distributions[0]: expected an object, found str 'a'"),
        ({"distributions": [{"order_by": "b"}]}, "meta.joinery.distributions[0].partition_by: missing"),
        (
            {"distributions": [{"partition_by": "carrier", "order_by": "b"}]},
            "meta.joinery.distributions[0].partition_by: expected a list, found str 'carrier'",
        ),
        (
            {"distributions": [{"partition_by": [], "order_by": "b"}]},
            "meta.joinery.distributions[0].partition_by: expected at least one entry, found list []",
        ),
        (
            {"distributions": [{"partition_by": ["a", ""], "order_by": "b"}]},
            "meta.joinery.distributions[0].partition_by[1]: expected a name that is not empty, found str ''",
        ),
        (
            {"distributions": [{"partition_by": ["a", "A"], "order_by": "b"}]},
            "meta.joinery.distributions[0].partition_by: column 'A' is listed twice",
        ),
        (
            {"distributions": [{"partition_by": ["a"], "order_by": "b", "quantiles": "8"}]},
            "meta.joinery.distributions[0].quantiles: expected a whole number, found str '8'",
        ),
        (
            {"distributions": [{"partition_by": ["a"], "order_by": "b", "quantiles": 1}]},
            "meta.joinery.distributions[0].quantiles: expected a number greater than or equal to 2, found int 1",
        ),
        (
            {"distributions": [{"partition_by": ["a"], "order_by": "b", "hot": {}}]},
            "meta.joinery.distributions[0].hot: give min_rows, min_share or both",
        ),
        (
            {"distributions": [{"partition_by": ["a"], "order_by": "b", "hot": {"rows": 3}}]},
            "meta.joinery.distributions[0].hot.rows: unknown key, expected one of min_rows, min_share; "
            "did you mean 'min_rows'?",
        ),
        (
            {"distributions": [{"partition_by": ["a"], "order_by": "b"}, {"partition_by": ["A"], "order_by": "B"}]},
            "meta.joinery: two distributions by ['A'] ordered by 'B'",
        ),
        (
            {"bloom_filters": [{"keys": ["a"], "fpp": 1}]},
            "meta.joinery.bloom_filters[0].fpp: expected a number less than 1, found int 1",
        ),
        (
            {"range_indexes": [{"start": "a"}]},
            "meta.joinery.range_indexes[0]: give either start and end, or point",
        ),
        (
            {"range_indexes": [{"start": "a", "end": "b", "point": "c"}]},
            "meta.joinery.range_indexes[0]: give either start and end, or point",
        ),
        (
            {"range_indexes": [{"start": "a", "end": "A"}]},
            "meta.joinery.range_indexes[0]: start and end are one column: give it as point",
        ),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, document: dict[str, Any], value: Any, says: str) -> None:
    path = write(tmp_path, declare(document, value))
    with pytest.raises(MetaError) as caught:
        read_manifest(path)
    assert len(caught.value.problems) == 1
    assert caught.value.problems[0].startswith(f"{FLIGHTS} (models/properties.yml): {says}")
    assert str(caught.value).startswith(f"{path}: 1 problem in meta.joinery:")
    assert "run `dbt parse` again" in str(caught.value)


@pytest.mark.dbt
def test_all_problems_at_once(tmp_path: Path, document: dict[str, Any]) -> None:
    declare(document, {"distributions": [{"partition_by": "a", "order": "b"}]})
    document["nodes"]["model.shop.storms"]["config"]["materialized"] = "view"
    with pytest.raises(MetaError) as caught:
        read_manifest(write(tmp_path, document))
    place = f"{FLIGHTS} (models/properties.yml): meta.joinery.distributions[0]"
    assert caught.value.problems == [
        "model.shop.storms (models/properties.yml): meta.joinery: the model is materialized as view, expected a table; "
        "declare it on the tables that the model reads, or set materialized: table",
        f"{place}.partition_by: expected a list, found str 'a'",
        f"{place}.order_by: missing",
        f"{place}.order: unknown key, expected one of partition_by, order_by, quantiles, hot; did you mean 'order_by'?",
    ]


@pytest.mark.dbt
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"resource_type": "test"}, "meta.joinery: on a test, expected on a source, seed, snapshot or table model"),
        ({"relation_name": None}, "relation_name: missing, so the node has no table"),
        ({"relation_name": "a b"}, "relation_name: 'a b' is not a table name"),
        ({"relation_name": "lake.`\x1b[2J\ud800`"}, r"relation_name: 'lake.`\x1b[2J\ud800`' has the character U+001B"),
        ({"relation_name": "lake.a.b.c"}, "relation_name: 'lake.a.b.c' has 4 parts"),
    ],
)
def test_nodes_without_a_table(tmp_path: Path, document: dict[str, Any], change: dict[str, Any], says: str) -> None:
    document["nodes"]["model.shop.storms"].update(change)
    with pytest.raises(MetaError, match=r"model\.shop\.storms") as caught:
        read_manifest(write(tmp_path, document))
    assert says in str(caught.value)


@pytest.mark.dbt
def test_nothing_declared(tmp_path: Path, document: dict[str, Any]) -> None:
    for node in [*document["nodes"].values(), *document["sources"].values()]:
        node["meta"] = node["config"]["meta"] = {"owner": "ops"}
    with pytest.raises(NothingDeclaredError, match="no source, seed, snapshot or model has `joinery`"):
        read_manifest(write(tmp_path, document))


@pytest.mark.dbt
def test_other_manifest_version(tmp_path: Path, document: dict[str, Any]) -> None:
    document["metadata"]["dbt_schema_version"] = "https://schemas.getdbt.com/dbt/manifest/v11.json"
    document["metadata"]["dbt_version"] = "1.7.4"
    with pytest.raises(ManifestFormatError, match=r"v11.json' \(written by dbt 1.7.4\), expected manifest version v12"):
        read_manifest(write(tmp_path, document))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ('{"metadata": ', "not JSON"),
        ("\xff\xfe", "no dbt manifest|not JSON"),
        ("[]", "no dbt manifest: metadata.dbt_schema_version is missing"),
        ("{}", "no dbt manifest"),
        ('{"metadata": {"dbt_schema_version": 12}}', "no dbt manifest"),
        ('{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/catalog/v1.json"}}', "catalog/v1.json"),
        (
            '{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}}',
            "'nodes' is missing or not an object",
        ),
        (
            '{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}, '
            '"nodes": {}, "sources": {"source.a.b.c": 1}}',
            "node source.a.b.c is not an object",
        ),
    ],
)
def test_no_manifest(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ManifestFormatError, match=says) as caught:
        read_manifest(path)
    assert str(caught.value).startswith(str(path))
    assert "run `dbt parse`" in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ManifestNotFoundError, match=r"no such file. `dbt parse` writes it") as caught:
        read_manifest(tmp_path / "manifest.json")
    assert isinstance(caught.value, JoineryError)
    with pytest.raises(ManifestNotFoundError, match=r"a directory, expected the file manifest\.json in it"):
        read_manifest(tmp_path)


def test_a_file_that_is_refused_may_be_there(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.symlink_to(path)
    with pytest.raises(ManifestNotReadableError, match=r"cannot be read: Too many levels of symbolic links\.$"):
        read_manifest(path)

    class InBucket:
        def read_text(self, encoding: str | None = None) -> str:
            raise PermissionError("Access Denied")  # as s3fs raises it, without a number

    with pytest.raises(ManifestNotReadableError, match=r"cannot be read: Access Denied\.$"):
        read_manifest(InBucket())

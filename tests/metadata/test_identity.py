"""Identities of relations: the golden vectors, which the Scala and dbt tests read, too, and other cases."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from spark_joinery.metadata import (
    ArtifactRequest,
    BloomFilterSpec,
    DistributionSpec,
    RangeIndexSpec,
    RelationNameError,
    artifact_table_name,
    canonical_json,
    path_identity,
    quote_name,
    relation_identity,
    spec_hash,
    split_name,
)

GOLDEN = Path(__file__).parents[1] / "golden"
SPECS = {"distribution": DistributionSpec, "bloom_filter": BloomFilterSpec, "range_index": RangeIndexSpec}


def golden(name: str) -> list[dict[str, Any]]:
    vectors = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    assert len(vectors) > 10
    return TypeAdapter(list[dict[str, Any]]).validate_python(vectors)


@pytest.mark.parametrize("vector", golden("relation_identity"))
def test_relation_identity(vector: dict[str, Any]) -> None:
    assert relation_identity(**vector["input"]) == vector["expected"]


@pytest.mark.parametrize("vector", golden("spec_hash"))
def test_spec_hash(vector: dict[str, Any]) -> None:
    kind = vector["input"]["kind"]
    spec = SPECS[kind].model_validate(vector["input"]["spec"])
    assert canonical_json({"kind": kind, "spec": spec.model_dump(mode="json")}) == vector["canonical"]
    assert spec_hash(kind, spec) == vector["expected"]
    assert hashlib.sha256(vector["canonical"].encode()).hexdigest().startswith(vector["expected"])


@pytest.mark.parametrize("vector", golden("artifact_table_name"))
def test_artifact_table_name(vector: dict[str, Any]) -> None:
    request = ArtifactRequest.of_table(
        vector["input"]["relation"],
        DistributionSpec(partition_by=vector["input"]["partition_by"], order_by=vector["input"]["order_by"]),
    )
    assert artifact_table_name(request) == vector["expected"]
    assert vector["expected"].endswith(hashlib.md5(vector["md5_of"].encode()).hexdigest()[:8])


def test_only_distributions_have_a_table() -> None:
    with pytest.raises(ValueError, match="bloom_filter"):
        artifact_table_name(ArtifactRequest.of_table("raw.planes", BloomFilterSpec(keys=["tailnum"])))


@pytest.mark.parametrize("parts", [("a", "b"), ("a.b", "c d", "e`f"), ("`",), ("``", "`a`"), ("1", "航班")])
def test_quoted_names_are_taken_apart_again(parts: tuple[str, ...]) -> None:
    assert split_name(quote_name(*parts)) == parts


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b", "`a", "a`b", "``", "a b", "a.`b`c", "a; DROP TABLE b"])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(RelationNameError, match="is not a table name"):
        split_name(name)


@pytest.mark.parametrize("path", ["data/flights", "", "./x", "s3a://bucket"])
def test_relative_paths_have_no_identity(path: str) -> None:
    with pytest.raises(RelationNameError, match="not an absolute path"):
        path_identity(path)


@pytest.mark.parametrize(
    ("table", "identity", "sql_name"),
    [
        ("flights", "spark_catalog.default.flights", "default.flights"),
        ("Raw.Flights", "spark_catalog.raw.flights", "Raw.Flights"),
        ("raw.`Flights 2013`", "spark_catalog.raw.`flights 2013`", "raw.`Flights 2013`"),
        ("lake.Raw.`Flights`", "lake.Raw.Flights", "lake.Raw.Flights"),
        ("parquet.`/data/flights/`", "file:/data/flights", "parquet.`/data/flights/`"),
    ],
)
def test_request_of_a_table(table: str, identity: str, sql_name: str) -> None:
    request = ArtifactRequest.of_table(table, DistributionSpec(partition_by=["a"], order_by="b"))
    assert (request.relation, request.sql_name, request.kind) == (identity, sql_name, "distribution")
    assert (request.stage, request.unique_id) == ("before_models", "")


@pytest.mark.parametrize(
    ("table", "current", "identity"),
    [
        ("Lake.Flights", "ice", "ice.Lake.Flights"),
        ("Flights", "odd one", "`odd one`.default.Flights"),
        ("Lake.Flights", "spark_catalog", "spark_catalog.lake.flights"),
        ("spark_catalog.Lake.Flights", "ice", "spark_catalog.lake.flights"),
        ("parquet.`/data/flights`", "ice", "file:/data/flights"),
    ],
)
def test_a_name_without_a_catalog_is_of_the_current_one(table: str, current: str, identity: str) -> None:
    request = ArtifactRequest.of_table(table, BloomFilterSpec(keys=["k"]))
    named = request.in_catalog(current)
    assert (named.relation, named.sql_name) == (identity, request.sql_name)
    assert named.in_catalog(current) == named


def test_nested_namespaces_are_refused() -> None:
    with pytest.raises(RelationNameError, match="4 parts"):
        ArtifactRequest.of_table("lake.a.b.c", BloomFilterSpec(keys=["k"]))


def test_works_without_spark_airflow_and_dbt() -> None:
    code = (
        "import sys\n"
        "for name in ('pyspark', 'airflow', 'dbt'): sys.modules[name] = None\n"
        "from spark_joinery.metadata import read_manifest; print(read_manifest.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("read_manifest", "")


@pytest.mark.parametrize(
    ("name", "shown"), [("a\ud800", r"a\ud800"), ("a\0", r"a\x00"), ("a\x1b[2J", r"a\x1b[2J"), ("a\r", r"a\r")]
)
@pytest.mark.parametrize("quoted", ["raw.`{}`", "parquet.`/data/{}`"])
def test_name_with_control_characters_is_refused(quoted: str, name: str, shown: str) -> None:
    """Half a surrogate pair gives no hash, folder or id, and a terminal would obey an escape sequence."""
    with pytest.raises(RelationNameError, match="Rename the relation") as refused:
        ArtifactRequest.of_table(quoted.format(name), BloomFilterSpec(keys=["k"]))
    assert shown in str(refused.value)
    assert str(refused.value).isprintable()

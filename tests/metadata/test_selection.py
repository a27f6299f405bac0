"""By which names the artifacts of a dbt project are chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec, UnknownNameError, read_manifest, select

from .conftest import DISTRIBUTION, dbt_parse

VERSIONED: dict[str, Any] = {
    "models": [
        {
            "name": "storms",
            "config": {"materialized": "table", "meta": {"joinery": {"distributions": [DISTRIBUTION]}}},
            "versions": [{"v": 1.5, "defined_in": "storms"}, {"v": "vast", "defined_in": "plain_view"}],
        }
    ],
}


@pytest.mark.dbt
def test_versions_of_a_model_have_its_name(tmp_path: Path) -> None:
    requests = read_manifest(dbt_parse(tmp_path / "shop", VERSIONED)).requests
    ids = ["model.shop.storms.v1.5", "model.shop.storms.vvast"]

    def selected(*names: str) -> list[str]:
        return [request.unique_id for request in select(requests, names)]

    assert selected("storms") == ids
    assert selected("storms.v1.5", "storms.vvast") == ids
    assert selected("storms.v1.5") == selected("storms_v1_5") == selected(ids[0]) == ids[:1]
    for name in ("v1.5", "5", "vvast", "shop.storms"):
        with pytest.raises(UnknownNameError, match=f"named '{name}'. There are: {ids[0]}, {ids[1]}"):
            selected(name)


@pytest.mark.parametrize(
    ("unique_id", "resource_type", "names"),
    [
        ("source.shop.raw.v2", "source", ["v2"]),
        ("model.shop.valid", "model", ["valid"]),
        ("model.shop.v2", "model", ["v2"]),
        ("model.shop.stg.orders", "model", ["orders", "stg.orders"]),
        ("model.shop.stg.orders.v2", "model", ["orders", "stg.orders", "stg.orders.v2"]),
    ],
)
def test_the_name_of_a_node_is_the_end_of_its_id(unique_id: str, resource_type: Any, names: list[str]) -> None:
    request = ArtifactRequest.of_table(
        "lake.t", BloomFilterSpec(keys=["k"]), resource_type=resource_type, unique_id=unique_id
    )
    other = ArtifactRequest.of_table("lake.u", BloomFilterSpec(keys=["k"]), unique_id="source.shop.raw.u")
    for name in (unique_id, "t", "lake.t", "spark_catalog.lake.t", *names):
        assert select([request, other], [name]) == [request], name

"""The names that select artifacts of a dbt project."""

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
    ("unique_id", "version", "names"),
    [
        ("source.shop.raw.v2", "", {"v2"}),
        ("model.shop.valid", "", {"valid"}),
        ("model.shop.v2", "", {"v2"}),
        ("model.shop.stg.orders", "", {"orders", "stg.orders"}),
        ("model.shop.stg.vendors", "", {"vendors", "stg.vendors"}),
        ("model.shop.stg.v2", "", {"v2", "stg.v2"}),
        ("model.shop.stg.orders.v2", "2", {"orders", "stg.orders", "stg.orders.v2"}),
        ("model.shop.stg.vendors.v1.5", "1.5", {"vendors", "stg.vendors", "stg.vendors.v1.5"}),
    ],
)
def test_the_name_of_a_node_is_the_end_of_its_id(unique_id: str, version: str, names: set[str]) -> None:
    def request_of(table: str, unique_id: str, version: str = "") -> ArtifactRequest:
        spec = BloomFilterSpec(keys=["k"])
        return ArtifactRequest.of_table(table, spec, unique_id=unique_id, model_version=version)

    request, other = request_of("lake.t", unique_id, version), request_of("lake.u", "source.shop.raw.u")
    assert ArtifactRequest.from_dict(request.to_dict()) == request
    for name in (unique_id, "t", "lake.t", "spark_catalog.lake.t", *names):
        assert select([request, other], [name]) == [request], name
    for name in {"stg", "orders", "v2", "vendors", "vvendors", "5"} - names:
        with pytest.raises(UnknownNameError):
            select([request, other], [name])


@pytest.mark.parametrize("names", [[""], [" "], [","], ["", " , "]])
def test_names_that_are_none_do_not_mean_everything(names: list[str]) -> None:
    """Otherwise, an unset variable of a shell or a DAG would refresh the whole project."""
    request = ArtifactRequest.of_table("lake.t", BloomFilterSpec(keys=["k"]))
    with pytest.raises(UnknownNameError, match="names nothing; without a selection everything is taken"):
        select([request], names)
    assert select([request], []) == select([request], ["t", ""]) == [request]

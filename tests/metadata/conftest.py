"""A small dbt project and its manifest, written by real dbt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

DISTRIBUTION = {"partition_by": ["carrier"], "order_by": "departs_at"}

PROJECT: dict[str, Any] = {
    "name": "shop",
    "version": "1.0",
    "config-version": 2,
    "profile": "shop",
    "seeds": {"shop": {"+quote_columns": False}},
}
PROFILES: dict[str, Any] = {
    "shop": {
        "target": "dev",
        "outputs": {"dev": {"type": "spark", "method": "session", "host": "NA", "schema": "Analytics"}},
    }
}
PROPERTIES: dict[str, Any] = {
    "sources": [
        {
            "name": "raw",
            "schema": "raw_data",
            "tables": [
                {
                    "name": "flights",
                    "identifier": "Flights",
                    "config": {
                        "meta": {
                            "owner": "ops",
                            "joinery": {
                                "range_indexes": [{"point": "departs_at"}],
                                "distributions": [DISTRIBUTION, {**DISTRIBUTION, "partition_by": ["origin"]}],
                            },
                        }
                    },
                },
                # dbt still accepts meta in this place, where it was before dbt 1.10
                {"name": "planes", "meta": {"joinery": {"bloom_filters": [{"keys": ["tailnum"]}]}}},
                {
                    "name": "odd",
                    "identifier": "Odd.Name 2013",
                    "quoting": {"identifier": True},
                    "config": {"meta": {"joinery": {"distributions": [DISTRIBUTION]}}},
                },
                {
                    "name": "retired",
                    "config": {"enabled": False, "meta": {"joinery": {"distributions": [DISTRIBUTION]}}},
                },
            ],
        }
    ],
    "models": [
        {
            "name": "storms",
            "config": {
                "materialized": "table",
                "alias": "storms_v2",
                "meta": {"joinery": {"range_indexes": [{"start": "a", "end": "b", "columns": ["id"]}]}},
            },
        },
        {"name": "plain_view", "config": {"materialized": "view", "meta": {"owner": "ops"}}},
    ],
    "seeds": [{"name": "carriers", "config": {"meta": {"joinery": {"distributions": [DISTRIBUTION]}}}}],
    "snapshots": [
        {
            "name": "planes_history",
            "relation": "source('raw', 'planes')",
            "config": {
                "unique_key": "tailnum",
                "strategy": "check",
                "check_cols": "all",
                "meta": {"joinery": {"distributions": [DISTRIBUTION]}},
            },
        }
    ],
}


def dbt_parse(root: Path, properties: dict[str, Any]) -> Path:
    """Write a dbt project and let real dbt parse it; returns its manifest.json."""
    from dbt.cli.main import dbtRunner

    for folder in ("models", "seeds"):
        (root / folder).mkdir(parents=True)
    (root / "dbt_project.yml").write_text(yaml.safe_dump(PROJECT))
    (root / "profiles.yml").write_text(yaml.safe_dump(PROFILES))
    (root / "models" / "properties.yml").write_text(yaml.safe_dump(properties))
    (root / "models" / "storms.sql").write_text("select 1 as a, 2 as b, 3 as id")
    (root / "models" / "plain_view.sql").write_text("select 1 as a")
    (root / "seeds" / "carriers.csv").write_text("carrier,departs_at\nAA,1\n")
    arguments = ["--project-dir", str(root), "--profiles-dir", str(root), "--no-send-anonymous-usage-stats", "--quiet"]
    result = dbtRunner().invoke(["parse", *arguments])
    assert result.success, result.exception
    return root / "target" / "manifest.json"


@pytest.fixture(scope="session")
def dbt_manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manifest of the project above."""
    return dbt_parse(tmp_path_factory.mktemp("dbt") / "shop", PROPERTIES)


@pytest.fixture
def document(dbt_manifest: Path) -> dict[str, Any]:
    """A copy of the manifest that a test may change."""
    loaded: dict[str, Any] = json.loads(dbt_manifest.read_text())
    return loaded

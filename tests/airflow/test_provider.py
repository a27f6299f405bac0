"""Airflow finds the provider, its connection type and the fields of the form."""

from __future__ import annotations

import json
from pathlib import Path

import airflow
import jsonschema
import pytest
from packaging.version import Version
from spark_joinery.airflow import get_provider_info

pytestmark = pytest.mark.airflow


def test_provider_info_is_what_airflow_expects() -> None:
    folder = Path(airflow.__path__[0])
    schema = json.loads((folder / "provider_info.schema.json").read_text())
    jsonschema.validate(get_provider_info(), schema)
    # these fields of the form are described only in the YAML schema that Airflow's own providers are generated from
    (declared,) = get_provider_info()["connection-types"]
    fields = json.loads((folder / "provider.yaml.schema.json").read_text())["properties"]["connection-types"]["items"]
    jsonschema.validate(declared, fields)


def test_airflow_discovers_provider_connection_and_fields() -> None:
    from airflow.providers_manager import ProvidersManager

    manager = ProvidersManager()
    try:
        from airflow.sdk.providers_manager_runtime import ProvidersManagerTaskRuntime

        hooks = ProvidersManagerTaskRuntime().hooks
    except ModuleNotFoundError:  # Airflow 3.0
        hooks = manager.hooks
    assert manager.providers["spark-joinery"].data["name"] == "Joinery"
    hook = hooks["joinery"]
    assert hook is not None
    assert hook.hook_name == "Joinery (Spark)"
    fields = {name for name in manager.connection_form_widgets if name.startswith("extra__joinery__")}
    names = {
        "store",
        "metastore_dir",
        "warehouse_dir",
        "conf",
        "spark_conn_id",
        "deploy_mode",
        "spark_submit",
        "run_dir",
        "report_dir",
        "report_url",
        "report_values",
    }
    # before 3.2 Airflow shows one field for all of extra, as JSON
    shows_fields = Version(airflow.__version__) >= Version("3.2")
    assert fields == ({f"extra__joinery__{name}" for name in names} if shows_fields else set())
    links = {name for name in manager.extra_links_class_names if name.startswith("spark_joinery.")}
    assert links == {
        f"spark_joinery.airflow.links.{name}" for name in ("DriverLogLink", "SkewReportLink", "SparkUILink")
    }
    if shows_fields:
        behaviour = manager.field_behaviours["joinery"]
        assert behaviour["relabeling"]["host"] == "Spark master"
        assert set(behaviour["hidden_fields"]) >= {"port", "login", "password"}


def test_modules_named_by_the_provider_exist() -> None:
    from importlib import import_module

    info = get_provider_info()
    for part in ("hooks", "operators", "sensors", "triggers"):
        for entry in info[part]:
            for module in entry["python-modules"]:
                import_module(module)
    (connection,) = info["connection-types"]
    module, _, name = connection["hook-class-name"].rpartition(".")
    hook = getattr(import_module(module), name)
    assert (hook.conn_type, hook.hook_name) == (connection["connection-type"], connection["hook-name"])

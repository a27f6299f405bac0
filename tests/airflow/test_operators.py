"""What the operators make of their arguments. (Spark itself: test_run.py.)"""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest
from airflow.sdk import DAG, BaseOperator
from airflow.sdk.exceptions import AirflowException
from spark_joinery.airflow.operators.application import ApplicationOperator
from spark_joinery.airflow.operators.bloom_filter import BloomFilterOperator
from spark_joinery.airflow.operators.distribution import SkewDistributionOperator
from spark_joinery.airflow.operators.range_index import RangeIndexOperator
from spark_joinery.airflow.operators.refresh import RefreshOperator
from spark_joinery.metadata import BloomFilterSpec, DistributionSpec, HotKeys, RangeIndexSpec

pytestmark = pytest.mark.airflow

GOOD: dict[type[RefreshOperator], dict[str, Any]] = {
    SkewDistributionOperator: {"partition_by": ["carrier"], "order_by": "departs_at"},
    BloomFilterOperator: {"keys": ["tailnum"]},
    RangeIndexOperator: {"start": "starts_at", "end": "ends_at"},
}


@pytest.mark.parametrize(
    ("operator", "arguments", "spec"),
    [
        (
            SkewDistributionOperator,
            {"partition_by": ("a", "b"), "order_by": "t", "quantiles": 4, "hot_min_share": 0.1},
            DistributionSpec(partition_by=["a", "b"], order_by="t", quantiles=4, hot=HotKeys(min_share=0.1)),
        ),
        (
            BloomFilterOperator,
            {"keys": ("a",), "where": "b = 1", "fpp": 0.001},
            BloomFilterSpec(keys=["a"], where="b = 1", fpp=0.001),
        ),
        (BloomFilterOperator, {"keys": ["a"]}, BloomFilterSpec(keys=["a"])),
        (
            RangeIndexOperator,
            {"start": "s", "end": "e", "columns": ["c"]},
            RangeIndexSpec(start="s", end="e", columns=["c"]),
        ),
        (RangeIndexOperator, {"point": "p"}, RangeIndexSpec(point="p")),
    ],
)
def test_arguments_make_the_specification(
    operator: type[RefreshOperator], arguments: dict[str, Any], spec: object
) -> None:
    request = operator(task_id="t", relation="raw.`Flights 2013`", **arguments).request()
    assert request.spec == spec
    assert request.relation == "spark_catalog.raw.`flights 2013`"


@pytest.mark.parametrize(
    ("operator", "arguments", "says"),
    [
        (SkewDistributionOperator, {"partition_by": "carrier"}, "partition_by: expected a list, found str 'carrier'"),
        (SkewDistributionOperator, {"partition_by": []}, "partition_by: expected at least one entry"),
        (SkewDistributionOperator, {"order_by": None}, "order_by: expected a text, found NoneType None"),
        (SkewDistributionOperator, {"quantiles": 1}, "quantiles: expected a number greater than or equal to 2"),
        (SkewDistributionOperator, {"hot_min_rows": 0}, "hot_min_rows: expected a number greater than or equal to 1"),
        (SkewDistributionOperator, {"hot_min_share": 2}, "hot_min_share: expected a number less than or equal to 1"),
        (BloomFilterOperator, {"keys": ["a", "A"]}, "keys: column 'A' is listed twice"),
        (BloomFilterOperator, {"keys": [1]}, "keys: expected a text, found int 1"),
        (BloomFilterOperator, {"where": ""}, "where: expected a name that is not empty"),
        (BloomFilterOperator, {"fpp": 1}, "fpp: expected a number less than 1"),
        (BloomFilterOperator, {"fpp": float("nan")}, "fpp: expected"),
        (RangeIndexOperator, {"end": None}, "give either start and end, or point"),
        (RangeIndexOperator, {"point": "p"}, "give either start and end, or point"),
        (RangeIndexOperator, {"columns": "storm_id"}, "columns: expected a list, found str 'storm_id'"),
        (RangeIndexOperator, {"columns": ["{{ params.c }}", ""]}, "columns: expected a name that is not empty"),
        *((operator, {"relation": "a b"}, "relation: 'a b' is not a table name") for operator in GOOD),
        *((operator, {"relation": None}, "relation: expected the name of a table, found None") for operator in GOOD),
    ],
)
def test_bad_arguments_are_named_while_the_dag_is_parsed(
    operator: type[RefreshOperator], arguments: dict[str, Any], says: str
) -> None:
    with pytest.raises(AirflowException) as refused:
        operator(task_id="nightly", **{"relation": "raw.flights", **GOOD[operator], **arguments})
    assert str(refused.value).startswith(f"{operator.__name__} 'nightly': {says}")


def test_what_only_the_run_knows_is_checked_by_the_run() -> None:
    with DAG("d", params={"table": "raw.flights", "columns": ["a"]}, render_template_as_native_obj=True) as dag:
        upstream = BaseOperator(task_id="upstream")
        BloomFilterOperator(task_id="late", relation=upstream.output, keys=upstream.output, where="{{ params.gone }}")
        late = BloomFilterOperator(
            task_id="t", relation="{{ params.table }}", keys="{{ params.columns }}", where="x = '{{ ds }}'"
        )
    assert dag.get_task("late").upstream_task_ids == {"upstream"}
    with pytest.raises(AirflowException, match="keys: expected a list, found str"):
        late.request()
    late.render_template_fields({"params": dag.params.dump(), "ds": "2013-01-01"})
    request = late.request()
    assert request.relation == "spark_catalog.raw.flights"
    assert request.spec == BloomFilterSpec(keys=["a"], where="x = '2013-01-01'")


@pytest.mark.parametrize("operator", GOOD)
def test_every_name_and_text_is_templated(operator: type[RefreshOperator]) -> None:
    classes = (operator, RefreshOperator, ApplicationOperator)
    parameters = {name for each in classes for name in signature(each).parameters}
    others = {"quantiles", "hot_min_rows", "hot_min_share", "fpp", "full_refresh", "joinery_conn_id", "kwargs"}
    others |= {"deferrable"}
    assert set(operator.template_fields) == parameters - others


def test_default_args_reach_the_arguments_that_all_kinds_share() -> None:
    with DAG("d", default_args={"joinery_conn_id": "lake", "store": "/s", "full_refresh": True}):
        for operator, arguments in GOOD.items():
            task = operator(task_id=operator.__name__, relation="raw.flights", **arguments)
            assert (task.joinery_conn_id, task.store, task.full_refresh) == ("lake", "/s", True)

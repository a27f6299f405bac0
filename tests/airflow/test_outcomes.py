"""Operators turn the results of a refresh into success, failure or a skip. (Spark itself: test_run.py.)"""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException, AirflowSkipException
from spark_joinery.airflow.operators.application import summary
from spark_joinery.airflow.operators.bloom_filter import BloomFilterOperator
from spark_joinery.airflow.operators.joinery import JoineryRefreshOperator
from spark_joinery.batch import Batch, BatchFolder, Progress
from spark_joinery.jobs import RefreshResult

pytestmark = pytest.mark.airflow


def result(status: str, **more: Any) -> dict[str, Any]:
    return asdict(RefreshResult("raw.t", "bloom_filter", status, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize("operator", [JoineryRefreshOperator, BloomFilterOperator])
@pytest.mark.parametrize(("retryable", "error"), [(True, AirflowException), (False, AirflowFailException)])
def test_only_what_a_retry_can_mend_is_tried_again(
    operator: type[Any], retryable: bool, error: type[AirflowException]
) -> None:
    arguments: dict[str, Any] = {"manifest": "m"} if operator is JoineryRefreshOperator else {"keys": ["k"]}
    if operator is BloomFilterOperator:
        arguments["relation"] = "raw.t"
    reason = "s3a://me:hunter2@bucket is not there"
    with pytest.raises(AirflowException) as failed:
        operator(task_id="t", **arguments).outcome([result("failed", reason=reason, retryable=retryable)], {})
    assert type(failed.value) is error
    assert "bloom_filter of raw.t: s3a://***@bucket is not there" in str(failed.value)


def test_relations_that_do_not_exist_yet_skip_the_task_if_there_are_no_others() -> None:
    operator = JoineryRefreshOperator(task_id="t", manifest="m")
    skipped = result("skipped", reason="raw.t does not exist yet")
    with pytest.raises(AirflowSkipException, match=r"raw\.t: raw\.t does not exist yet"):
        operator.outcome([skipped], {})
    with pytest.raises(AirflowSkipException, match="nothing is declared that this task refreshes"):
        operator.outcome([], {})
    done = [skipped, result("unchanged")]
    assert operator.outcome(done, {}) == done


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        (
            result("refreshed", mode="incremental", rows=1250, keys=4, hot_keys=0, seconds=1.25, version="v1"),
            "bloom_filter of raw.t: refreshed (incremental), 1,250 rows, 4 keys, 0 hot keys, 1.2 s, version v1",
        ),
        (
            result("refreshed", mode="full", rows=1, version="v2", reason="what was published last cannot be used (x)"),
            "bloom_filter of raw.t: refreshed (full), 1 rows, 0.0 s, version v2; all was read, because what was "
            "published last cannot be used (x)",
        ),
        (result("unchanged", version="v1"), "bloom_filter of raw.t: unchanged, 0.0 s, version v1"),
        (
            result("unchanged", version="v1", unused="it is a view"),
            "bloom_filter of raw.t: unchanged, 0.0 s, version v1; no query uses it: it is a view",
        ),
        (result("failed", reason="password=hunter2 is wrong"), "bloom_filter of raw.t: password=*** is wrong"),
    ],
)
def test_a_result_is_one_line_of_the_log(shown: dict[str, Any], line: str) -> None:
    assert summary(shown) == line


TROUBLED = {
    "damaged": result("refreshed", mode="full", version="v2", was_damaged=True, reason="cannot be used (cut)"),
    "skipped": result("skipped", reason="raw.t does not exist yet"),
    "never used": result("unchanged", version="v1", unused="the key k is a partition column"),
}


@pytest.mark.parametrize("trouble", TROUBLED)
def test_a_task_fails_on_what_it_is_asked_to_fail_on(
    trouble: Any, manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_JOINERY_DEFAULT", json.dumps({"conn_type": "joinery"}))
    progress = Progress(state="done", results=(result("unchanged"), TROUBLED[trouble]))
    others: Any = [other for other in TROUBLED if other != trouble]

    def ended(fail_on: Any) -> Any:
        operator = JoineryRefreshOperator(task_id="t", manifest=manifest, fail_on=fail_on)
        folder = BatchFolder.create(tmp_path / uuid.uuid4().hex, Batch([]))
        folder.write_progress(progress)
        return operator.execute_complete({}, {"folder": str(folder.path), "problem": None})

    assert ended(others) == list(progress.results)
    with pytest.raises(AirflowFailException, match=f"1 artifacts need a look.*\n  - {trouble}: bloom_filter of raw.t"):
        ended([trouble])


@pytest.mark.parametrize(("retryable", "error"), [(True, AirflowException), (False, AirflowFailException)])
def test_what_needs_a_look_hides_no_failure_and_takes_no_retry(retryable: bool, error: type[AirflowException]) -> None:
    operator = JoineryRefreshOperator(task_id="t", manifest="m", fail_on=["damaged"])
    failed = result("failed", reason="the disk is full", retryable=retryable)
    with pytest.raises(AirflowException) as raised:
        operator._checked_outcome([TROUBLED["damaged"], failed], {})
    assert type(raised.value) is error
    assert "1 of 2 artifacts could not be refreshed:\n  - bloom_filter of raw.t: the disk is full" in str(raised.value)
    assert "1 artifacts need a look, as 'fail_on' asks for:\n  - damaged: bloom_filter of raw.t" in str(raised.value)


def test_a_task_that_would_be_skipped_fails_if_asked_to() -> None:
    operator = BloomFilterOperator(task_id="t", relation="raw.t", keys=["k"], fail_on=["skipped"])
    with pytest.raises(AirflowFailException, match="1 artifacts need a look"):
        operator._checked_outcome([TROUBLED["skipped"]], {})


def test_a_manifest_that_changes_during_a_refresh_does_not_matter_to_its_end(
    manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_JOINERY_DEFAULT", json.dumps({"conn_type": "joinery", "extra": {"store": "/s"}}))
    operator = JoineryRefreshOperator(task_id="t", manifest=manifest, stage="before_models")
    asked = operator.requests()
    folder = BatchFolder.create(tmp_path / "run", Batch(asked))
    folder.take_batch()
    results = tuple(result("refreshed", mode="full", rows=1, keys=1, version="v1") for _ in asked)
    folder.write_progress(Progress(state="done", results=results))
    manifest.unlink()
    assert operator.execute_complete({}, {"folder": str(folder.path), "problem": None}) == list(results)
    assert not folder.path.exists()
    facets = operator.get_openlineage_facets_on_complete(None)
    assert [output.name.split("/")[2] for output in facets.outputs] == ["bloom_filter", "range_index"]

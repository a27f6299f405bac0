"""The page of a run. (Pages of real runs: tests/airflow/test_run.py.)"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import pytest
from spark_joinery.jobs import RefreshResult
from spark_joinery.report import Report, redact, render
from spark_joinery.report.run import outcome_of
from support.html import parse

RESULTS: list[tuple[dict[str, Any], tuple[str, str | None]]] = [
    ({"status": "refreshed"}, ("refreshed", None)),
    ({"status": "unchanged"}, ("unchanged", None)),
    ({"status": "skipped", "reason": "it does not exist yet"}, ("skipped", "it does not exist yet")),
    ({"status": "failed", "reason": "no column a"}, ("failed", "no column a")),
    (
        {"status": "refreshed", "was_damaged": True, "reason": "what was published last cannot be used (cut)"},
        ("damaged", "what was published last cannot be used (cut); it was built again"),
    ),
    ({"status": "unchanged", "unused": "the key k is partitioned"}, ("never used", "the key k is partitioned")),
]


@pytest.mark.parametrize(("fields", "said"), RESULTS)
def test_what_is_wrong_comes_first(fields: dict[str, Any], said: tuple[str, str | None]) -> None:
    outcome = outcome_of(RefreshResult("raw.t", "bloom_filter", **fields))
    assert (outcome.state, outcome.reason) == said


def test_the_page_shows_each_outcome_though_the_store_has_nothing() -> None:
    outcomes = tuple(outcome_of(RefreshResult("file:/t/day=1", "bloom_filter", **fields)) for fields, _ in RESULTS)
    report = replace(Report("file:/store", (), datetime.now(timezone.utc), "UTC"), run=outcomes)
    heading, *rows = parse(render(report)).table("What became of each artifact").rows()
    assert heading == ["Relation", "Kind", "State", "Why"]
    assert [(row[2], row[3]) for row in rows] == [(state, reason or "–") for _, (state, reason) in RESULTS]
    redacted = render(redact(report))
    assert "day=1" not in redacted
    assert "it does not exist yet" in redacted


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        (
            '[CAST_INVALID_INPUT] The value \'4111-1111\' of the type "STRING" cannot be cast to "INT"',
            "[CAST_INVALID_INPUT] … (the task's log has the message)",
        ),
        (
            "[DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN] Cannot resolve \"'4111-1111'\"",
            "[DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN] … (the task's log has the message)",
        ),
        ("raw.t: where \"code = '4111-1111'\" is refused", "… (the task's log has the message)"),
        ("[4111-1111] is no number", "… (the task's log has the message)"),
    ],
)
def test_an_error_may_quote_values_so_its_name_alone_is_shown(reason: str, shown: str) -> None:
    outcome = outcome_of(RefreshResult("raw.t", "bloom_filter", "failed", reason))
    report = Report("file:/store", (), datetime.now(timezone.utc), "UTC", run=(outcome,))
    redacted = render(redact(report))
    assert parse(redacted).table("What became of each artifact").rows()[1][3] == shown
    assert "4111" not in redacted
    assert "4111" in render(report)

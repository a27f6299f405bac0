"""The page about one run: its results, and its artifacts as they are now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from spark_joinery.report.model import Outcome, Report
from spark_joinery.report.page import render
from spark_joinery.report.reader import read_report
from spark_joinery.report.redaction import redact
from spark_joinery.store import list_artifacts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_joinery.jobs import RefreshResult
    from spark_joinery.store import ArtifactStore


def page_of_run(spark: SparkSession, store: ArtifactStore, results: Sequence[RefreshResult], *, redacted: bool) -> str:
    """Make the page.

    Args:
        spark: The session of the run.
        store: The store.
        results: The result of each artifact.
        redacted: Hide the source's values.

    Returns:
        HTML.

    Raises:
        MatplotlibMissingError: If the library that draws the plots is not installed.

    Example:
        >>> page_of_run(spark, store, refresh(spark, requests, store), redacted=True)
    """
    relations = dict.fromkeys(result.relation for result in results)
    held = {artifact.relation for artifact in list_artifacts(store)} if relations else set()
    stored = [relation for relation in relations if relation in held]
    if stored:
        report = read_report(spark, store, stored)
    else:
        time_zone = str(spark.conf.get("spark.sql.session.timeZone"))
        report = Report(store.root, (), datetime.now(timezone.utc), time_zone)
    report = replace(report, run=tuple(map(outcome_of, results)))
    return render(redact(report) if redacted else report)


def outcome_of(result: RefreshResult) -> Outcome:
    """Put the result of an artifact into a word; a problem comes first.

    Args:
        result: The result of the refresh.

    Returns:
        The word, and why it is so.

    Example:
        >>> outcome_of(RefreshResult("raw.t", "bloom_filter", "unchanged", unused="it is a view")).state
        'never used'
    """
    if result.was_damaged and result.status == "refreshed":
        return Outcome(result.kind, result.relation, "damaged", f"{result.reason}; it was built again")
    if result.unused:
        return Outcome(result.kind, result.relation, "never used", result.unused)
    return Outcome(result.kind, result.relation, result.status, result.reason)

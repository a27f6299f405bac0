"""`joinery show`: the artifacts of one relation, and whether they are valid now."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spark_joinery.cause import one_line
from spark_joinery.cli.list import state_of
from spark_joinery.cli.options import (
    CannotStartError,
    Workplace,
    json_option,
    show_bytes,
    show_count,
    show_json,
    show_seconds,
    show_spec,
    store_option,
    warehouse_option,
    workplace,
)
from spark_joinery.cli.refresh import local_confs
from spark_joinery.cli.session import conf_option

if TYPE_CHECKING:
    from spark_joinery.store import Artifact, ArtifactVersion, Coverage, Past, SourceNow, Summary, Validity


@dataclass(frozen=True)
class Report:
    """All about one artifact."""

    summary: Summary
    coverage: Coverage | None
    validity: Validity
    history: list[Past]


@click.command()
@click.argument("relation")
@store_option
@click.option("--no-source", is_flag=True, help="Do not look at the source, for which Spark may have to start.")
@warehouse_option
@conf_option
@json_option
def show(
    relation: str, store: str | None, no_source: bool, warehouse: Path | None, confs: dict[str, str], as_json: bool
) -> None:
    """Show the artifacts of a relation: age, size, coverage, versions, and whether they are valid now or why not.

    RELATION is a table, schema.table, catalog.schema.table, or a path. The exit code is 0 if all are whole, 1 if one is
    damaged, 2 if there is none or the store cannot be read.
    """
    from spark_joinery.store import list_artifacts

    with workplace(store, {**local_confs(warehouse), **confs}, with_tables=True) as place:
        artifacts = list_artifacts(place.store, names=[relation])
        if not artifacts:
            raise CannotStartError(f"There is no artifact of {relation} in {place.store.root}; see `joinery list`.")
        reports = examine(place, artifacts, no_source)
    if as_json:
        rows = [asdict(report) for report in reports]
        show_json([{**row.pop("summary"), **row} for row in rows])
    else:
        for report in reports:
            print_report(report)
    sys.exit(1 if any(report.summary.damaged for report in reports) else 0)


def examine(place: Workplace, artifacts: list[Artifact], no_source: bool) -> list[Report]:
    """Look at artifacts, and once at the source of each.

    Args:
        place: Where they lie.
        artifacts: The artifacts.
        no_source: Do not look at the sources.

    Returns:
        One report per artifact.
    """
    from spark_joinery.store import Validity, coverage_of, history, summarise, validity_of

    sources: dict[str, SourceNow | str] = {}
    reports = []
    for artifact in artifacts:
        summary, version = summarise(place.store, artifact, verify="checksum")
        past = history(place.store.filesystem, artifact, summary.version)
        if version is None:
            reports.append(Report(summary, None, Validity(False, str(summary.reason)), past))
            continue
        if artifact.relation not in sources:
            unseen = "the source was not looked at"
            sources[artifact.relation] = unseen if no_source else source_now(place, artifact.relation, version)
        source = sources[artifact.relation]
        now = None if isinstance(source, str) else source
        validity = validity_of(version, now)
        if validity.usable is None and isinstance(source, str):
            validity = Validity(None, source)
        by_files = now is not None and now.listing is not None and version.fingerprint["type"] == "files"
        coverage = coverage_of(version.fingerprint, now.listing) if by_files and now and now.listing else None
        reports.append(Report(summary, coverage, validity, past))
    return reports


def source_now(place: Workplace, relation: str, version: ArtifactVersion) -> SourceNow | str:
    """Look at a source.

    Args:
        place: Starts Spark, if the relation is a table.
        relation: Identity of the relation.
        version: A version of one of its artifacts.

    Returns:
        The source as it is now; or why it cannot be seen.
    """
    from spark_joinery.store import Listing, SourceNow

    try:
        if ":/" in relation and version.fingerprint["type"] == "files" and place.is_near(relation):
            status = place.store.filesystem.status(relation)
            if status is None:
                return f"{relation} does not exist"
            files = list(place.store.filesystem.walk(relation)) if status.is_folder else [status]
            return SourceNow(Listing(files, [], int(time.time() * 1000)))
        return _opened(place, relation, version)
    except Exception as error:
        # whatever Spark, its catalogs and file systems raise: the rest of the report is still worth having
        return f"the source cannot be read: {one_line(error)}"


def _opened(place: Workplace, relation: str, version: ArtifactVersion) -> SourceNow | str:
    """Open a source as a refresh does."""
    from spark_joinery.jobs.source import open_source
    from spark_joinery.metadata import ArtifactRequest
    from spark_joinery.metadata.models import KIND_OF_SPEC
    from spark_joinery.store import HadoopFileSystem, SourceNow

    provider = (version.description["source"] or {}).get("provider", "parquet")
    name = f"{provider}.`{relation}`" if ":/" in relation else relation
    (model,) = (model for model, kind in KIND_OF_SPEC.items() if kind == version.description["kind"])
    request = ArtifactRequest.of_table(name, model.model_validate(version.description["spec"]))  # type: ignore[arg-type]
    source = open_source(place.spark, request, HadoopFileSystem.of_session(place.spark))
    if source is None:
        return f"{relation} does not exist"
    snapshot = (source.snapshot.table_id, source.snapshot.version) if source.snapshot else None
    return SourceNow(None if snapshot else source.listing, snapshot, source.description)


def print_report(report: Report) -> None:
    """Print all about one artifact for people.

    Args:
        report: The report.
    """
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    summary, coverage, validity = report.summary, report.coverage, report.validity
    colour, answer = {True: ("green", "yes"), False: ("yellow", "no"), None: ("dim", "unknown")}[validity.usable]
    facts = Table(Column(style="bold"), Column(overflow="fold"), show_header=False, box=None, pad_edge=False)
    facts.add_row("relation", Text(summary.relation))
    facts.add_row("specification", Text(show_spec(summary.spec)))
    facts.add_row("state", Text.assemble(state_of(summary)))
    facts.add_row("valid now", Text(f"{answer}: {validity.reason}", colour))
    if coverage:
        gone = f", {coverage.gone:,} that it covers are gone or changed" if coverage.gone else ""
        facts.add_row("coverage", f"{coverage.covered:,} of {coverage.total:,} files of the source{gone}")
    facts.add_row("age", show_seconds(summary.age_seconds))
    facts.add_row("size", f"{show_bytes(summary.bytes)}, from {show_count(summary.rows)} rows")
    facts.add_row("built", Text(f"{summary.built_at or '-'} by {summary.built_by or '-'}"))
    facts.add_row("format", str(summary.format_version or "-"))
    right = (Column(name, justify="right", no_wrap=True) for name in ("size", "rows"))
    versions = Table(Column("version", no_wrap=True), *right, Column("state", overflow="fold"))
    for past in report.history:
        versions.add_row(Text(past.version), show_bytes(past.bytes), show_count(past.rows), Text(past.state))
    console = Console()
    console.rule(Text(f"{summary.kind} {summary.spec_hash}"), align="left")
    console.print(facts)
    console.print(versions)

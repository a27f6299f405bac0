"""`joinery show`: the artifacts of one relation, and whether they are valid now."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spark_joinery.cli.list import state_of
from spark_joinery.cli.opened_store import OpenedStore, opened_store
from spark_joinery.cli.options import (
    CannotStartError,
    cell,
    conf_option,
    json_option,
    show_json,
    show_spec,
    store_option,
    warehouse_option,
)
from spark_joinery.cli.session import local_confs
from spark_joinery.text import age, number, size

if TYPE_CHECKING:
    from spark_joinery.store import (
        Artifact,
        ArtifactVersion,
        Coverage,
        SourceNow,
        Summary,
        Validity,
        VersionSummary,
    )


@dataclass(frozen=True)
class ArtifactDetails:
    """All about one artifact."""

    summary: Summary
    coverage: Coverage | None
    validity: Validity
    history: list[VersionSummary]


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

    with opened_store(store, {**local_confs(warehouse), **confs}, with_tables=True) as opened:
        artifacts = list_artifacts(opened.store, names=[relation])
        if not artifacts:
            raise CannotStartError(f"There is no artifact of {relation} in {opened.store.root}; see `joinery list`.")
        found = examine(opened, artifacts, no_source)
    if as_json:
        rows = [asdict(details) for details in found]
        show_json([{**row.pop("summary"), **row} for row in rows])
    else:
        for details in found:
            print_details(details)
    sys.exit(1 if any(details.summary.damaged for details in found) else 0)


def examine(opened: OpenedStore, artifacts: list[Artifact], no_source: bool) -> list[ArtifactDetails]:
    """Look at artifacts, and once at the source of each.

    Args:
        opened: The store in which they lie.
        artifacts: The artifacts.
        no_source: Do not look at the sources.

    Returns:
        The details of each artifact.
    """
    from spark_joinery.store import Sources, Validity, history, summarise

    sources = Sources(None if no_source else partial(look, opened))
    found = []
    for artifact in artifacts:
        summary, version = summarise(opened.store, artifact, verify="checksum")
        validity, coverage = Validity(False, str(summary.reason)), None
        if version is not None:
            validity, coverage = sources.compare(artifact.relation, version)
        versions = history(opened.store.filesystem, artifact, summary.version)
        found.append(ArtifactDetails(summary, coverage, validity, versions))
    return found


def look(opened: OpenedStore, relation: str, version: ArtifactVersion) -> SourceNow | None:
    """Look at a source, without Spark if it is a path whose files can be listed without it.

    Args:
        opened: Starts Spark, if the relation is a table.
        relation: Identity of the relation.
        version: A version of one of its artifacts.

    Returns:
        The source as it is now; None if it does not exist.
    """
    from spark_joinery.store import HadoopFileSystem, Listing, SourceNow, path_of

    path = path_of(relation, version)
    if not (":/" in relation and version.fingerprint["type"] == "files" and opened.is_near(path)):
        from spark_joinery.jobs.source_now import source_now

        return source_now(opened.spark, HadoopFileSystem.of_session(opened.spark), relation, version)
    path = opened.store.filesystem.qualify(path)
    status = opened.store.filesystem.status(path)
    if status is None:
        return None
    files = list(opened.store.filesystem.walk(path)) if status.is_folder else [status]
    return SourceNow(Listing(files, [], int(time.time() * 1000)))


def print_details(details: ArtifactDetails) -> None:
    """Print all about one artifact for people.

    Args:
        details: The details of the artifact.
    """
    from rich.console import Console
    from rich.table import Column, Table

    summary, coverage, validity = details.summary, details.coverage, details.validity
    colour, answer = {True: ("green", "yes"), False: ("yellow", "no"), None: ("dim", "unknown")}[validity.usable]
    facts = Table(Column(style="bold"), Column(overflow="fold"), show_header=False, box=None, pad_edge=False)
    facts.add_row("relation", cell(summary.relation))
    facts.add_row("specification", cell(show_spec(summary.spec)))
    facts.add_row("state", state_of(summary))
    facts.add_row("valid now", cell(f"{answer}: {validity.reason}", colour))
    if coverage:
        gone = f", {coverage.gone:,} that it covers are gone or changed" if coverage.gone else ""
        facts.add_row("coverage", f"{coverage.covered:,} of {coverage.total:,} files of the source{gone}")
    facts.add_row("age", age(summary.age_seconds))
    facts.add_row("size", f"{size(summary.bytes)}, from {number(summary.rows)} rows")
    facts.add_row("built", cell(f"{summary.built_at or '-'} by {summary.built_by or '-'}"))
    facts.add_row("format", str(summary.format_version or "-"))
    right = (Column(name, justify="right", no_wrap=True) for name in ("size", "rows"))
    versions = Table(Column("version", no_wrap=True), *right, Column("state", overflow="fold"))
    for version in details.history:
        versions.add_row(cell(version.version), size(version.bytes), number(version.rows), cell(version.state))
    console = Console()
    console.rule(cell(f"{summary.kind} {summary.spec_hash}"), align="left")
    console.print(facts)
    console.print(versions)

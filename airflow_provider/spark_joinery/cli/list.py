"""`joinery list`: what the artifact store holds."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from spark_joinery.cli.opened_store import opened_store
from spark_joinery.cli.options import (
    cell,
    conf_option,
    json_option,
    select_option,
    show_json,
    show_spec,
    store_option,
)
from spark_joinery.text import age, number, size

if TYPE_CHECKING:
    from rich.text import Text

    from spark_joinery.store import Summary, Verify


@click.command("list")
@store_option
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(["distribution", "bloom_filter", "range_index"]),
    help="Only this kind; may be repeated.",
)
@select_option
@click.option("--checksum", is_flag=True, help="Read all files, rather than compare their lengths.")
@conf_option
@json_option
def list_command(
    store: str | None,
    kinds: tuple[str, ...],
    names: tuple[str, ...],
    checksum: bool,
    confs: dict[str, str],
    as_json: bool,
) -> None:
    """List the artifacts of a store.

    The exit code is 0 if all are whole, 1 if one is damaged, 2 if the store cannot be read.
    """
    from spark_joinery.store import list_artifacts, summarise

    with opened_store(store, confs) as opened:
        found = list_artifacts(opened.store, kinds, names) if kinds else list_artifacts(opened.store, names=names)
        verify: Verify = "checksum" if checksum else "length"
        summaries = [summarise(opened.store, artifact, verify)[0] for artifact in found]
    if as_json:
        show_json([asdict(summary) for summary in summaries])
    elif summaries:
        print_table(summaries)
    else:
        click.echo("No artifact.")
    sys.exit(1 if any(summary.damaged for summary in summaries) else 0)


def print_table(summaries: list[Summary]) -> None:
    """Print the artifacts for people.

    Args:
        summaries: The artifacts.
    """
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    numbers = (Column(name, justify="right", no_wrap=True) for name in ("age", "size", "rows", "versions"))
    table = Table(Column("artifact", overflow="fold"), *numbers, Column("state", overflow="fold"))
    for summary in summaries:
        table.add_row(
            Text.assemble(cell(summary.relation), cell(f"\n{summary.kind} {show_spec(summary.spec)}", "dim")),
            age(summary.age_seconds),
            size(summary.bytes),
            number(summary.rows),
            str(summary.versions),
            state_of(summary),
        )
    Console().print(table)


def state_of(summary: Summary) -> Text:
    """Say in colour whether an artifact is whole.

    Args:
        summary: The artifact.

    Returns:
        A text of rich.
    """

    if summary.damaged:
        return cell(f"damaged: {summary.reason}", "bold red")
    return cell("whole", "green") if summary.version else cell(summary.reason or "", "yellow")

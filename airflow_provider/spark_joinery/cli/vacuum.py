"""`joinery vacuum`: delete old versions and leftovers from the artifact store."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from spark_joinery.cli.opened_store import opened_store
from spark_joinery.cli.options import (
    CannotStartError,
    Duration,
    cell,
    conf_option,
    json_option,
    manifest_option,
    select_option,
    show_json,
    store_option,
)
from spark_joinery.errors import JoineryError
from spark_joinery.text import printable, size

if TYPE_CHECKING:
    from spark_joinery.store import VacuumResult


@click.command()
@store_option
@click.option(
    "--keep", type=click.IntRange(min=1), default=3, show_default=True, help="Versions to keep of an artifact."
)
@click.option(
    "--older-than",
    type=Duration(),
    help="Only what was replaced, or left incomplete, so long ago (90s, 30m, 12h, 7d); default 1h and 6h.",
)
@select_option
@click.option("--undeclared", is_flag=True, help="Also artifacts that the manifest does not declare.")
@manifest_option
@click.option("--dry-run", is_flag=True, help="Show what would be deleted.")
@conf_option
@json_option
def vacuum(
    store: str | None,
    keep: int,
    older_than: float | None,
    names: tuple[str, ...],
    undeclared: bool,
    manifest: str,
    dry_run: bool,
    confs: dict[str, str],
    as_json: bool,
) -> None:
    """Delete old versions, leftovers of killed refreshes, temporary files and empty folders.

    The version in use stays, as do versions that a query planned lately may still read. The exit code is 0 if all went
    well, 1 if something could not be deleted, 2 if nothing could be started.
    """
    from spark_joinery.store import vacuum as run

    declared = declared_by(manifest) if undeclared else None
    with opened_store(store, confs) as opened:
        limits = replace(opened.store.limits, keep=keep)
        if older_than is not None:
            limits = replace(limits, grace_s=older_than, abandoned_after_s=older_than)
        opened.store.limits = limits
        result = run(opened.store, names=names, declared=declared, dry_run=dry_run)
        root = opened.store.root
    if as_json:
        rows = [asdict(removal) for removal in result.removals]
        failed = [{"path": path, "error": error} for path, error in result.failed.items()]
        show_json({"store": root, "dry_run": dry_run, "bytes": freed(result), "removals": rows, "failed": failed})
    else:
        print_table(result, root, dry_run)
    sys.exit(1 if result.failed else 0)


def declared_by(manifest: str) -> set[tuple[str, str, str]]:
    """Read which artifacts a dbt project declares.

    Args:
        manifest: The file.

    Returns:
        Kind, relation and specification hash of each.

    Raises:
        CannotStartError: If it cannot be read, or declares nothing at all, which is more likely a mistake.
    """
    from spark_joinery.metadata import read_manifest

    try:
        return {(each.kind, each.relation, each.spec_hash) for each in read_manifest(manifest).requests}
    except JoineryError as error:
        raise CannotStartError(str(error)) from error


def freed(result: VacuumResult) -> int:
    """Add up the sizes of the deleted files.

    Args:
        result: The result of the vacuum.

    Returns:
        Bytes.
    """
    return sum(removal.bytes for removal in result.removals if removal.path not in result.failed)


def print_table(result: VacuumResult, root: str, dry_run: bool) -> None:
    """Print for people which files were deleted.

    Args:
        result: The result of the vacuum.
        root: The store.
        dry_run: Whether nothing was deleted.
    """
    from rich.console import Console
    from rich.table import Column, Table

    for path in result.failed.keys() - {removal.path for removal in result.removals}:
        click.echo(printable(f"{path} cannot be looked into: {result.failed[path]}"), err=True)
    if not result.removals:
        click.echo("Nothing to delete.")
        return
    table = Table(Column("path", overflow="fold"), "why", Column("size", justify="right"), "")
    for removal in result.removals:
        error = result.failed.get(removal.path)
        outcome = (
            cell(f"failed: {error}", "bold red") if error else cell("would delete" if dry_run else "deleted", "dim")
        )
        table.add_row(cell(removal.path.removeprefix(f"{root}/")), removal.reason, size(removal.bytes), outcome)
    Console().print(table)
    click.echo(f"{size(freed(result))} {'would be' if dry_run else 'were'} freed in {root}.")

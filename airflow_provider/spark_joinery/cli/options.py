"""The options that commands share, each declared once, and how commands print and end."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spark_joinery.text import printable

if TYPE_CHECKING:
    from rich.text import Text

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def parse_confs(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Turn repeated ``key=value`` options into a dict (a click callback).

    Args:
        values: The texts that the user typed.

    Returns:
        The settings: from key to value.

    Raises:
        click.BadParameter: A value has no key or no equals sign.
    """
    confs = {}
    for value in values:
        key, separator, setting = value.partition("=")
        if not (key.strip() and separator):
            raise click.BadParameter(f"{value!r} is not of the form key=value")
        confs[key.strip()] = setting.strip()
    return confs


def parse_names(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse empty names: a shell variable that is not set must not select everything (a click callback).

    Args:
        values: The texts that the user typed.

    Returns:
        The names.

    Raises:
        click.BadParameter: A name is empty or blank.
    """
    for value in values:
        if not value.strip():
            raise click.BadParameter(f"{value!r} names nothing; without a selection everything is taken.")
    return values


store_option = click.option(
    "--store", help="Folder or URI of the artifact store; by default the conf spark.joinery.store."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
select_option = click.option(
    "--select",
    "names",
    multiple=True,
    metavar="NAME",
    callback=parse_names,
    help="Only this relation; may be repeated.",
)
manifest_option = click.option(
    "--manifest", default="target/manifest.json", show_default=True, help="Written by `dbt parse`."
)
schema_option = click.option("--schema", default="joinery", show_default=True, help="Schema of the registered views.")
full_refresh_option = click.option(
    "--full-refresh", is_flag=True, help="Read everything, also where nothing or little is new."
)
warehouse_option = click.option(
    "--warehouse", type=click.Path(path_type=Path), help="Local Spark: folder of warehouse and metastore."
)
conf_option = click.option(
    "--conf",
    "confs",
    metavar="KEY=VALUE",
    multiple=True,
    callback=parse_confs,
    help="A Spark setting for the session; may be repeated.",
)


class Duration(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A number and a unit: 90s, 30m, 12h, 7d, 2w."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, (int, float)):
            return float(value)
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", str(value).strip())
        if match is None:
            self.fail(f"{value!r} is not a duration: expected a number and s, m, h, d or w, as in 12h", param, ctx)
        return float(match[1]) * _UNITS[match[2]]


class CannotStartError(click.ClickException):
    """Nothing was done; exit code 1 says that something was tried and failed."""

    exit_code = 2

    def format_message(self) -> str:
        return printable(self.message)


def show_json(value: Any) -> None:
    """Print a result for programs.

    Args:
        value: A value that JSON can hold.
    """
    click.echo(json.dumps(value, indent=2))


def cell(text: str, style: str = "") -> Text:
    """Make a text of rich that shows a name or message as it is, without markup and without escape sequences.

    Args:
        text: The name or message.
        style: A style of rich.
    """
    from rich.text import Text

    return Text(printable(text), style)


def show_spec(spec: Mapping[str, Any] | None) -> str:
    """Write a specification for people.

    Args:
        spec: The specification; None if unknown.

    Example:
        >>> show_spec({"keys": ["origin", "tailnum"], "fpp": 0.01})
        'keys=origin,tailnum fpp=0.01'
    """

    def text(value: Any) -> str:
        if isinstance(value, Mapping):
            return "{" + " ".join(f"{key}={text(each)}" for key, each in value.items()) + "}"
        return ",".join(map(text, value)) if isinstance(value, list) else str(value)

    return "-" if spec is None else " ".join(f"{key}={text(value)}" for key, value in spec.items())

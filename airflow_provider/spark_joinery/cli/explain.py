"""`joinery explain`: what runs each join and window of a query, and why."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

import click

from spark_joinery.cause import refusal
from spark_joinery.cli.options import (
    cell,
    conf_option,
    json_option,
    show_json,
)
from spark_joinery.cli.session import spark_session
from spark_joinery.errors import InvalidArgumentError
from spark_joinery.plan_report import Operator, explain_sql
from spark_joinery.text import size


class BadStatement(click.ClickException):
    """The user's SQL is at fault, not the set-up."""

    exit_code = 2


@click.command()
@click.argument("statement", metavar="FILE|SQL")
@conf_option
@json_option
def explain(statement: str, confs: dict[str, str], as_json: bool) -> None:
    """Show what runs each join and window of a query, and why.

    The statement is planned, not run. It sees the tables of the session's catalog: for Hive's, add
    --conf spark.sql.catalogImplementation=hive. The exit code is 2 if Spark refuses the statement.
    """
    from pyspark.errors import ParseException, PySparkException

    sql = read_statement(statement)
    with spark_session(confs) as spark:
        try:
            operators = explain_sql(spark, sql)
        except ParseException as error:
            raise BadStatement(str(error).strip() + _template_hint(sql)) from error
        except PySparkException as error:
            # an error of analysis, with the whole plan after its message; or of a constant, which planning computes
            raise BadStatement(str(error).strip().partition(";\n")[0]) from error
    if as_json:
        show_json([asdict(operator) for operator in operators])
    else:
        print_table(operators)


def read_statement(argument: str) -> str:
    """Tell a file from a statement.

    Args:
        argument: The path of a file that exists, else SQL text.

    Returns:
        The statement.

    Raises:
        InvalidArgumentError: It is the name of a SQL file that does not exist or cannot be read, or there is no
            statement.
    """
    one_line = "\n" not in argument
    if one_line and _is_file(argument):
        argument = _read(Path(argument))
    elif one_line and argument.endswith(".sql") and not any(character.isspace() for character in argument):
        raise InvalidArgumentError(f"There is no file {argument}.")
    if not argument.strip():
        raise InvalidArgumentError("There is no statement to explain.")
    return argument


def _is_file(argument: str) -> bool:
    try:
        return Path(argument).is_file()
    except OSError:
        return False  # a statement may be longer than any name of a file


def _read(file: Path) -> str:
    try:
        # some editors begin a file with a byte order mark, which is no SQL
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(
            f"{file} is not UTF-8 ({error.reason}, at byte {error.start}): save it so."
        ) from None
    except OSError as error:
        raise InvalidArgumentError(f"{file} cannot be read: {refusal(error)}.") from error


def print_table(operators: list[Operator]) -> None:
    """Print the report for people.

    Args:
        operators: The joins and windows, from the plan's root down.
    """
    from rich.console import Console
    from rich.table import Table

    if not operators:
        click.echo("No join or window in this plan.")
        return
    table = Table("", "operator", "by", "why")
    for operator in operators:
        by = cell("Joinery", "green") if operator.joinery else cell("Spark", "dim")
        why = cell(_with_units(operator.reason))
        if arguments := _arguments(operator):
            why.append("\n").append(cell(arguments, "dim"))
        table.add_row(cell(operator.kind), cell(operator.operator), by, why)
    Console().print(table)


def _with_units(reason: str) -> str:
    return re.sub(r"\b\d+ bytes\b", lambda found: size(int(found[0].split()[0])), reason)


def _arguments(operator: Operator) -> str:
    """Show keys, order and condition, which tell joins apart, without the numbers of Spark's columns."""
    arguments = operator.detail.removeprefix(operator.operator).strip()
    # the hash that breaks the ties of a LAST JOIN is no part of the query
    return re.sub(r"#\d+L?", "", re.sub(r", xxhash64\([^()]*\) ASC NULLS FIRST", "", arguments))


def _template_hint(sql: str) -> str:
    templated = "{{" in sql or "{%" in sql
    return "\n\nThis is a dbt template: run `dbt compile` and explain the file in target/compiled." if templated else ""

"""The command `joinery`."""

from __future__ import annotations

from importlib import import_module

import click

from spark_joinery.cause import HOW_TO_INSTALL_SPARK, is_spark_missing
from spark_joinery.errors import JoineryError

# From name to "module:attribute": a command's dependencies are imported when it runs, not for `joinery --help`.
COMMANDS = {
    "doctor": ("spark_joinery.cli.doctor:doctor", "Check Java, Spark, the jar and the artifact store."),
    "explain": ("spark_joinery.cli.explain:explain", "Show what runs each join and window of a query, and why."),
    "list": ("spark_joinery.cli.list:list_command", "List the artifacts of a store."),
    "refresh": ("spark_joinery.cli.refresh:refresh", "Precompute what the dbt project declares in meta.joinery."),
    "report": ("spark_joinery.cli.report:report", "Show skew, sizes and ages of artifacts, on one page."),
    "show": ("spark_joinery.cli.show:show", "Show the artifacts of a relation, and whether they are valid now."),
    "vacuum": ("spark_joinery.cli.vacuum:vacuum", "Delete old versions and leftovers from a store."),
}


class SparkMissingError(click.ClickException):
    """Nothing was done, because pyspark is not installed."""

    exit_code = 2


class LazyGroup(click.Group):
    """A group that imports a command when it is invoked, and turns Joinery's errors into one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except JoineryError as error:
            raise click.ClickException(str(error)) from error
        except ModuleNotFoundError as error:
            if is_spark_missing(error):
                raise SparkMissingError(f"This needs Spark. {HOW_TO_INSTALL_SPARK}") from error
            raise


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="spark-joinery", prog_name="joinery")
def main() -> None:
    """LAST JOIN, range joins, skewed windows and selective joins for Spark."""

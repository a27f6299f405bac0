"""A dbt project that uses the package, run in this process on the shared Spark session.

Starting dbt and Spark takes most of the time of a `dbt build`. Here the project is parsed once, and each test renders
macros with `dbt run-operation`, in dbt's own Jinja, in a fraction of a second.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunner, dbtRunnerResult

Variables = Mapping[str, Any] | None
PACKAGE = Path(__file__).parents[2] / "dbt_macros"
SCHEMA = "dbt_tests"
RENDER = """
{% macro render(macro, calls) %}
  {%- set relations = ['left', 'right', 'relation', 'distribution', 'model', 'compare_model'] -%}
  {%- for arguments in calls -%}
    {# YAML cannot hold a Relation: a mapping stands for one #}
    {%- for name in relations if arguments.get(name) is mapping -%}
      {%- do arguments.update({name: api.Relation.create(**arguments[name])}) -%}
    {%- endfor -%}
    {%- if arguments.get('right') is sequence -%}
      {%- for item in arguments.right if item is mapping and item.get('relation') is mapping -%}
        {%- do item.update({'relation': api.Relation.create(**item.relation)}) -%}
      {%- endfor -%}
    {%- endif -%}
    {%- do log('RENDERED' ~ context['joinery'][macro](**arguments), info=true) -%}
  {%- endfor -%}
{% endmacro %}
"""


def table(name: str) -> dict[str, str]:
    """A table of the test schema, as an argument of `Dbt.render`."""
    return {"schema": SCHEMA, "identifier": name}


class MacroError(Exception):
    """dbt failed, with this message."""


class Dbt:
    """The dbt project of the tests.

    Args:
        folder: The folder of the project.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log: list[str] = []
        self.queries: list[str] = []
        self.manifest: Any = None

    def invoke(self, *arguments: str) -> dbtRunnerResult:
        """Run dbt. Afterwards, `log` has its messages from info level up, and `queries` its queries to Spark.

        Args:
            *arguments: The command line, such as ``build``.

        Returns:
            dbt's own result.
        """
        self.log.clear()
        self.queries.clear()
        folder = ["--project-dir", str(self.folder), "--profiles-dir", str(self.folder)]
        return self._runner().invoke([*arguments, *folder, "--no-send-anonymous-usage-stats", "--quiet"])

    def _runner(self) -> dbtRunner:
        # imported here: every process of `make test` imports this module, and dbt takes longer than all other imports
        from dbt.cli.main import dbtRunner
        from dbt_common.behavior_flags import BehaviorFlagRendered

        # dbt searches the whole stack for the module that gives an adapter a flag, only to log its name. Below pytest
        # this takes a good part of each run.
        BehaviorFlagRendered._default_source = staticmethod(lambda: "adapter")  # type: ignore[method-assign]
        return dbtRunner(manifest=self.manifest, callbacks=[self._remember])

    def _remember(self, event: Any) -> None:
        if event.info.level in ("info", "warn", "error"):
            self.log.append(event.info.msg)
        elif event.info.name == "SQLQuery":
            self.queries.append(" ".join(re.sub(r"/\*.*?\*/", "", event.data.sql, flags=re.DOTALL).split()))

    def render(self, macro: str, mode: str = "portable", variables: Variables = None, **arguments: Any) -> str:
        """Render a macro of the package as a model does at run time.

        Args:
            macro: The macro's name without ``joinery.``.
            mode: The var joinery_mode.
            variables: Further vars; by default joinery_min_part_rows is 1, which splits even the few rows of a test.
            **arguments: The macro's arguments; `table(...)` for a Relation.

        Returns:
            The SQL.

        Raises:
            MacroError: If dbt fails.
        """
        (sql,) = self.render_all(macro, [arguments], mode, variables)
        return sql

    def render_all(
        self, macro: str, calls: Sequence[dict[str, Any]], mode: str = "portable", variables: Variables = None
    ) -> list[str]:
        """Render a macro several times in one run of dbt.

        Args:
            macro: The macro's name without ``joinery.``.
            calls: The arguments of each call; `table(...)` for a Relation.
            mode: The var joinery_mode.
            variables: Further vars.

        Returns:
            The SQL of each call.

        Raises:
            MacroError: If dbt fails.
        """
        given = {"joinery_mode": mode, "joinery_min_part_rows": 1} | dict(variables or {})
        # JSON is YAML without anchors, so calls share no arguments: a macro may change its own
        arguments = json.dumps({"macro": macro, "calls": list(calls)})
        result = self.invoke("run-operation", "render", "--args", arguments, "--vars", yaml.safe_dump(given))
        if not result.success:
            raise MacroError("\n".join(self.log))
        return [line.removeprefix("RENDERED") for line in self.log if line.startswith("RENDERED")]


def write_project(folder: Path, **models: str) -> None:
    """Write a dbt project that has the package installed from the repository.

    Args:
        folder: The folder to write to.
        **models: SQL of models by name.
    """
    output = {"type": "spark", "method": "session", "host": "NA", "schema": SCHEMA, "threads": 2}
    files = {
        "dbt_project.yml": {"name": "joinery_tests", "profile": "tests", "config-version": 2},
        "packages.yml": {"packages": [{"local": str(PACKAGE)}]},
        "profiles.yml": {"tests": {"target": "tests", "outputs": {"tests": output}}},
    }
    for name, content in files.items():
        (folder / name).write_text(yaml.safe_dump(content))
    for kind, texts in (("macros", {"render": RENDER}), ("models", models)):
        (folder / kind).mkdir()
        for name, text in texts.items():
            (folder / kind / f"{name}.sql").write_text(text)

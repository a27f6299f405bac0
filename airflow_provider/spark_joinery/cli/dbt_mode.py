"""Ask dbt for the mode that a project's macros render in, and for settings of the project's own session."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from spark_joinery.errors import JoineryError

PREFIX = "joinery: "
SETTING = "joinery setting "
SETTINGS = ("spark.joinery.store", "spark.sql.shuffle.partitions")
_UNSET = "<undefined>"  # Spark's SET shows it for a setting without a value

# A server's settings are left out: its paths are not this machine's.
_QUESTIONS = f"""
{{% do joinery.check_mode() %}}
{{% if execute and adapter.config.credentials.method == 'session' %}}{{% for name in {list(SETTINGS)} %}}
{{% do log('{SETTING}' ~ run_query('set ' ~ name).rows[0].values() | join('='), info=true) %}}
{{% endfor %}}{{% endif %}}
select 1
"""


@dataclass(frozen=True)
class DbtSession:
    """A project's session as dbt describes it.

    Attributes:
        mode: The mode and the reason for it, with the versions of jar, Spark and package.
        settings: The members of `SETTINGS` that have a value; empty where the session runs on a server.
    """

    mode: str
    settings: dict[str, str]


def ask_dbt(project_dir: Path) -> DbtSession:
    """Run the macro `joinery.check_mode` of a dbt project, as `dbt build` does before its first model.

    Args:
        project_dir: Folder of `dbt_project.yml`; `dbt deps` has run there.

    Returns:
        The mode and the settings of the project's session.

    Raises:
        JoineryError: There is no such project or no dbt, the versions do not fit each other, or dbt fails. It fails,
            for example, if the mode is `extension` and the jar is not loaded.

    Example:
        >>> ask_dbt(Path("models_example")).mode
        'extension mode (joinery_mode: auto, jar 0.1.0 loaded); Spark 4.3.0, package 0.1.0'
    """
    if not (project_dir / "dbt_project.yml").is_file():
        raise JoineryError(f"{project_dir} has no dbt_project.yml: name the folder of a dbt project.")
    if importlib.util.find_spec("dbt") is None:
        raise JoineryError("dbt is not installed: pip install 'spark-joinery[dbt]'")
    with tempfile.TemporaryDirectory(prefix="joinery-") as scratch:
        command = [sys.executable, "-m", "dbt.cli.main", "--log-format", "json", "--log-path", scratch]
        command += ["compile", "--no-populate-cache", "--inline", _QUESTIONS]
        command += ["--project-dir", str(project_dir), "--target-path", scratch]
        # profiles.yml is looked for in the working directory, then in ~/.dbt
        done = subprocess.run(command, cwd=project_dir, capture_output=True, text=True, check=False)
    said = _messages(done.stdout)
    modes = [text for _, text in said if text.startswith(PREFIX) and " mode (" in text]
    problems = [text for level, text in said if level == "error" or (level == "warn" and PREFIX in text)]
    if done.returncode or problems or not modes:
        raise JoineryError(
            "\n".join(problems) or done.stderr.strip() or "dbt ran, but the package joinery said nothing."
        )
    pairs = (text.removeprefix(SETTING).split("=", 1) for _, text in said if text.startswith(SETTING))
    settings = {name: value for name, value in pairs if value != _UNSET}
    return DbtSession(modes[0].removeprefix(PREFIX), settings)


def _messages(output: str) -> list[tuple[str, str]]:
    """Read level and text of each event in dbt's JSON log, among other lines that Spark prints there."""
    found = []
    for line in output.splitlines():
        try:
            event = json.loads(line)["info"]
            found.append((str(event["level"]), str(event["msg"]).strip()))
        except (ValueError, KeyError, TypeError):
            continue
    return found

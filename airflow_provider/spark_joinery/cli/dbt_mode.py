"""Which mode the macros of a dbt project render in: asked of dbt itself, in the session of the project's profile."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from spark_joinery.errors import JoineryError

PREFIX = "joinery: "


def dbt_mode(project_dir: Path) -> str:
    """Run the macro `joinery.check_mode` of a dbt project, as `dbt build` does before its first model.

    Args:
        project_dir: Folder of `dbt_project.yml`; `dbt deps` has run there.

    Returns:
        The mode and the reason for it, with the versions of jar, Spark and package.

    Raises:
        JoineryError: There is no such project or no dbt, the versions do not fit each other, or dbt fails, as it
            does where the mode is `extension` and the jar is not loaded.

    Example:
        >>> dbt_mode(Path("models_example"))
        'extension mode (joinery_mode: auto, jar 0.1.0 loaded); Spark 4.3.0, package 0.1.0'
    """
    if not (project_dir / "dbt_project.yml").is_file():
        raise JoineryError(f"{project_dir} has no dbt_project.yml: name the folder of a dbt project.")
    if importlib.util.find_spec("dbt") is None:
        raise JoineryError("dbt is not installed: pip install 'spark-joinery[dbt]'")
    with tempfile.TemporaryDirectory(prefix="joinery-") as scratch:
        command = [sys.executable, "-m", "dbt.cli.main", "--log-format", "json", "--log-path", scratch]
        command += ["run-operation", "joinery.check_mode", "--project-dir", str(project_dir), "--target-path", scratch]
        # profiles.yml is looked for in the working directory, then in ~/.dbt
        done = subprocess.run(command, cwd=project_dir, capture_output=True, text=True, check=False)
    said = _messages(done.stdout)
    modes = [text for _, text in said if text.startswith(PREFIX) and " mode (" in text]
    problems = [text for level, text in said if level == "error" or (level == "warn" and PREFIX in text)]
    if done.returncode or problems or not modes:
        raise JoineryError(
            "\n".join(problems) or done.stderr.strip() or "dbt ran, but the package joinery said nothing."
        )
    return modes[0].removeprefix(PREFIX)


def _messages(output: str) -> list[tuple[str, str]]:
    """Level and text of each event in dbt's JSON log; what else is printed there, by Spark for one, is left out."""
    found = []
    for line in output.splitlines():
        try:
            event = json.loads(line)["info"]
            found.append((str(event["level"]), str(event["msg"]).strip()))
        except (ValueError, KeyError, TypeError):
            continue
    return found

"""Tell whether files below some paths were changed lately: `python3 tests/support/recent.py PATH...` prints yes or no.

Lately means within the newest commits of a branch, merges counted once, or not committed yet. The answer is also yes
in a clone without these commits, or without git.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

COMMITS = 30


def is_recent(repository: Path, paths: list[str]) -> bool:
    """True unless the files below these paths are as they were `COMMITS` commits ago.

    Args:
        repository: The repository's folder.
        paths: Files and folders, relative to it; `:!PATH` leaves one out.
    """

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["git", "-C", str(repository), *arguments, "--", *paths]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    try:
        untracked = git("ls-files", "--others", "--exclude-standard")
        return git("diff", "--quiet", f"HEAD~{COMMITS}").returncode != 0 or bool(untracked.stdout)
    except FileNotFoundError:
        return True


if __name__ == "__main__":
    print("yes" if is_recent(Path.cwd(), sys.argv[1:]) else "no")

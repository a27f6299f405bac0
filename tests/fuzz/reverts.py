"""Checks that the fuzzer finds wrong answers again that were fixed: `make fuzz-reverts`.

Each patch of the folder `reverts` takes one fix out of the present code. Above its first change it says which defect
comes back, and which CASE of the fuzzer finds it. A fuzzer that does not find it is not worth its time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz.runner import replay
from fuzz.settings import QUICK_START
from fuzz.summary import pieces_of

ROOT = Path(__file__).resolve().parents[2]
PATCHES = sorted((Path(__file__).parent / "reverts").glob("*.patch"))
JARS = Path("airflow_provider/spark_joinery/jars")
# Text in a difference that is an error, not a wrong answer.
ERROR = "error where stock has"


@dataclass
class Finding:
    """The outcome of one patch and one CASE.

    Attributes:
        revert: The name of the patch.
        case: The CASE of the fuzzer.
        seconds: The time until the difference was found; None if it was not.
        text: The first line of the difference, or the reason why there is none.
    """

    revert: str
    case: str
    seconds: float | None
    text: str


def main() -> None:
    """Read the command line, try the patches, print a table, and fail if a difference was not found."""
    arguments = parsed()
    seed = arguments.seed if arguments.seed is not None else random.randrange(2**32)
    print(f"fuzz.reverts: SEED={seed} SECONDS={arguments.seconds:g}", flush=True)
    findings = []
    with tempfile.TemporaryDirectory(prefix="joinery-reverts-") as folder:
        copy = copied(Path(folder) / "checkout")
        for patch in chosen(arguments.numbers):
            with reverted(copy, patch):
                for case in cases_of(patch):
                    print(f"fuzz.reverts: {patch.stem}, CASE={case}", flush=True)
                    findings.append(find(patch, case, copy, seed, arguments))
                    print(row(findings[-1]), flush=True)
    print("\n".join(["", "| revert | case | seconds | difference |", "|---|---|---:|---|", *map(row, findings)]))
    sys.exit(1 if any(finding.seconds is None for finding in findings) else 0)


def parsed() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.reverts", description="Find fixed wrong answers again.")
    parser.add_argument("numbers", nargs="*", metavar="NUMBER", help="patches that begin with it; all by default")
    parser.add_argument("--seconds", type=float, default=600, help="for how long to look for each")
    parser.add_argument("--seed", type=int, help="of the fuzzer, the same for each")
    parser.add_argument("--jobs", type=int, default=2, help="rounds that run at a time")
    parser.add_argument("--reduce", type=float, default=60, help="seconds for reducing what is found")
    parser.add_argument("--save", type=Path, help="a folder for the reduced cases, such as tests/fuzz/found")
    arguments = parser.parse_args()
    unknown = [number for number in arguments.numbers if not chosen([number])]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; expected some of {', '.join(p.stem for p in PATCHES)}")
    return arguments


def chosen(numbers: Sequence[str]) -> list[Path]:
    """The patches with these numbers or names, in this order; all patches if there are none."""
    if not numbers:
        return PATCHES
    return [patch for number in numbers for patch in PATCHES if number in (patch.stem, patch.stem.partition("-")[0])]


def cases_of(patch: Path) -> list[str]:
    """The CASEs that the fuzzer draws. Each of them has to find the difference alone."""
    return re.findall(r"^CASE=(\w+)$", patch.read_text(), re.MULTILINE)


def copied(folder: Path) -> Path:
    """Copy the checkout as it is, with the jar that was built last, and without files that git ignores."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_file():  # not deleted, and no link to a folder
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    shutil.copytree(ROOT / JARS, folder / JARS, dirs_exist_ok=True)
    (folder / ".venv").symlink_to((ROOT / ".venv").resolve())  # the jar is compiled against its pyspark
    return folder


@contextmanager
def reverted(copy: Path, patch: Path) -> Iterator[None]:
    """Take a fix out of the copy within a block, and build the jar without it if the patch changes the jar."""
    apply(patch, copy)
    before = {jar: jar.read_bytes() for jar in (copy / JARS).glob("*.jar")}
    try:
        if "+++ b/jvm/" in patch.read_text():
            build(copy)
        yield
    finally:
        apply(patch, copy, "--reverse")
        for jar, content in before.items():
            jar.write_bytes(content)


def apply(patch: Path, folder: Path, *options: str) -> None:
    """Apply a patch to a folder outside any repository."""
    # git would skip the changes if it found a repository further up
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    subprocess.run(["git", "apply", *options, str(patch)], cwd=folder, env=environment, check=True)


def build(copy: Path) -> None:
    """Build the copy's jar for the default Spark."""
    line = json.loads((copy / "jvm/spark-versions.json").read_text())["default"]
    options = ["package", "-DskipTests", "-Dmaven.test.skip=true", "-q"]
    subprocess.run(
        [sys.executable, str(copy / "jvm/build.py"), line, *options],
        cwd=copy,
        env={**os.environ, "JDK_JAVA_OPTIONS": QUICK_START},  # the compiler runs for half a minute only
        check=True,
    )


def find(patch: Path, case: str, copy: Path, seed: int, arguments: argparse.Namespace) -> Finding:
    """Run this checkout's fuzzer against the copy's jar and Python package until it finds a difference."""
    report = copy.parent / f"{patch.stem}-{case}"
    subprocess.run(
        [
            *[sys.executable, "-m", "fuzz", "--stop", "--case", case, "--seed", str(seed)],
            *["--seconds", str(arguments.seconds), "--jobs", str(arguments.jobs)],
            *["--reduce", str(arguments.reduce), "--report", str(report)],
            # a busy machine may be too slow, and only wrong answers count
            *["--ignore", ERROR],
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{copy / 'airflow_provider'}"},
        check=False,  # the fuzzer fails if it finds a difference
    )
    found = pieces_of(report)[-1]["differences"]
    if not found:
        return Finding(patch.stem, case, None, f"not found in {arguments.seconds:g} s")
    first = found[0]
    if not is_mended(first):
        return Finding(patch.stem, case, None, "found with the mend as well: " + first["text"].partition("\n")[0])
    if arguments.save:
        saved = {"static": first["static"], "case": first["case"]}
        name = patch.stem.partition("-")[2]
        name += f"-{case.replace('_', '-')}" if len(cases_of(patch)) > 1 else ""
        (arguments.save / f"{name}.json").write_text(json.dumps(saved, indent=1, ensure_ascii=False) + "\n")
    return Finding(patch.stem, case, first["seconds"], first["text"].partition("\n")[0])


def is_mended(difference: dict[str, Any]) -> bool:
    """Whether the patch causes a difference: this checkout, with the fix, gives no wrong answer for the same case."""
    if difference["case"] is None:
        return False
    verdicts = replay([difference["case"]], difference["static"])
    return bool(verdicts) and (verdicts[0]["difference"] is None or ERROR in verdicts[0]["difference"])


def row(finding: Finding) -> str:
    """A line of the table."""
    seconds = "" if finding.seconds is None else f"{finding.seconds:.0f}"
    return f"| {finding.revert} | {finding.case} | {seconds} | {finding.text[:160]} |"


if __name__ == "__main__":
    main()

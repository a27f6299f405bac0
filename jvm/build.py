#!/usr/bin/env python3
"""Run Maven for one Spark line of ``spark-versions.json``.

    python3 jvm/build.py 4.3 package -DskipTests     # jar, copied into the Python package
    python3 jvm/build.py 4.3 suites                  # ScalaTest suites, all of them, in three JVMs
    python3 jvm/build.py 4.3 suites window ConfSuite # ... those of some packages, or some suites
    python3 jvm/build.py --list                      # the supported lines, default first

Joinery is compiled against, and tested with, the Spark jars inside the ``pyspark`` package of the
line's virtual environment (see docs/decisions/0001-spark-jars-from-pyspark.md). This script makes a
Maven repository of links to those jars below ``jvm/target``, so that the POM can depend on them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import references
import tomllib

JVM = Path(__file__).resolve().parent
ROOT = JVM.parent
GROUP = "io.github.sparkjoinery.pyspark"
PACKAGE = "io.github.sparkjoinery"
OFTEN = ("spark-", "scala-library")
# JVMs for the suites of the default line: each of them spends much of its time waiting for tasks and for planning.
# Chosen suites of another line have one JVM, as `make test` runs them at the same time.
TEST_JVMS = 3
# Seconds that the slowest suites took when this was written. A wrong figure costs time, no more.
SLOW = {
    "window.SkewedWindowSuite": 95,
    "filters.rules.WaitForKeysSuite": 75,
    "rangejoin.RangeJoinSuite": 72,
    "window.SkewedWindowPlanSuite": 67,
    "window.SlidingWindowSuite": 66,
    "filters.stored.ApplyBloomFiltersSuite": 62,
    "lastjoin.LastJoinTypesSuite": 60,
    "rangejoin.rules.RangeJoinInPartsSuite": 56,
    "lastjoin.LastJoinFailureSuite": 53,
    "lastjoin.CorrelatedLastJoinSuite": 25,
    "window.SlidingWindowOverflowSuite": 50,
    "filters.stored.ValiditySuite": 47,
    "filters.rules.FilteredJoinsSuite": 47,
    "rangejoin.stored.RangeIndexValiditySuite": 45,
    "rangejoin.stored.StoredRangeIndexSuite": 45,
    "filters.rules.FilterShuffledRowsSuite": 45,
    "lastjoin.LastJoinSuite": 44,
    "rangejoin.RangeJoinPlanSuite": 43,
    "lastjoin.LastJoinPlanSuite": 41,
    "window.SlidingWindowPlanSuite": 40,
    "lastjoin.AsOfJoinSuite": 37,
    "rangejoin.OpenRangesSuite": 60,
    "rangejoin.SkewedRangeJoinSuite": 36,
    "artifacts.ArtifactStoreSuite": 25,
    "window.SpilledWindowSuite": 35,
    "window.SkewedWindowEdgesSuite": 20,
    "window.ChangedSettingsSuite": 30,
    "window.TiedFramesSuite": 20,
    "lastjoin.SkewSplitSuite": 33,
    "lastjoin.LastJoinSelfJoinSuite": 32,
    "filters.rules.FilterFallbackSuite": 31,
    "lastjoin.KeylessLastJoinSuite": 30,
    "lastjoin.rules.SparkAsOfJoinSuite": 30,
    "lastjoin.rules.LikeLeftJoinSuite": 30,
    "execution.ShuffleWidthSuite": 27,
    "lastjoin.LastJoinFormsSuite": 27,
    "lastjoin.SubqueriesInOnSuite": 27,
    "filters.stored.ReadingSettingsSuite": 27,
    "filters.stored.StoredWhereSuite": 25,
    "rangejoin.RangeJoinTermsSuite": 25,
    "rangejoin.runtime.index.RangeIndexSuite": 25,
    "rangejoin.FailingConditionsSuite": 15,
    "filters.stored.AddedKeysSuite": 25,
    "rangejoin.exec.ShuffledRangeCodegenSuite": 24,
    "lastjoin.runtime.SpilledMergeSuite": 22,
    "planning.terms.MonotoneSuite": 15,
    "parser.AsOfJoinParserSuite": 11,
    "lastjoin.AdaptiveLastJoinSuite": 11,
    "lastjoin.runtime.LeftBatchSuite": 10,
}
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
<packaging>{packaging}</packaging>{body}</project>
"""


def versions() -> dict:
    return json.loads((JVM / "spark-versions.json").read_text())


def supported_lines() -> list[str]:
    """The lines that jars are built for, the default first."""
    listed = versions()
    return [listed["default"], *(line for line in listed["versions"] if line != listed["default"])]


def version() -> str:
    """The version of Joinery."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def environment(line: str) -> Path:
    """The virtual environment that holds this line's pyspark; `make env` creates it."""
    return ROOT / (".venv" if line == versions()["default"] else f".venv-spark-{line}")


def spark_jars(line: str) -> Path:
    found = sorted(environment(line).glob("lib/python3*/site-packages/pyspark/jars"))
    if not found:
        sys.exit(f"build.py: no pyspark in {environment(line).name}; run `make env` (all lines: `make env-all`) first")
    return found[0]


def in_order(jars: Path) -> list[Path]:
    """The jars of a folder in the order of their search: the ones with most of the classes come first."""
    return sorted(jars.glob("*.jar"), key=lambda jar: (not jar.name.startswith(OFTEN), jar.name))


def dependency(group: str, artifact: str, version: str) -> str:
    fields = f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
    return f"<dependency>{fields}</dependency>"


def link(jar: Path, base: Path, spark: str) -> str:
    """Make a jar of pyspark an artifact of the repository; return the dependency on it."""
    folder = base / jar.stem / spark
    folder.mkdir(parents=True)
    (folder / f"{jar.stem}-{spark}.jar").symlink_to(jar)
    (folder / f"{jar.stem}-{spark}.pom").write_text(
        POM.format(group=GROUP, artifact=jar.stem, version=spark, packaging="jar", body="")
    )
    return dependency(GROUP, jar.stem, spark)


def lay_out_repository(line: str, entry: dict) -> Path:
    """Make a Maven repository: links to pyspark's jars, and one POM, `spark`, that depends on all of them."""
    spark = entry["spark"]
    repository = JVM / "target" / f"spark-{line}-repository"
    base = repository / GROUP.replace(".", "/")
    aggregate = base / "spark" / spark / f"spark-{spark}.pom"
    if aggregate.exists():
        return repository
    shutil.rmtree(repository, ignore_errors=True)
    dependencies = [link(jar, base, spark) for jar in in_order(spark_jars(line))]
    aggregate.parent.mkdir(parents=True)
    body = "<dependencies>" + "\n".join(dependencies) + "</dependencies>"
    aggregate.write_text(POM.format(group=GROUP, artifact="spark", version=spark, packaging="pom", body=body))
    return repository


def copy_jar(line: str) -> None:
    """Put the built jar where `spark_joinery.jar_path()` and the wheel look for it."""
    target = ROOT / "airflow_provider" / "spark_joinery" / "jars"
    target.mkdir(exist_ok=True)
    for jar in (JVM / "target" / f"spark-{line}").glob(f"spark-joinery-{line}_*-{version()}.jar"):
        partial = target / f".{jar.name}.partial"
        shutil.copyfile(jar, partial)
        references.add_to(partial)
        partial.replace(target / jar.name)
        print(f"{(target / jar.name).relative_to(ROOT)}")


def maven(line: str, *goals: str) -> list[str]:
    """The command that runs Maven for a line."""
    entry = versions()["versions"][line]
    repository = lay_out_repository(line, entry)
    return [
        "mvn", "--batch-mode", "--no-transfer-progress", "-f", str(JVM / "pom.xml"), f"-Pspark-{line}",
        f"-Dspark.line={line}", f"-Dspark.lines={','.join(supported_lines())}", f"-Dspark.version={entry['spark']}",
        f"-Dscala.version={entry['scala']}", f"-Dscala.binary.version={entry['scala'].rpartition('.')[0]}",
        f"-Dspark.repository={repository.as_uri()}", f"-Drevision={version()}", *goals,
    ]  # fmt: skip


def test_folders(line: str) -> list[Path]:
    """The folders of a line's test sources: the shared one, and `spark-X+` for each X up to this line."""
    later = [folder for folder in (JVM / "src/test").glob("spark-*+") if numbers(folder.name[6:-1]) <= numbers(line)]
    return [JVM / "src/test/scala", *(folder / "scala" for folder in sorted(later))]


def numbers(line: str) -> list[int]:
    return [int(number) for number in line.split(".")]


def suites_of(line: str, wanted: list[str]) -> list[str]:
    """The full names of suites.

    Args:
        line: The Spark line.
        wanted: Suites or packages below Joinery's own; all suites if empty.
    """
    files = [(base, file) for base in test_folders(line) for file in sorted(base.rglob("*Suite.scala"))]
    names = [".".join(file.relative_to(base).with_suffix("").parts) for base, file in files]
    if gone := [name for name in SLOW if f"{PACKAGE}.{name}" not in names]:
        sys.exit(f"build.py: SLOW names suites that are no more: {', '.join(gone)}")
    if unknown := [name for name in wanted if not any(belongs(suite, name) for suite in names)]:
        sys.exit(f"build.py: no suite and no package of suites below {PACKAGE}: {', '.join(unknown)}")
    return [suite for suite in names if not wanted or any(belongs(suite, name) for name in wanted)]


def shares_of(suites: list[str], jvms: int) -> list[list[str]]:
    """The suites of each JVM, so that all end at about the same time: the slowest first, each to the least busy JVM."""
    seconds = {suite: SLOW.get(suite.removeprefix(f"{PACKAGE}."), 3) for suite in suites}
    shares: list[list[str]] = [[] for _ in range(jvms)]
    for suite in sorted(suites, key=lambda suite: (-seconds[suite], suite)):
        min(shares, key=lambda share: sum(seconds[other] for other in share)).append(suite)
    return [share for share in shares if share]


def belongs(suite: str, name: str) -> bool:
    """Whether a suite has this name, or is in the package of this name."""
    return f"{suite}.".startswith(f"{PACKAGE}.{name}.")


def class_path(line: str) -> str:
    """The class path of suites. It begins like that of Python's sessions, so that the archive of their classes fits."""
    target, jars = JVM / "target" / f"spark-{line}", spark_jars(line)
    listed = (target / "test.classpath").read_text().strip().split(os.pathsep)
    ours = [target / "test-classes", target / "classes"]
    libraries = [path for path in listed if f"/{GROUP.replace('.', '/')}/" not in path and Path(path) not in ours]
    spark: list[Path] = in_order(jars)
    if archive(line).exists():
        spark = [jars.parent / "conf", *jars.glob("slf4j-api-*.jar"), jars / "*"]
    return os.pathsep.join(map(str, [*spark, *libraries, *ours]))


def archive(line: str) -> Path:
    """The archive of the classes that sessions of a line load; it is missing until `class_archive.py` makes it."""
    return JVM / "target" / f"spark-{line}.jsa"


def is_smoke(line: str, wanted: list[str]) -> bool:
    """Whether only some suites are wanted, on a line that is not the default one."""
    return bool(wanted) and line != versions()["default"]


def run_suites(line: str, wanted: list[str]) -> int:
    """Compile, then run suites in several JVMs, as a single one would leave processors idle."""
    suites, smoke = suites_of(line, wanted), is_smoke(line, wanted)
    status = subprocess.call(maven(line, "test-compile", "-q"))
    if status:
        return status
    shares = shares_of(suites, 1 if smoke else TEST_JVMS)
    # the tags' comments say which tests they are
    left_out = ["-l", f"{PACKAGE}.OnDefaultLine"] if smoke else []
    if numbers(line) < [4, 0]:
        left_out += ["-l", f"{PACKAGE}.SinceSpark40"]
    classes = class_path(line)

    def run(number: int) -> int:
        folder = JVM / "target" / f"spark-{line}" / f"suites-{number}"
        (folder / "tmp").mkdir(parents=True, exist_ok=True)
        command = [
            "java", f"@{JVM / 'test.options'}", f"-XX:SharedArchiveFile={archive(line)}", "-Xlog:cds*=off",
            f"-Djoinery.root={ROOT}", f"-Dspark.line={line}", f"-Djava.io.tmpdir={folder / 'tmp'}",
            f"-Dderby.system.home={folder / 'tmp'}", "-cp", classes, "org.scalatest.tools.Runner",
            "-oDW", "-f", str(folder / "suites.txt"), *left_out,
            *(word for suite in shares[number] for word in ("-s", suite)),
        ]  # fmt: skip
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=JVM, env=environment
        )
        assert process.stdout is not None
        for output in process.stdout:
            print(f"{line} {number + 1}> {output}", end="", flush=True)
        return process.wait()

    with ThreadPoolExecutor(len(shares)) as pool:
        return max(pool.map(run, range(len(shares))))


def main(arguments: list[str]) -> int:
    lines = supported_lines()
    if arguments == ["--list"]:
        print(" ".join(lines))
        return 0
    if len(arguments) < 2 or arguments[0] not in lines:
        sys.exit(f"usage: build.py LINE GOAL [MAVEN OPTION ...], where LINE is one of: {', '.join(lines)}")
    line, *goals = arguments
    if goals[0] == "suites":
        return run_suites(line, goals[1:])
    status = subprocess.call(maven(line, *goals))
    if status == 0 and "package" in goals:
        copy_jar(line)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

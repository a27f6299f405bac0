#!/usr/bin/env python3
"""Run Maven for one Spark line of ``spark-versions.json``.

    python3 jvm/build.py 4.3 package -DskipTests     # jar, copied into the Python package
    python3 jvm/build.py 4.3 test                    # ScalaTest suites
    python3 jvm/build.py --list                      # the supported lines, default first

Spark itself is compiled against, and tested with, the very jars inside the ``pyspark`` package of the
line's virtual environment (see docs/decisions/0001-spark-jars-from-pyspark.md). This script lays
those jars out as a Maven repository of links below ``jvm/target`` so that the POM can depend on them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

JVM = Path(__file__).resolve().parent
ROOT = JVM.parent
GROUP = "io.github.sparkjoinery.pyspark"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
<packaging>{packaging}</packaging>{body}</project>
"""


def versions() -> dict:
    return json.loads((JVM / "spark-versions.json").read_text())


def environment(line: str) -> Path:
    """The virtual environment that holds this line's pyspark; `make env` creates it."""
    return ROOT / (".venv" if line == versions()["default"] else f".venv-spark-{line}")


def spark_jars(line: str) -> Path:
    found = sorted(environment(line).glob("lib/python3*/site-packages/pyspark/jars"))
    if not found:
        sys.exit(f"build.py: no pyspark in {environment(line).name}; run `make env` (all lines: `make env-all`) first")
    return found[0]


def lay_out_repository(line: str, spark: str) -> Path:
    """Links to pyspark's jars in Maven's layout, and one POM, `spark`, that depends on all of them."""
    repository = JVM / "target" / f"spark-{line}-repository"
    base = repository / GROUP.replace(".", "/")
    aggregate = base / "spark" / spark / f"spark-{spark}.pom"
    if aggregate.exists():
        return repository
    shutil.rmtree(repository, ignore_errors=True)
    dependencies = []
    for jar in sorted(spark_jars(line).glob("*.jar")):
        folder = base / jar.stem / spark
        folder.mkdir(parents=True)
        (folder / f"{jar.stem}-{spark}.jar").symlink_to(jar)
        (folder / f"{jar.stem}-{spark}.pom").write_text(
            POM.format(group=GROUP, artifact=jar.stem, version=spark, packaging="jar", body="")
        )
        dependencies.append(
            f"<dependency><groupId>{GROUP}</groupId><artifactId>{jar.stem}</artifactId><version>{spark}</version></dependency>"
        )
    aggregate.parent.mkdir(parents=True)
    body = "<dependencies>" + "\n".join(dependencies) + "</dependencies>"
    aggregate.write_text(POM.format(group=GROUP, artifact="spark", version=spark, packaging="pom", body=body))
    return repository


def copy_jar(line: str) -> None:
    """Put the built jar where `spark_joinery.jar_path()` and the wheel look for it."""
    target = ROOT / "airflow_provider" / "spark_joinery" / "jars"
    target.mkdir(exist_ok=True)
    for jar in (JVM / "target" / f"spark-{line}").glob(f"spark-joinery-{line}_*.jar"):
        partial = target / f".{jar.name}.partial"
        shutil.copyfile(jar, partial)
        partial.replace(target / jar.name)
        print(f"{(target / jar.name).relative_to(ROOT)}")


def main(arguments: list[str]) -> int:
    listed = versions()
    lines = [listed["default"], *(v for v in listed["versions"] if v != listed["default"])]
    if arguments == ["--list"]:
        print(" ".join(lines))
        return 0
    if len(arguments) < 2 or arguments[0] not in lines:
        sys.exit(f"usage: build.py LINE GOAL [MAVEN OPTION ...], where LINE is one of: {', '.join(lines)}")
    line, *goals = arguments
    entry = listed["versions"][line]
    repository = lay_out_repository(line, entry["spark"])
    status = subprocess.call(
        [
            "mvn", "--batch-mode", "--no-transfer-progress", "-f", str(JVM / "pom.xml"), f"-Pspark-{line}",
            f"-Dspark.line={line}", f"-Dspark.version={entry['spark']}", f"-Dscala.version={entry['scala']}",
            f"-Dspark.repository={repository.as_uri()}", *goals,
        ]
    )  # fmt: skip
    if status == 0 and "package" in goals:
        copy_jar(line)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

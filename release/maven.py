"""The jars as Maven Central wants them: with POM, sources, javadoc and checksums, in one zip."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from string import Template

ROOT = Path(__file__).parents[1]
JARS = ROOT / "airflow_provider/spark_joinery/jars"
GROUP = "io.github.sparkjoinery"
SOURCES = "org.apache.maven.plugins:maven-source-plugin:3.3.1:jar-no-fork"
POM = Template((Path(__file__).parent / "pom.xml").read_text(encoding="utf-8"))
# Maven Central asks for a javadoc jar, and takes one with a text for a project that is not in Java.
JAVADOC = "Every class is documented in its source. Pages for users: https://github.com/sparkjoinery/joinery\n"


def bundle(dist: Path, version: str) -> Path:
    """Lay the jar of every Spark line out as a Maven repository, and zip it.

    Args:
        dist: Where `maven/`, which serves as a repository itself, and the zip are written.
        version: Of the jars.

    Returns:
        The zip to upload, once its files are signed.

    Raises:
        FileNotFoundError: If the jar of a line was not built.
    """
    repository = dist / "maven"
    shutil.rmtree(repository, ignore_errors=True)
    for line, entry in json.loads((ROOT / "jvm/spark-versions.json").read_text())["versions"].items():
        _publish(repository, line, entry["spark"], entry["scala"].rpartition(".")[0], version)
    return Path(shutil.make_archive(str(dist / f"maven-bundle-{version}"), "zip", repository))


def _publish(repository: Path, line: str, spark: str, scala: str, version: str) -> None:
    """Write the files of one Spark line, and their checksums."""
    artifact = f"spark-joinery-{line}_{scala}"
    folder = repository / GROUP.replace(".", "/") / artifact / version
    folder.mkdir(parents=True)
    base = folder / f"{artifact}-{version}"
    shutil.copyfile(JARS / f"{base.name}.jar", f"{base}.jar")
    values = {"artifact": artifact, "version": version, "line": line, "spark": spark, "scala": scala}
    Path(f"{base}.pom").write_text(POM.substitute(values), encoding="utf-8")
    subprocess.run([sys.executable, "jvm/build.py", line, "generate-sources", SOURCES, "-q"], check=True, cwd=ROOT)
    shutil.copyfile(ROOT / f"jvm/target/spark-{line}" / f"{base.name}-sources.jar", f"{base}-sources.jar")
    with zipfile.ZipFile(f"{base}-javadoc.jar", "w") as javadoc:
        javadoc.writestr("README.txt", JAVADOC)
    for file in sorted(folder.iterdir()):
        for algorithm in ("md5", "sha1"):
            file.with_name(f"{file.name}.{algorithm}").write_text(hashlib.new(algorithm, file.read_bytes()).hexdigest())

"""A second JVM on a Derby metastore gets an error instead of hanging."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from spark_joinery.cli import main
from spark_joinery.jobs import MetastoreLockedError, ensure_metastore_free
from spark_joinery.jobs.metastore import derby_folder

# Only Derby, without Hive and Spark: the JVM opens the database and keeps it open
HOLDER = """
import sys
from pyspark.java_gateway import launch_gateway
jvm = launch_gateway().jvm
connection = jvm.org.apache.derby.jdbc.EmbeddedDriver().connect(sys.argv[1], jvm.java.util.Properties())
print("open", flush=True)
sys.stdin.read()
"""

MANIFEST = """{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
  "dbt_version": "1.11.0", "project_name": "shop"}, "sources": {}, "nodes": {"seed.shop.t": {
  "unique_id": "seed.shop.t", "resource_type": "seed", "relation_name": "`raw`.`t`",
  "config": {"materialized": "seed",
    "meta": {"joinery": {"distributions": [{"partition_by": ["k"], "order_by": "v"}]}}}}}}"""


def test_a_metastore_that_another_jvm_has_open(tmp_path: Path) -> None:
    url = f"jdbc:derby:;databaseName={tmp_path}/metastore_db;create=true"
    ensure_metastore_free(url)  # the database does not exist yet
    command = [sys.executable, "-c", HOLDER, url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        started = time.monotonic()
        with pytest.raises(MetastoreLockedError, match=r"metastore_db is in use by process \d+ \(java\)"):
            ensure_metastore_free(url, timeout_s=1)
        assert 1 <= time.monotonic() - started < 3

        (tmp_path / "manifest.json").write_text(MANIFEST)
        arguments = ["--manifest", str(tmp_path / "manifest.json"), "--store", str(tmp_path / "store")]
        code = "import sys; from spark_joinery.cli import main; main(sys.argv[1:])"
        refresh = [sys.executable, "-c", code, "refresh", *arguments, "--warehouse", str(tmp_path)]
        outcome = subprocess.run(refresh, capture_output=True, text=True, timeout=60)
        assert outcome.returncode == 2
        assert "in use by process" in outcome.stderr
        holder.communicate("")
    # the file dbex.lck may stay, but the lock is gone
    ensure_metastore_free(url, timeout_s=5)


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("jdbc:derby:;databaseName=/a/b;create=true", Path("/a/b")),
        ("jdbc:derby:/a/b;create=true", Path("/a/b")),
        ("jdbc:derby:directory:/a/b", Path("/a/b")),
        ("/a/b", Path("/a/b")),
        ("jdbc:derby:memory:m;create=true", None),
        ("jdbc:derby://host:1527/m", None),
        ("jdbc:postgresql://host/m", None),
    ],
)
def test_only_embedded_derby_databases_have_a_folder(url: str, folder: Path | None) -> None:
    assert derby_folder(url) == folder


def test_a_dry_run_needs_no_spark(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(MANIFEST)
    result = CliRunner().invoke(main, ["refresh", "--manifest", str(tmp_path / "manifest.json"), "--dry-run", "--json"])
    assert result.exit_code == 0, result.output
    assert '"relation": "spark_catalog.raw.t"' in result.output


@pytest.mark.parametrize("arguments", [["--manifest", "nowhere.json"], ["--select", "nope"], ["--conf", "k"]])
def test_what_cannot_start_exits_with_2(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "manifest.json").write_text(MANIFEST)
    base = ["refresh", "--manifest", str(tmp_path / "manifest.json"), "--dry-run"]
    result = CliRunner().invoke(main, [*base, *arguments])
    assert result.exit_code == 2, result.output

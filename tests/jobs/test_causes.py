"""A failed refresh gives the cause in one line, without the errors that wrap it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.sql import SparkSession
from spark_joinery.cause import SPARK_IS_GONE, one_line
from spark_joinery.jobs import refresh
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec
from spark_joinery.store import open_store

FULL_DISK = """An error occurred while calling o36.parquet.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, most recent \
failure: Lost task 0.0 in stage 3.0 (TID 3) (10.0.0.1 executor driver): org.apache.spark.SparkException: \
[TASK_WRITE_FAILED] Task failed while writing rows to file:/store. SQLSTATE: 58030
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.taskFailedWhileWritingRowsError(QueryExecutionErrors.scala:789)
Caused by: java.io.IOException: No space left on device
\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)

Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:2935)
Caused by: org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows to file:/store.
\t... 1 more
Caused by: java.io.IOException: No space left on device
\t... 11 more
"""


CONNECT = """(org.apache.spark.SparkException) Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, \
most recent failure: Lost task 0.0 in stage 1.0 (TID 1) (host executor driver): java.io.IOException: Input/output error

JVM stacktrace:
org.apache.spark.SparkException
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:2935)"""


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (RuntimeError(FULL_DISK), "IOException: No space left on device"),
        (
            RuntimeError(CONNECT),
            "IOException: Input/output error",
        ),
        (ValueError("a first line\nand a second one"), "a first line"),
        (KeyError(), "KeyError"),
        (ConnectionRefusedError(111, "Connection refused"), SPARK_IS_GONE),
        (Py4JNetworkError("Answer from Java side is empty"), SPARK_IS_GONE),
        (Py4JError("An error occurred while calling o9360.collectToPython"), SPARK_IS_GONE),
    ],
    ids=["full disk", "connect", "plain", "empty", "refused", "network", "no answer"],
)
def test_one_line(error: Exception, line: str) -> None:
    assert one_line(error) == line


def reason(spark: SparkSession, folder: Path, name: str, **spec: object) -> str:
    request = ArtifactRequest.of_table(name, BloomFilterSpec.model_validate({"keys": ["k"], **spec}))
    (result,) = refresh(spark, [request], open_store(spark, str(folder / "store")), schema=None)
    assert result.status == "failed"
    return str(result.reason)


def test_a_file_that_cannot_be_read_is_named(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "source"
    spark.range(100).selectExpr("id k").coalesce(1).write.parquet(str(source))
    (file,) = source.glob("*.parquet")
    content = file.read_bytes()
    file.write_bytes(content[:4] + bytes(200) + content[204:])
    (source / f".{file.name}.crc").unlink()
    said = reason(spark, tmp_path, f"parquet.`{source}`")
    assert file.name in said
    assert "An error occurred" not in said
    assert "Job aborted" not in said
    assert "\n" not in said


def test_a_predicate_that_fails_on_a_row_says_why(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "source"
    spark.range(3).selectExpr("id k", "concat('x', id) s").write.parquet(str(source))
    said = reason(spark, tmp_path, f"parquet.`{source}`", where="int(s) > 1")
    assert "[CAST_INVALID_INPUT] The value 'x" in said
    assert not said.startswith("An error occurred")


def test_a_folder_that_refuses_to_be_written_is_named(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "source"
    spark.range(3).selectExpr("id k").write.parquet(str(source))
    (tmp_path / "store").touch()
    assert "store cannot be written" in reason(spark, tmp_path, f"parquet.`{source}`")


def test_a_clean_up_that_fails_does_not_hide_the_cause(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk has become read-only since the build began."""
    source = tmp_path / "source"
    spark.range(3).selectExpr("id k").write.parquet(str(source))
    store = open_store(spark, str(tmp_path / "store"))

    def refuse(path: str) -> None:
        raise OSError(f"Read-only file system: {path}")

    monkeypatch.setattr(store.filesystem, "delete", refuse)
    spec = BloomFilterSpec(keys=["k"], where="raise_error('the cause') IS NULL")
    (result,) = refresh(spark, [ArtifactRequest.of_table(f"parquet.`{source}`", spec)], store, schema=None)
    assert result.status == "failed"
    assert "the cause" in str(result.reason)
    assert "Read-only" not in str(result.reason)


KILLED = """
import os, signal, sys
from pathlib import Path
from pyspark.sql import SparkSession
from spark_joinery.jobs import refresh, runner, stop_session
from spark_joinery.metadata import ArtifactRequest, BloomFilterSpec
from spark_joinery.store import open_store

folder = Path(sys.argv[1])
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark.range(3).selectExpr("id k").write.parquet(str(folder / "source"))
build = runner.build_bloom_filter

def build_and_die(*arguments):
    os.kill(spark.sparkContext._gateway.proc.pid, signal.SIGKILL)
    spark.sparkContext._gateway.proc.wait()
    return build(*arguments)

runner.build_bloom_filter = build_and_die
specs = [BloomFilterSpec(keys=["k"], fpp=fpp) for fpp in (0.1, 0.2)]
requests = [ArtifactRequest.of_table(f"parquet.`{folder}/source`", spec) for spec in specs]
store = open_store(spark, str(folder / "store"))
for result in refresh(spark, requests, store, schema=None):
    print(result.status, result.reason)
try:
    store.begin("bloom_filter", "raw.t", "0" * 16)
except Exception as error:
    print(type(error).__name__, error)
stop_session(spark)
"""


def test_a_killed_jvm_is_the_reason(tmp_path: Path) -> None:
    """The reason is not a missing right to write or a failed clean-up; the next request fails for the same reason."""
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"failed {SPARK_IS_GONE}"] * 2 + [f"SparkGoneError {SPARK_IS_GONE}."]

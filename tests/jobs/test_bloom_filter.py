"""Bloom filters against the set of keys: every key passes, and as few others as promised."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from spark_joinery.jobs import ColumnMissingError, ColumnUnusableError
from spark_joinery.jobs.builders.bloom_filter import expected_fpp, keys_per_block
from spark_joinery.jobs.builders.built import DriftError
from spark_joinery.metadata import BloomFilterSpec
from spark_joinery.store import ArtifactVersion
from support.artifacts import Workshop


def built(
    folder: Path, frame: DataFrame, base: ArtifactVersion | None = None, **spec: Any
) -> tuple[ArtifactVersion, dict[int, tuple[int, ...]]]:
    version = Workshop.below(folder, frame).build(frame, BloomFilterSpec(**{"keys": ["k"], **spec}), base)
    rows = frame.sparkSession.read.parquet(version.data_path).collect()
    return version, {row["block"]: (row["w0"], row["w1"], row["w2"], row["w3"]) for row in rows}


def passing(frame: DataFrame, hashed: str, version: ArtifactVersion, blocks: dict[int, tuple[int, ...]]) -> list[bool]:
    """Whether each row passes the filter, computed as a reader does, but in Python's unbounded integers."""

    def might_contain(value: int) -> bool:
        bits = value & (2**64 - 1)
        words = blocks.get(((bits >> 40) * version.description["blocks"]) >> 24, (0, 0, 0, 0))
        positions = [(bits >> 5 * j) & 31 for j in range(8)]
        return all((words[j // 2] >> (32 * (j % 2) + position)) & 1 for j, position in enumerate(positions))

    return [might_contain(row[0]) for row in frame.selectExpr(f"xxhash64({hashed})").collect()]


def test_every_key_passes_and_few_others(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(20_000).selectExpr("id * 3 k")
    version, blocks = built(tmp_path, frame, fpp=0.02)
    assert all(passing(frame, "k", version, blocks))
    others = spark.range(20_000).selectExpr("id * 3 + 1 k")
    share = sum(passing(others, "k", version, blocks)) / 20_000
    assert share < 0.03
    assert share == pytest.approx(version.description["expected_fpp"], abs=0.006)
    described = version.description
    assert described["keys"] == pytest.approx(20_000, rel=4 * described["keys_relative_error"])
    assert described["capacity"] > 20_000
    assert (described["rows"], described["hash"], described["key_types"]) == (20_000, "xxhash64", ["bigint"])


TYPES = {
    "tinyint": "bigint",
    "int": "bigint",
    "float": "double",
    "double": "double",
    "string": "string",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "decimal(10,2)": "decimal(10,2)",
    "decimal(30,5)": "decimal(30,5)",
    "boolean": "boolean",
    "binary": "binary",
}


def test_keys_of_every_type_in_one_filter(spark: SparkSession, tmp_path: Path) -> None:
    """Floats hash as doubles with one zero and one NaN, integers as bigint, all other types unchanged."""

    def value(type_name: str) -> str:
        match type_name:
            case "date" | "timestamp" | "timestamp_ntz":
                return f"cast(timestamp_seconds(id * 86400) AS {type_name})"
            case "binary":
                return "cast(cast(id AS string) AS binary)"
            case "float" | "double":
                return f"cast(CASE id WHEN 0 THEN '-0' WHEN 1 THEN 'NaN' ELSE id / 7 END AS {type_name})"
        return f"cast(id AS {type_name})"

    columns = {f"c{i}": name for i, name in enumerate(TYPES)}
    frame = spark.range(40).selectExpr(*(f"{value(name)} {column}" for column, name in columns.items()))
    version, blocks = built(tmp_path, frame, keys=list(columns))
    assert version.description["key_types"] == list(TYPES.values())
    # + 0 turns -0 into 0, and Spark's hash is the same for every NaN
    plus = {"bigint": "cast({0} AS bigint)", "double": "cast({0} AS double) + 0D"}
    hashed = ", ".join(plus.get(TYPES[name], "{0}").format(column) for column, name in columns.items())
    assert all(passing(frame, hashed, version, blocks))


@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    before=st.lists(st.one_of(st.none(), st.integers(-50, 50)), max_size=40),
    more=st.lists(st.one_of(st.none(), st.integers(-50, 50)), max_size=40),
)
def test_what_is_added_gives_the_filter_of_the_whole(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, before: list[int | None], more: list[int | None]
) -> None:
    def frame(keys: Iterable[int | None]) -> DataFrame:
        return spark.createDataFrame([(key,) for key in keys], "k int")

    folder = tmp_path_factory.mktemp("any")
    first, _ = built(folder, frame(before))
    try:
        version, blocks = built(folder, frame(more), first)
    except DriftError:
        assert len(set(more)) > len(set(before))
        return
    keys = {key for key in before + more if key is not None}
    assert version.description["rows"] == len(before) + len(more)
    assert version.description["keys"] == len(keys)
    # the words must equal the filter of all keys with this number of blocks
    probe = frame(sorted(keys)).withColumn("h", F.xxhash64(F.col("k").cast("bigint")))
    expected: dict[int, list[int]] = {}
    for row in probe.collect():
        bits = row["h"] & (2**64 - 1)
        words = expected.setdefault(((bits >> 40) * version.description["blocks"]) >> 24, [0, 0, 0, 0])
        for j in range(8):
            words[j // 2] |= 1 << (32 * (j % 2) + ((bits >> 5 * j) & 31))
    unsigned = {block: [word & (2**64 - 1) for word in words] for block, words in blocks.items()}
    assert unsigned == expected


def test_a_filter_that_outgrew_its_size_is_drift(spark: SparkSession, tmp_path: Path) -> None:
    first, _ = built(tmp_path, spark.range(20_000).selectExpr("id k"))
    built(tmp_path, spark.range(20_000, 24_000).selectExpr("id k"), first)
    with pytest.raises(DriftError, match=r"about 3\d,\d\d\d keys are in a filter made for 2\d,\d\d\d"):
        built(tmp_path, spark.range(20_000, 38_000).selectExpr("id k"), first)


def test_few_keys_have_room_and_let_hardly_any_other_through(spark: SparkSession, tmp_path: Path) -> None:
    version, blocks = built(tmp_path, spark.range(1000).selectExpr("id k"), fpp=0.3)
    assert version.description["bytes"] == 16 * 1024
    assert version.description["capacity"] > 10_000
    others = spark.range(1000, 21_000).selectExpr("id k")
    assert sum(passing(others, "k", version, blocks)) < 20
    grown, _ = built(tmp_path, spark.range(1000, 4000).selectExpr("id k"), version)
    assert grown.description["keys"] == pytest.approx(4000, rel=0.1)


def test_a_filter_says_how_much_of_it_there_is(spark: SparkSession, tmp_path: Path) -> None:
    first, blocks = built(tmp_path, spark.range(1000).selectExpr("id k"))
    second, more = built(tmp_path, spark.range(1000, 1100).selectExpr("id k"), first)
    for version, words in ((first, blocks), (second, more)):
        bits = sum((word & (2**64 - 1)).bit_count() for four in words.values() for word in four)
        assert (version.description["filled_blocks"], version.description["set_bits"]) == (len(words), bits)
    empty, _ = built(tmp_path, spark.range(0).selectExpr("id k"))
    assert (empty.description["filled_blocks"], empty.description["set_bits"]) == (0, 0)


def test_nothing_is_added_to_a_filter_that_has_lost_blocks(spark: SparkSession, tmp_path: Path) -> None:
    first, _ = built(tmp_path, spark.range(1000).selectExpr("id k"))
    data = first.data_path.removeprefix("file:")
    some = spark.createDataFrame(spark.read.parquet(data).limit(3).collect(), spark.read.parquet(data).schema)
    some.coalesce(1).write.mode("overwrite").parquet(data)
    with pytest.raises(DriftError, match="does not hold all that it was built with"):
        built(tmp_path, spark.range(1000, 1002).selectExpr("id k"), first)


@pytest.mark.parametrize("setting", ["ignoreMissingFiles", "ignoreCorruptFiles"])
def test_nothing_of_a_former_filter_is_passed_over(spark: SparkSession, tmp_path: Path, setting: str) -> None:
    first, _ = built(tmp_path, spark.range(1000).selectExpr("id k"))
    (file,) = Path(first.data_path.removeprefix("file:")).glob("*.parquet")
    content = file.read_bytes()
    footer = int.from_bytes(content[-8:-4], "little") + 8
    file.write_bytes(content[:4] + bytes(len(content) - 4 - footer) + content[-footer:])
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    spark.conf.set(f"spark.sql.files.{setting}", "true")
    try:
        with pytest.raises(Exception, match=file.name):
            built(tmp_path, spark.range(1000, 1200).selectExpr("id k"), first)
    finally:
        spark.conf.unset(f"spark.sql.files.{setting}")


def test_nulls_and_rows_outside_where_are_left_out(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([(1, "a", 0), (None, "b", 0), (3, None, 0), (4, "d", 1)], "k int, l string, w int")
    version, blocks = built(tmp_path, frame, keys=["K", "l"], where="w = 0")
    assert (version.description["rows"], version.description["keys"]) == (4, 1)
    assert passing(frame, "cast(k AS bigint), l", version, blocks) == [True, False, False, False]


@pytest.mark.parametrize(
    "where",
    [
        "current_flag = 'Y'",
        "status = 'now' /* rand() */",
        "CURRENT_FLAG = 'Y' -- today",
        "status = 'now' or status = '(select 1)'",
        "exists(array(status), s -> s = 'now')",
    ],
)
def test_innocent_words_in_where(spark: SparkSession, tmp_path: Path, where: str) -> None:
    frame = spark.createDataFrame([(1, "Y", "now"), (2, "N", "then")], "k int, current_flag string, status string")
    version, blocks = built(tmp_path, frame, where=where)
    assert version.description["keys"] == 1
    assert passing(frame, "cast(k AS bigint)", version, blocks) == [True, False]


def test_without_any_key_nothing_passes(spark: SparkSession, tmp_path: Path) -> None:
    version, blocks = built(tmp_path, spark.createDataFrame([(None,)], "k int"))
    assert (version.description["rows"], version.description["keys"], blocks) == (1, 0, {})
    assert passing(spark.range(3), "id", version, blocks) == [False] * 3


@pytest.mark.parametrize(
    ("schema", "spec", "error", "message"),
    [
        ("k int", {"keys": ["x"]}, ColumnMissingError, "has no column 'x'"),
        ("k array<int>", {}, ColumnUnusableError, r"the key 'k' of type array<int> cannot be in a bloom filter"),
        ("k string collate UTF8_LCASE", {}, ColumnUnusableError, r"collate UTF8_LCASE cannot be in a bloom filter"),
        ("k int", {"where": "x = 1"}, ColumnUnusableError, r"`where: x = 1` is no predicate on it: .*x"),
        ("k int", {"where": "k + 1"}, ColumnUnusableError, r"is no predicate on it"),
        ("k int", {"where": "k = = 1"}, ColumnUnusableError, r"is no predicate on it: .*Syntax error at or near '='"),
        ("k int", {"where": "k = 1) or (k = 2"}, ColumnUnusableError, r"is no predicate on it: .*near '\)'"),
        ("k int", {"where": "k = 1 and"}, ColumnUnusableError, r"takes its end for a name, as after AS"),
        ("k int", {"where": "(k = 1) AS one -- a name"}, ColumnUnusableError, r"takes its end for a name, as after AS"),
        ("k int", {"where": "k > (select 0)"}, ColumnUnusableError, r"asks another relation, by a subquery"),
        ("k int", {"where": "k in (values 1)"}, ColumnUnusableError, r"asks another relation, by a subquery"),
        ("k int", {"where": "exists (select 1 where k = 1)"}, ColumnUnusableError, r"by a subquery"),
        (
            "d date",
            {"keys": ["d"], "where": "d = current_date()"},
            ColumnUnusableError,
            r"another answer .*current_date",
        ),
        ("k int", {"where": "rand() < 0.5"}, ColumnUnusableError, r"another answer .*rand"),
        (
            "d date",
            {"keys": ["d"], "where": "d < date'today'"},
            ColumnUnusableError,
            r"another answer .*\(date 'today'\)",
        ),
        ("d date", {"keys": ["d"], "where": "d < 'Tomorrow'"}, ColumnUnusableError, r"another answer .*\('Tomorrow'\)"),
    ],
)
def test_what_cannot_be_filtered_is_refused(
    spark: SparkSession, tmp_path: Path, schema: str, spec: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        built(tmp_path, spark.createDataFrame([], schema), **spec)


def test_the_size_follows_from_the_promise() -> None:
    for fpp in (0.5, 0.1, 0.01, 0.001, 1e-5):
        assert expected_fpp(keys_per_block(fpp)) == pytest.approx(fpp, rel=0.02)
    assert 20 < keys_per_block(0.01) < 30
    assert expected_fpp(0) == 0

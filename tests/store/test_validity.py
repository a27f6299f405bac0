"""Validity of artifacts, as far as it can be checked without a query."""

from __future__ import annotations

from typing import Any

import pytest
from spark_joinery.store import ArtifactVersion, FileStatus, Listing, SourceNow, validity_of

SOURCE = {"provider": "delta", "options": "", "schema": [["k", "int"]], "partition_columns": []}
SNAPSHOT = {"type": "snapshot", "reason": None, "files": [], "table_id": "t", "version": "7"}
ICEBERG = {**SNAPSHOT, "table_id": None}
FILES = {"type": "files", "reason": None, "files": []}
PROOF = {"filled_blocks": 1, "set_bits": 8}


def version(kind: str, fingerprint: dict[str, Any], **description: Any) -> ArtifactVersion:
    known = {
        "kind": kind,
        "fingerprint": fingerprint,
        "source": SOURCE,
        "spec": {"keys": ["K"]},
        "settings": {},
        "columns": ["k"],
        **PROOF,
        **description,
    }
    return ArtifactVersion("v", "file:/v", known, 2)


@pytest.mark.parametrize("kind", ["bloom_filter", "range_index"])
@pytest.mark.parametrize(
    ("fingerprint", "now", "usable", "reason"),
    [
        (SNAPSHOT, SourceNow(snapshot=("t", "7"), description=SOURCE), True, "still at snapshot 7"),
        (SNAPSHOT, SourceNow(snapshot=("t", "8"), description=SOURCE), False, "snapshot 7, the source is at 8"),
        (SNAPSHOT, SourceNow(snapshot=("u", "7"), description=SOURCE), False, "replaced by another one"),
        (SNAPSHOT, SourceNow(description=SOURCE), None, "snapshot is not known"),
        (ICEBERG, SourceNow(snapshot=(None, "7")), True, "still at snapshot 7"),
        ({**ICEBERG, "version": None}, SourceNow(snapshot=(None, None)), False, "snapshot None"),
        (FILES, SourceNow(description=SOURCE), None, "files are not known"),
        (FILES, None, None, "not looked at"),
        (SNAPSHOT, SourceNow(description={**SOURCE, "schema": [["k", "bigint"]]}), False, "schema has changed"),
        (SNAPSHOT, SourceNow(description={**SOURCE, "provider": "parquet"}), False, "provider has changed"),
        ({"type": "none", "reason": "a view", "files": []}, SourceNow(), False, "a view"),
    ],
)
def test_validity(kind: str, fingerprint: dict[str, Any], now: SourceNow | None, usable: bool, reason: str) -> None:
    validity = validity_of(version(kind, fingerprint), now)
    assert validity.usable is usable
    assert reason in validity.reason
    assert validity_of(version("distribution", fingerprint), now).usable is True


def test_what_is_never_used() -> None:
    partitioned = version("bloom_filter", SNAPSHOT, source={**SOURCE, "partition_columns": ["k"]})
    assert validity_of(partitioned, SourceNow(snapshot=("t", "7"))).reason.startswith("the key K is a partition column")
    unproven = version("bloom_filter", SNAPSHOT, set_bits=None)
    assert validity_of(unproven, SourceNow(snapshot=("t", "7"))).reason.startswith("it cannot be proven complete")
    without_settings = version("bloom_filter", SNAPSHOT, settings=None)
    assert "by which settings" in validity_of(without_settings, SourceNow(snapshot=("t", "7"))).reason
    unknown = version("bloom_filter", FILES, source=None)
    assert validity_of(unknown, SourceNow(description=SOURCE)).usable is False
    without_columns = version("range_index", SNAPSHOT, spec={"point": "k"})
    del without_columns.description["columns"]
    assert "which columns it holds" in validity_of(without_columns, SourceNow(snapshot=("t", "7"))).reason


@pytest.mark.parametrize(
    ("lengths", "usable", "reason"),
    [
        ({"a": 90}, True, "all files of the source are covered"),
        ({"a": 90, "b": 90}, True, "1 of 2 files are new or changed, and queries read their keys on top"),
        ({"a": 90, "b": 91}, False, "1 of 2 files are new or changed, and hold more than the others"),
        ({"a": 91}, False, "1 of 1 files are new or changed, and hold more than the others"),
        ({}, True, "all files of the source are covered"),
    ],
)
def test_keys_of_new_files_are_added_to_a_filter(lengths: dict[str, int], usable: bool, reason: str) -> None:
    files = [FileStatus(path, False, length, 7, 0o644) for path, length in lengths.items()]
    covered = {"type": "files", "reason": None, "files": [{"path": "a", "length": 90, "modified_ms": 7}]}
    validity = validity_of(version("bloom_filter", covered), SourceNow(Listing(files, [], 9), description=SOURCE))
    assert (validity.usable, validity.reason) == (usable, reason)


def test_only_dbt_uses_the_distribution_of_a_view() -> None:
    validity = validity_of(version("distribution", {"type": "none", "reason": "a view", "files": []}), None)
    assert (validity.usable, validity.reason[:17]) == (True, "dbt's skew_window")


@pytest.mark.parametrize(
    ("lengths", "uncovered", "usable", "reason"),
    [
        ({"a": 90}, 0, True, "all files of the source are covered"),
        ({"a": 90, "b": 20}, 0, True, "1 of 2 files are new, and are indexed on top"),
        ({"a": 90, "b": 31}, 0, False, "1 of 2 files are new or changed"),
        ({"a": 91}, 0, False, "1 files it was built from are gone or changed"),
        ({"b": 20}, 0, False, "1 files it was built from are gone or changed"),
        ({"a": 90}, 1, False, "1 files were still changing when it was built"),
    ],
)
def test_a_range_index_has_the_rows_of_its_files(
    lengths: dict[str, int], uncovered: int, usable: bool, reason: str
) -> None:
    covered = {"type": "files", "reason": None, "files": [{"path": "a", "length": 90, "modified_ms": 7}]}
    files = [FileStatus(path, False, length, 7, 0o644) for path, length in lengths.items()]
    now = SourceNow(Listing(files, [], 9), description=SOURCE)
    validity = validity_of(version("range_index", covered | {"uncovered": uncovered}), now)
    assert (validity.usable, validity.reason) == (usable, reason)

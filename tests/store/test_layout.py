"""Folder names: inside the store, readable, one per relation."""

from __future__ import annotations

import json
import posixpath
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spark_joinery.store import StoreNameError, artifact_folder, relation_folder
from spark_joinery.store.filesystem import LARGEST
from spark_joinery.store.lookup import LARGEST_POINTER

VECTORS = Path(__file__).parents[1] / "golden"
GOLDEN = json.loads((VECTORS / "relation_folder.json").read_text())


@pytest.mark.parametrize("vector", GOLDEN, ids=lambda vector: vector["input"][:30])
def test_golden_vectors(vector: dict[str, str]) -> None:
    assert relation_folder(vector["input"]) == vector["expected"]


def test_golden_limits_are_those_of_the_jar() -> None:
    limits = json.loads((VECTORS / "store_limits.json").read_text())
    assert limits == {"pointer": LARGEST_POINTER, "description": LARGEST}


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(NAMES, NAMES)
def test_no_name_leaves_the_store_or_takes_the_folder_of_another(one: str, other: str) -> None:
    folder = artifact_folder("distribution", one, "0123456789abcdef")
    assert posixpath.normpath(folder) == folder
    assert len(folder.split("/")) == 3
    assert (relation_folder(one) == relation_folder(other)) == (one == other)


@given(st.text("/.~A", min_size=300, max_size=400))
def test_long_names_fit_file_systems(name: str) -> None:
    assert len(relation_folder(name)) <= 180


@pytest.mark.parametrize(
    ("kind", "relation", "spec_hash"),
    [
        ("..", "a.b.c", "0123456789abcdef"),
        ("distribution", "", "0123456789abcdef"),
        ("distribution", "a\0b", "0123456789abcdef"),
        ("distribution", "a.b.c", "../../x"),
    ],
)
def test_what_is_no_name_is_refused(kind: str, relation: str, spec_hash: str) -> None:
    with pytest.raises(StoreNameError):
        artifact_folder(kind, relation, spec_hash)

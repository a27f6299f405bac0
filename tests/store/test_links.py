"""Symbolic links in a store are not followed, because their targets belong to other users."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from spark_joinery.store import ArtifactStore, FileSystem, Limits, vacuum
from support.store_worker import ARTIFACT, current, publish


@pytest.fixture
def store(filesystem: FileSystem, tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path / "store"), filesystem, Limits(keep=9, grace_s=0))


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """A folder that must be unchanged at the end."""
    folder = tmp_path / "elsewhere"

    def files() -> list[str]:
        return sorted(str(path) for path in folder.rglob("*"))

    folder.mkdir()
    yield folder
    assert files() == (folder.parent / "files.txt").read_text().splitlines()


def move_out(place: Path, elsewhere: Path) -> None:
    """Move a folder out of the store, and leave a link in its place."""
    place.rename(elsewhere / place.name)
    place.symlink_to(elsewhere / place.name)
    (elsewhere.parent / "files.txt").write_text("\n".join(sorted(str(path) for path in elsewhere.rglob("*"))))
    for path in [*elsewhere.parent.rglob("*"), elsewhere]:
        os.utime(path, (1, 1))


@pytest.mark.parametrize("depth", range(5))
@pytest.mark.parametrize("declared", [True, False])
def test_vacuum_follows_no_link(
    store: ArtifactStore, tmp_path: Path, elsewhere: Path, depth: int, declared: bool
) -> None:
    """The link replaces a version, the folder of versions, the specification, the relation or the kind."""
    old = publish(store, "old")
    publish(store, "new")
    place = tmp_path.joinpath("store", *ARTIFACT, "versions", old)
    move_out([place, *place.parents][depth], elsewhere)
    store.limits = Limits(keep=1, grace_s=0, abandoned_after_s=0)
    result = vacuum(store, declared=None if declared else [])
    assert result.failed == {}
    if declared:
        assert current(store)["content"] == "new"


@pytest.mark.parametrize("place", ["bloom_filter", "distribution/raw.other"])
def test_vacuum_sweeps_no_empty_folder_behind_a_link(
    store: ArtifactStore, tmp_path: Path, elsewhere: Path, place: str
) -> None:
    publish(store, "only")
    folder = tmp_path / "store" / place
    (folder / "empty").mkdir(parents=True)
    move_out(folder, elsewhere)
    store.limits = Limits(keep=1, grace_s=0, abandoned_after_s=0)
    assert vacuum(store).failed == {}


def test_a_refresh_deletes_nothing_that_a_link_leads_to(store: ArtifactStore, tmp_path: Path, elsewhere: Path) -> None:
    old = publish(store, "old")
    move_out(tmp_path.joinpath("store", *ARTIFACT, "versions", old), elsewhere)
    store.limits = Limits(keep=1, grace_s=0, abandoned_after_s=0)
    publish(store, "new")
    assert current(store)["content"] == "new"


def test_a_link_that_leads_in_a_circle(store: ArtifactStore, tmp_path: Path, elsewhere: Path) -> None:
    version = tmp_path.joinpath("store", *ARTIFACT, "versions", publish(store, "only"))
    (version / "data" / "_more").symlink_to(version)
    move_out(tmp_path / "store" / "distribution", elsewhere)
    assert vacuum(store, declared=[]).failed == {}

"""The current version, the newest one, and the ones to delete, when clocks are wrong or are set."""

from __future__ import annotations

import json
import os
import time
from functools import partial
from pathlib import Path

import pytest
from spark_joinery.store import ArtifactStore, FileSystem, Limits, layout, vacuum
from support.store_worker import ARTIFACT, FILES, current, publish

YEAR = 365 * 86400
HOUR = 3600


@pytest.fixture
def store(filesystem: FileSystem, tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path / "store"), filesystem)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path.joinpath("store", *ARTIFACT)


def set_times(path: Path, seconds_from_now: float) -> None:
    """Set the times of a file or folder, and of everything in it, relative to now."""
    at = time.time() + seconds_from_now
    for each in (*path.rglob("*"), path):
        os.utime(each, (at, at))


def publish_at(store: ArtifactStore, monkeypatch: pytest.MonkeyPatch, year: int, content: str) -> str:
    """Publish from a machine whose clock shows another year."""
    name = f"{year}0101T000000000000Z-{abs(hash(content)) % 16**8:08x}"
    with monkeypatch.context() as patch:
        patch.setattr(layout, "new_version_name", lambda: name)
        return publish(store, content)


def damage(folder: Path, version: str) -> None:
    (folder / "versions" / version / FILES[0]).write_bytes(b"")


def test_a_clock_ahead_hides_nothing(store: ArtifactStore, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish_at(store, monkeypatch, 2099, "ahead")
    set_times(folder, YEAR)
    publish(store, "first")
    second = publish(store, "second")
    assert current(store) == {"content": "second", "reason": None}
    # the same holds when the current version is damaged
    damage(folder, second)
    assert current(store)["content"] == "first"


def test_a_clock_behind_is_current_all_the_same(
    store: ArtifactStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store, "before")
    behind = publish_at(store, monkeypatch, 1999, "behind")
    set_times(folder / "versions" / behind, -27 * YEAR)
    assert current(store) == {"content": "behind", "reason": None}
    # it stays current even if it looks old
    store.limits = Limits(keep=1, grace_s=0, abandoned_after_s=0)
    vacuum(store)
    assert [path.name for path in (folder / "versions").iterdir()] == [behind]
    assert current(store) == {"content": "behind", "reason": None}


@pytest.mark.parametrize("jump", [YEAR, -YEAR])
def test_what_a_wrong_clock_wrote_goes_in_time(
    store: ArtifactStore, folder: Path, monkeypatch: pytest.MonkeyPatch, jump: int
) -> None:
    wrong = publish_at(store, monkeypatch, 2026 + jump // YEAR, "wrong")
    dead = store.begin(*ARTIFACT)
    set_times(folder, jump)
    (folder / "_dead.json").write_text("half")
    set_times(folder / "_dead.json", jump)
    store.limits = Limits(keep=1)
    right = publish(store, "right")
    # publish has deleted the dead files; the version with the wrong time was in use until now
    assert vacuum(store).removals == []
    assert not (folder / "_dead.json").exists()
    assert not (folder / "versions" / dead.name).exists()
    # two hours later
    set_times(folder / "versions" / right, -2 * HOUR)
    os.utime(folder / "_current.json", (time.time() - 2 * HOUR,) * 2)
    assert [Path(removal.path).name for removal in vacuum(store).removals] == [wrong]
    assert [path.name for path in (folder / "versions").iterdir()] == [right]
    assert current(store) == {"content": "right", "reason": None}


def test_ages_are_those_of_the_store_s_own_clock(
    store: ArtifactStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of the machine that cleans up is a year ahead or behind, but young files are not deleted."""
    old, new = publish(store, "old"), publish(store, "new")
    alive = store.begin(*ARTIFACT)
    store.limits = Limits(keep=1)
    for wrong in (YEAR, -YEAR):
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", partial(float, time.time() + wrong))
            assert vacuum(store).removals == []
    names = sorted(path.name for path in (folder / "versions").iterdir())
    assert names == sorted([old, new, alive.name])
    assert [path.name for path in folder.parents[2].iterdir()] == ["distribution"]


def test_the_grace_counts_from_the_replacement(store: ArtifactStore, folder: Path) -> None:
    store.limits = Limits(keep=1, grace_s=HOUR)
    versions = [publish(store, content) for content in ("a", "b", "c")]
    for version, age in zip(versions, (90, 61, 30), strict=True):
        set_times(folder / "versions" / version, -60.0 * age)
    os.utime(folder / "_current.json", (time.time() - 1800,) * 2)
    # a was replaced 61 minutes ago, b 30 minutes ago
    assert [Path(removal.path).name for removal in vacuum(store).removals] == versions[:1]
    assert current(store)["content"] == "c"


def test_grace_after_killed_refreshes_counts_from_the_replacement(store: ArtifactStore, folder: Path) -> None:
    """A refresh that is killed before it writes the pointer leaves a complete version that was never current."""
    used = publish(store, "used")
    pointer = (folder / "_current.json").read_bytes()
    killed = [publish(store, content) for content in ("killed", "killed again")]
    (folder / "_current.json").write_bytes(pointer)
    set_times(folder, -4 * HOUR)
    for version in killed:
        set_times(folder / "versions" / version, -3 * HOUR)
    publish(store, "new")
    names = {path.name for path in (folder / "versions").iterdir()}
    assert {used, *killed} <= names
    # two hours later
    set_times(folder, -2 * HOUR)
    assert [Path(removal.path).name for removal in vacuum(store).removals] == [used]
    assert current(store) == {"content": "new", "reason": None}


def test_pointer_names_earlier_versions_that_are_still_there(store: ArtifactStore, folder: Path) -> None:
    store.limits = Limits(keep=2, grace_s=0)
    *_, second, third = [publish(store, content) for content in ("first", "second", "third")]
    pointer = json.loads((folder / "_current.json").read_text())
    assert (pointer["version"], pointer["earlier"][0]) == (third, second)
    assert len(pointer["earlier"]) <= 2

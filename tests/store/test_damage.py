"""Flipped bits and cut files anywhere in a version are noticed, or do no harm."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from spark_joinery.cli import main
from spark_joinery.store import ArtifactStore, FileSystem, Limits, vacuum
from support.store_worker import ARTIFACT, FILES, current, publish

SEED = 20261121
FLIPS = {"hadoop": 2, "arrow": 40}  # for each file


@pytest.fixture
def store(filesystem: FileSystem, tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path / "store"), filesystem, Limits(grace_s=0))


def flip(content: bytes, at: random.Random) -> bytes:
    position = at.randrange(len(content))
    return content[:position] + bytes([content[position] ^ 1 << at.randrange(8)]) + content[position + 1 :]


def cut(content: bytes, at: random.Random) -> bytes:
    return content[: at.randrange(len(content))]


def zero(content: bytes, at: random.Random) -> bytes:
    """Damage as after a loss of power: the length is right, but the last blocks were never written."""
    start = at.randrange(len(content))
    return content[:start] + bytes(len(content) - start)


@pytest.mark.parametrize("damage", [flip, cut, zero])
def test_damage_anywhere(
    store: ArtifactStore, way: str, tmp_path: Path, damage: Callable[[bytes, random.Random], bytes]
) -> None:
    at = random.Random(SEED)
    old = "old content " * 20
    publish(store, old)
    new = publish(store, "new content " * 20)
    folder = tmp_path.joinpath("store", *ARTIFACT)
    for name in (*FILES, "version.json", "../../_current.json"):
        path = folder / "versions" / new / name
        whole = path.read_bytes()
        for _ in range(FLIPS[way]):
            damaged = damage(whole, at)
            path.write_bytes(damaged)
            answer = current(store)
            if name.endswith("_current.json"):
                # a damaged pointer does not damage the version, which may still be used as the newest
                assert answer["content"] in ("new content " * 20, old), damaged
            elif damaged != whole:
                assert (answer["content"], answer["reason"] is None) == (old, False), damaged
        path.write_bytes(whole)
        assert current(store) == {"content": "new content " * 20, "reason": None}


@pytest.mark.parametrize("name", [*FILES, "version.json", "../../_current.json"])
@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"\0" * 9), Path.unlink], ids=["zeroed", "missing"])
def test_the_next_refresh_heals(
    store: ArtifactStore, tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    publish(store, "old")
    version = publish(store, "new")
    folder = tmp_path.joinpath("store", *ARTIFACT)
    damage(folder / "versions" / version / name)
    if (folder / "_current.json").exists():
        assert current(store)["content"] == ("new" if "_current" in name else "old")
    # while the damage lasts, a vacuum keeps the version in use, even if it is an old one
    store.limits = Limits(keep=1, grace_s=0)
    if (folder / "_current.json").exists():
        vacuum(store)
        assert current(store)["content"] == ("new" if "_current" in name else "old")
    publish(store, "healed")
    assert current(store) == {"content": "healed", "reason": None}
    store.limits = Limits(keep=3, grace_s=0, abandoned_after_s=0)
    assert vacuum(store).failed == {}
    # only whole versions are left
    left = list((folder / "versions").iterdir())
    assert all((path / file).read_bytes() in (b"old", b"new", b"healed") for path in left for file in FILES)
    assert all((path / "version.json").exists() for path in left)


def test_a_description_that_no_pointer_vouches_for_vouches_for_itself(store: ArtifactStore, tmp_path: Path) -> None:
    """A version that is used in place of a damaged one must match the checksum stored with it."""
    old = publish(store, "old")
    new = publish(store, "new")
    versions = tmp_path.joinpath("store", *ARTIFACT, "versions")
    (versions / new / FILES[0]).unlink()
    assert current(store)["content"] == "old"
    path = versions / old / "version.json"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"length": 3', b'"length": 4', 1))
    assert current(store)["content"] is None
    assert f"version {old}: version.json has a wrong checksum" in current(store)["reason"]


def test_a_pointer_without_end_is_not_read(store: ArtifactStore, tmp_path: Path) -> None:
    name = publish(store, "old")
    path = tmp_path.joinpath("store", *ARTIFACT, "_current.json")
    path.write_text(path.read_text() + " " * 70_000)
    reason = f"_current.json has more than 65,536 bytes; version {name} is used"
    assert current(store) == {"content": "old", "reason": reason}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b" " * (16 << 20) + b"{}", "version.json has more than 16,777,216 bytes"),
        (b'{"spec": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "version.json is not JSON"),
    ],
    ids=["large", "deep"],
)
def test_a_description_too_large_or_deep_to_read_is_passed_over(
    store: ArtifactStore, tmp_path: Path, content: bytes, reason: str
) -> None:
    publish(store, "old")
    new = publish(store, "new")
    folder = tmp_path.joinpath("store", *ARTIFACT)
    (folder / "versions" / new / "version.json").write_bytes(content)
    pointer = json.loads((folder / "_current.json").read_text())
    pointer["version_sha256"] = hashlib.sha256(content).hexdigest()
    (folder / "_current.json").write_text(json.dumps(pointer))
    found = current(store)
    assert found["content"] == "old"
    assert f"version {new}: {reason}" in found["reason"]


@pytest.mark.parametrize("newer", ["version.json", "../../_current.json"])
def test_what_a_newer_release_wrote_is_not_vacuumed(store: ArtifactStore, tmp_path: Path, newer: str) -> None:
    store.limits = Limits(keep=9, grace_s=0)
    names = [publish(store, f"{n}") for n in range(4)]
    folder = tmp_path.joinpath("store", *ARTIFACT)
    for name in names[:3] if newer == "version.json" else names[3:]:
        path = folder / "versions" / name / newer
        text = re.sub('"format_version": .', '"format_version": 9', path.read_text())
        path.write_text(text)
    for path in (tmp_path / "store").rglob("*"):
        os.utime(path, (1, 1))
    store.limits = Limits(keep=1, grace_s=0, abandoned_after_s=0)
    assert vacuum(store).removals == []
    assert vacuum(store, declared=[]).removals == []
    publish(store, "next")
    left = {path.name for path in (folder / "versions").iterdir()}
    assert left >= set(names[:3]) if newer == "version.json" else len(left) == 1


def refuse(monkeypatch: pytest.MonkeyPatch, filesystem: FileSystem, name: str) -> None:
    """Make a file system refuse to read a file for a while, as a busy object store does."""
    read = type(filesystem).read

    def refusing(self: FileSystem, path: str, *most: int) -> bytes:
        if path.endswith(name):
            raise OSError("503 Slow Down")
        return read(self, path, *most)

    monkeypatch.setattr(type(filesystem), "read", refusing)


def publish_later_what_began_first(store: ArtifactStore) -> str:
    """Publish a version, and then one with an older name; returns the name of the second, which is current."""
    slow = store.begin(*ARTIFACT)
    publish(store, "quick")
    store.filesystem.make_folder(slow.data_path, 0o700)
    store.filesystem._write(f"{slow.path}/{FILES[0]}", b"slow")
    return store.publish(slow, {"type": "none", "reason": "test", "files": []}).name


def age(folder: Path) -> None:
    for path in folder.rglob("*"):
        os.utime(path, (1, 1))


def test_a_pointer_that_cannot_be_read_now_costs_nothing(
    store: ArtifactStore, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The version in use is unknown then, so vacuum must not delete any as unused."""
    name = publish_later_what_began_first(store)
    folder = tmp_path.joinpath("store", *ARTIFACT)
    age(tmp_path / "store")
    store.limits = Limits(keep=1, grace_s=0, abandoned_after_s=0)
    with monkeypatch.context() as busy:
        refuse(busy, store.filesystem, "_current.json")
        for declared in (None, []):
            result = vacuum(store, declared=declared)
            assert result.removals == []
            assert "503 Slow Down" in result.failed[f"file:{folder}"]
        if way == "arrow":
            done = CliRunner().invoke(main, ["vacuum", "--store", store.root, "--keep", "1", "--older-than", "0s"])
            assert (done.exit_code, "503 Slow Down" in done.output) == (1, True), done.output
    assert store.current(*ARTIFACT).version is not None
    assert (folder / "versions" / name / "version.json").exists()
    with monkeypatch.context() as busy, caplog.at_level(logging.WARNING):
        refuse(busy, store.filesystem, "_current.json")
        publish(store, "next")
    assert "could not be cleaned" in caplog.text
    assert current(store) == {"content": "next", "reason": None}


def test_what_replaces_a_damaged_version_stays_while_it_cannot_be_read(
    store: ArtifactStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [publish(store, f"content {n}") for n in range(3)]
    folder = tmp_path.joinpath("store", *ARTIFACT)
    (folder / "versions" / names[2] / FILES[0]).unlink()
    age(tmp_path / "store")
    store.limits = Limits(keep=1, grace_s=0)
    with monkeypatch.context() as busy:
        refuse(busy, store.filesystem, f"{names[1]}/version.json")
        vacuum(store)
    assert current(store)["content"] == "content 1"
    vacuum(store)
    assert current(store)["content"] == "content 1"


def test_what_a_newer_release_wrote_stays_while_it_cannot_be_read(
    store: ArtifactStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = publish(store, "old")
    folder = tmp_path.joinpath("store", *ARTIFACT)
    path = folder / "versions" / name / "version.json"
    path.write_text(re.sub('"format_version": .', '"format_version": 9', path.read_text()))
    age(tmp_path / "store")
    store.limits = Limits(grace_s=0, abandoned_after_s=0)
    refuse(monkeypatch, store.filesystem, "version.json")
    assert "503 Slow Down" in vacuum(store, declared=[]).failed[f"file:{folder}"]
    assert path.exists()

"""SIGKILL ends refreshes and vacuums at every step, in a separate process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from spark_joinery.store import ArrowFileSystem, ArtifactStore, Limits, vacuum
from support.store_worker import ARTIFACT, current, publish

from .conftest import Worker

NOTHING_SPARED = (1, 0, 0)  # keep, grace_s, abandoned_after_s
# Two folders on the way to the version, two in it, three files, version.json and _current.json written and renamed.
STEPS_TO_PUBLICATION = 11


def test_a_killed_refresh_leaves_the_old_version_current(worker: Callable[[Path], Worker], tmp_path: Path) -> None:
    run = worker(tmp_path / "store")
    store = ArtifactStore(str(tmp_path / "store"), ArrowFileSystem(), Limits(*NOTHING_SPARED))
    assert run("publish", content="old", steps=-1)["code"] == 0
    for steps in range(STEPS_TO_PUBLICATION + 6):  # later steps delete leftovers
        before = current(store)["content"]
        code = run("publish", content=f"new{steps}-", steps=steps, limits=NOTHING_SPARED)["code"]
        expected = before if steps < STEPS_TO_PUBLICATION else f"new{steps}-0"
        assert (code, current(store)) == (-9, {"content": expected, "reason": None}), steps

    assert run("publish", content="last", steps=-1, limits=NOTHING_SPARED)["code"] == 0
    assert current(store) == {"content": "last0", "reason": None}
    assert vacuum(store).failed == {}
    folder = tmp_path.joinpath("store", *ARTIFACT)
    assert sorted(path.name for path in folder.iterdir()) == ["_current.json", "versions"]
    (version,) = (folder / "versions").iterdir()
    assert sorted(path.name for path in version.iterdir()) == ["data", "state", "version.json"]


def test_a_killed_vacuum_leaves_the_current_version(worker: Callable[[Path], Worker], tmp_path: Path) -> None:
    run = worker(tmp_path / "store")
    store = ArtifactStore(str(tmp_path / "store"), ArrowFileSystem())
    for n in range(3):
        publish(store, f"v{n}")
    store.begin(*ARTIFACT)
    publish(store, "other", ("bloom_filter", "spark_catalog.raw.dropped", ARTIFACT[2]))
    folder = tmp_path.joinpath("store", *ARTIFACT)
    (folder / "_20260101T000000000000Z-00000000.json").write_text("half")
    for path in (tmp_path / "store").rglob("*"):
        os.utime(path, (1, 1))
    for steps in range(30):
        code = run("vacuum", declared=[ARTIFACT], steps=steps, limits=NOTHING_SPARED)["code"]
        assert current(store) == {"content": "v2", "reason": None}, steps
        if code == 0:
            break
    # three steps for the clock's file, two for each version; each run goes on where the last one was killed
    assert steps > 6
    assert code == 0
    assert run("vacuum", declared=[ARTIFACT], steps=-1)["code"] == 0
    assert sorted(path.name for path in folder.iterdir()) == ["_current.json", "versions"]
    assert len(list((folder / "versions").iterdir())) == 1
    assert sorted(path.name for path in (tmp_path / "store").iterdir()) == ["distribution"]

"""A really full disk and really lost rights, in a process with a small disk of its own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.store_worker import ARTIFACT, FILES

from .conftest import Worker

PAGE = 4096
SIZE = 64 * PAGE
ALL = (1, 0, 0)  # keep, grace_s, abandoned_after_s: nothing is spared

# A user and mount namespace, which needs no root, without root's powers over permission bits.
NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]
POWERLESS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]


@pytest.fixture(scope="module", params=["hadoop", "arrow"])
def starved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Worker, Path]]:
    """A worker, and the folder where its disk of 256 KiB is mounted, which other processes do not see."""
    disk = tmp_path_factory.mktemp("disk")
    if not shutil.which("unshare") or subprocess.run([*NAMESPACE, *POWERLESS, "true"], check=False).returncode:
        pytest.skip("this machine allows no user namespaces, so there is no disk to fill")
    mount = f"mount -t tmpfs -o size={SIZE},mode=0755 none '{disk}' && exec \"$@\""
    worker = Worker(request.param, disk / "store", {}, [*NAMESPACE, "sh", "-c", mount, "sh", *POWERLESS])
    with worker.process:
        assert worker("publish", content="first")["names"]
        yield worker, disk
        assert worker.process.stdin is not None
        worker.process.stdin.close()


def assert_healed(run: Worker, expected: str) -> None:
    """Assert that the former version is in use, the next refresh succeeds, and vacuum leaves nothing else."""
    assert run("current") == {"content": expected, "reason": None}
    assert "names" in run("publish", content="healed")
    assert run("current") == {"content": "healed0", "reason": None}
    assert run("vacuum", limits=ALL)["failed"] == {}
    files = [path for path in run("tree")["files"] if "/versions/" in path and path.endswith("version.json")]
    assert len(files) == 1
    version = files[0].removesuffix("/version.json")
    artifact = "/".join(ARTIFACT)
    expected_files = {f"{artifact}/_current.json", *(f"{version}/{name}" for name in ("version.json", "data", "state"))}
    expected_files |= {
        f"{version}/{name}" for name in ("data/part-0.parquet", "data/part-1.parquet", "state/part-0.parquet")
    }
    parents = {str(parent) for path in expected_files for parent in Path(path).parents} - {"."}
    assert set(run("tree")["files"]) == expected_files | parents


def test_a_full_disk(starved: tuple[Worker, Path]) -> None:
    run, disk = starved
    outcomes = []
    for pages in range(8):
        assert "names" in run("publish", content="before", limits=ALL)
        run("fill", file=str(disk / "filler"), free=pages * PAGE)
        answer = run("publish", content="full")
        outcomes.append("error" in answer)
        if "error" in answer:
            assert "space" in answer["error"]  # "No space left on device"
            assert run("current") == {"content": "before0", "reason": None}
        else:
            assert run("current") == {"content": "full0", "reason": None}
        expected = "before0" if "error" in answer else "full0"
        run("fill", file=str(disk / "filler"), free=SIZE)
        if pages in (1, 4):
            assert_healed(run, expected)
    # one page each for the three files, version.json and _current.json
    assert outcomes[:5] == [True] * 5
    assert outcomes[-1] is False
    assert outcomes == sorted(outcomes, reverse=True)


def test_vacuum_of_a_full_disk_makes_room(starved: tuple[Worker, Path]) -> None:
    run, disk = starved
    for n in range(4):
        assert "names" in run("publish", content=f"v{n}")
    run("fill", file=str(disk / "filler"), free=0)
    assert run("vacuum", limits=ALL)["failed"] == {}
    assert "names" in run("publish", content="v3")
    run("fill", file=str(disk / "filler"), free=SIZE)
    assert_healed(run, "v30")


@pytest.mark.parametrize("depth", range(5))
def test_lost_rights_to_write(starved: tuple[Worker, Path], depth: int) -> None:
    """The lost right is on the root, or on the folder of the kind, relation, specification or versions."""
    run, disk = starved
    assert "names" in run("publish", content="before")
    version = run("publish", content="before")["names"][0]
    folder = disk.joinpath("store", *ARTIFACT, "versions", version)
    path = str([*reversed(folder.parents)][len(disk.parents) + 1 :][depth])
    run("chmod", path=path, mode=0o500)
    answer = run("publish", content="locked", limits=ALL)
    if depth < 3:
        # the refresh owns the folders that it writes to
        assert "names" in answer
        assert run("current") == {"content": "locked0", "reason": None}
    else:
        assert "StoreNotWritableError: The artifact store file:" in answer["error"]
        assert run("current") == {"content": "before0", "reason": None}
    assert ("error" in run("vacuum", limits=ALL)) == (depth == 0)
    run("chmod", path=path, mode=0o700)
    assert_healed(run, run("current")["content"])


@pytest.mark.parametrize("name", ["", "version.json", "data", FILES[0]])
def test_lost_rights_to_read(starved: tuple[Worker, Path], name: str) -> None:
    run, disk = starved
    old = run("publish", content="old")["names"][0]
    new = run("publish", content="new")["names"][0]
    path = disk.joinpath("store", *ARTIFACT, "versions", new, name)
    run("chmod", path=str(path), mode=0)
    answer = run("current")
    assert answer["content"] == "old0"
    assert f"version {new}" in answer["reason"]
    # Java cannot tell a file in a closed folder from a missing one
    assert "cannot be read" in answer["reason"] or (name == "" and "is missing" in answer["reason"])
    # a version that cannot be read now may still be whole, and the version in use stays
    vacuum = run("vacuum", limits=ALL)
    assert not any(old in path for path in vacuum["removed"])
    assert all(path in vacuum["failed"] for path in vacuum["removed"] if new in path)
    assert run("current")["content"] == "old0"
    run("chmod", path=str(path), mode=0o700)
    assert_healed(run, "new0")


def test_a_former_version_out_of_reach_is_not_taken_for_damaged(starved: tuple[Worker, Path]) -> None:
    run, disk = starved
    old = run("publish", content="old")["names"][0]
    run("publish", content="new")
    for name in ("version.json", "data", FILES[0]):
        path = disk.joinpath("store", *ARTIFACT, "versions", old, name)
        run("chmod", path=str(path), mode=0)
        # both versions are to be kept, so only damage would be a reason to delete one
        removed = run("vacuum", limits=(9, 0, 0))["removed"]
        run("chmod", path=str(path), mode=0o700)
        assert not any(old in path for path in removed), name
    assert_healed(run, "new0")

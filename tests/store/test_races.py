"""Concurrent refreshes, and readers while versions are replaced, in separate processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from spark_joinery.store import ArrowFileSystem, ArtifactStore, Limits, vacuum
from support.store_worker import ARTIFACT, current, publish

from .conftest import Worker

ROUNDS = {"hadoop": 5, "arrow": 60}


def test_two_writers_and_a_reader(way: str, worker: Callable[[Path], Worker], tmp_path: Path) -> None:
    """A reader always sees a whole version, and the last writer wins."""
    root = tmp_path / "store"
    store = ArtifactStore(str(root), ArrowFileSystem())
    writers = {content: worker(root) for content in ("a", "b")}
    reader = worker(root)
    assert "names" in writers["a"]("publish", content="first")
    for content, writer in writers.items():
        writer.send("publish", content=content, times=ROUNDS[way])
    seen = set()
    while not all(writer.is_done() for writer in writers.values()):
        for answer in (reader("current"), current(store)):
            assert answer["reason"] is None
            seen.add(answer["content"])
    names = [name for writer in writers.values() for name in writer.answer()["names"]]
    assert len(set(names)) == 2 * ROUNDS[way]
    assert seen <= {"first0", *(f"{content}{n}" for content in writers for n in range(ROUNDS[way]))}
    assert current(store)["content"] in {f"{content}{ROUNDS[way] - 1}" for content in writers}

    store.limits = Limits(keep=1, grace_s=0, abandoned_after_s=0)
    assert vacuum(store).failed == {}
    assert len(list(root.joinpath(*ARTIFACT, "versions").iterdir())) == 1
    assert sorted(path.name for path in root.joinpath(*ARTIFACT).iterdir()) == ["_current.json", "versions"]


def test_a_reader_keeps_the_version_it_looked_up(worker: Callable[[Path], Worker], tmp_path: Path) -> None:
    """A query planned before a replacement still finds its files after more replacements and a vacuum."""
    store = ArtifactStore(str(tmp_path / "store"), ArrowFileSystem())
    writer = worker(tmp_path / "store")
    writer("publish", content="planned")
    planned = store.current(*ARTIFACT).version
    assert planned is not None
    assert len(writer("publish", content="later", times=5)["names"]) == 5
    assert writer("vacuum")["removed"] == []
    assert store.filesystem.read(f"{planned.data_path}/part-0.parquet") == b"planned0"
    # an hour later
    assert len(writer("vacuum", limits=(3, 0, 0))["removed"]) == 3


def test_refreshes_while_another_process_vacuums(worker: Callable[[Path], Worker], tmp_path: Path) -> None:
    """Even if vacuum keeps little, the current version stays whole, and unfinished versions are not deleted."""
    store = ArtifactStore(str(tmp_path / "store"), ArrowFileSystem())
    writer, cleaner = worker(tmp_path / "store"), worker(tmp_path / "store")
    writer("publish", content="first")
    for n in range(3):
        writer.send("publish", content=f"{n}-", times=4)
        for _ in range(2):
            answer = cleaner("vacuum", limits=(1, 0.5, 3600))
            assert answer["failed"] == {}
            assert current(store)["reason"] is None
        assert len(writer.answer()["names"]) == 4
        assert current(store) == {"content": f"{n}-3", "reason": None}


def test_a_publication_whose_pointer_is_taken_away_deletes_nothing(tmp_path: Path) -> None:
    """Another vacuum may delete the pointer with the artifact. It alone decides then what else to delete."""

    class Shared(ArrowFileSystem):
        def replace(self, path: str, content: bytes, temporary: str) -> None:
            super().replace(path, content, temporary)
            if path.endswith("/_current.json"):
                self.delete(path)

    root = str(tmp_path / "store")
    first = publish(ArtifactStore(root, ArrowFileSystem()), "first")
    running = ArtifactStore(root, ArrowFileSystem()).begin(*ARTIFACT)
    second = publish(ArtifactStore(root, Shared()), "second")
    versions = tmp_path.joinpath("store", *ARTIFACT, "versions")
    assert sorted(path.name for path in versions.iterdir()) == sorted([first, running.name, second])

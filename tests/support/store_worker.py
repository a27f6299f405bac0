"""A process that carries out orders on an artifact store, so that tests can kill, starve and race it.

    python -m support.store_worker arrow|hadoop ROOT

reads one JSON order per line, and answers each with a line of JSON. If PYSPARK_GATEWAY_PORT is set, it uses that JVM.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from spark_joinery.store import ArrowFileSystem, ArtifactStore, FileSystem, HadoopFileSystem, Limits, StoreError, vacuum

ARTIFACT = ("distribution", "spark_catalog.raw.flights", "0123456789abcdef")
FILES = ("data/part-0.parquet", "data/part-1.parquet", "state/part-0.parquet")

# Calls that change the store. A killed process dies just before one of them.
STEPS = ("make_folder", "_write", "_rename_over", "delete", "delete_empty")


def mortal(filesystem: FileSystem, steps: int) -> FileSystem:
    """Make a file system kill its process after a number of steps; -1 means never."""
    left = steps

    def dying(call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any) -> Any:
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return call(*arguments)

        return step

    for name in STEPS:
        setattr(filesystem, name, dying(getattr(filesystem, name)))
    return filesystem


def publish(store: ArtifactStore, content: str, artifact: tuple[str, str, str] = ARTIFACT) -> str:
    """Publish a version as a refresh does, with the same content in every file."""
    pending = store.begin(*artifact)
    try:
        for folder in (pending.data_path, pending.state_path):
            store.filesystem.make_folder(folder, 0o700)
        for name in FILES:
            store.filesystem._write(f"{pending.path}/{name}", content.encode())
        return store.publish(pending, {"type": "none", "reason": "test", "files": []}).name
    except (OSError, StoreError):
        # the reason for the failure may also stop the clean-up
        with suppress(StoreError):
            store.abandon(pending)
        raise


def current(store: ArtifactStore) -> dict[str, Any]:
    """The content that a reader gets if it looks the version up and then reads all its files."""
    lookup = store.current(*ARTIFACT)
    if lookup.version is None:
        return {"content": None, "reason": lookup.reason}
    contents = {store.filesystem.read(f"{lookup.version.path}/{name}").decode() for name in FILES}
    (content,) = contents
    return {"content": content, "reason": lookup.reason}


def obey(store: ArtifactStore, order: dict[str, Any]) -> dict[str, Any]:
    """Carry out one order, and return its answer."""
    store.limits = Limits(*order.get("limits", ()))
    try:
        match order["do"]:
            case "publish":
                return {"names": [publish(store, f"{order['content']}{n}") for n in range(order.get("times", 1))]}
            case "current":
                return current(store)
            case "vacuum":
                result = vacuum(store, declared=order.get("declared") and {tuple(d) for d in order["declared"]})
                return {"removed": [removal.path for removal in result.removals], "failed": result.failed}
            case "fill":
                fill(Path(order["file"]), order["free"])
                return {}
            case "chmod":
                Path(order["path"]).chmod(order["mode"])
                return {}
            case "tree":
                root = Path(store.root.removeprefix("file:"))
                return {"files": sorted(str(path.relative_to(root)) for path in root.rglob("*"))}
    except (OSError, StoreError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    raise ValueError(order["do"])


def fill(file: Path, free: int) -> None:
    """Fill the disk with a file, except for some free bytes."""
    with file.open("wb", buffering=0) as stream:
        for size in (4096, 1):
            with suppress(OSError):
                while stream.write(b"x" * size) == size:
                    pass
    os.truncate(file, max(0, file.stat().st_size // 4096 * 4096 - free))


def main() -> None:
    kind, root = sys.argv[1:]
    if kind == "hadoop":
        from pyspark.java_gateway import launch_gateway

        jvm = launch_gateway().jvm
        filesystem: FileSystem = HadoopFileSystem(jvm, jvm.org.apache.hadoop.conf.Configuration())
    else:
        filesystem = ArrowFileSystem()
    store = ArtifactStore(root, filesystem)
    for line in sys.stdin:
        order = json.loads(line)
        if "steps" not in order:
            print(json.dumps(obey(store, order)), flush=True)
            continue
        child = os.fork()
        if child == 0:
            mortal(filesystem, order["steps"])
            answer = obey(store, order)
            os._exit(1 if "error" in answer or answer.get("failed") else 0)
        print(json.dumps({"code": os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}), flush=True)


if __name__ == "__main__":
    main()

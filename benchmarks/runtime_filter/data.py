"""The tables: two fact tables, and a dimension with a predicate that keeps a thousandth of its keys."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.common.data import START_US, made_once, timestamps, write

VERSION = 3  # in the folder's name: count it up when the data changes
FACTS, SECOND, KEYS = 20_000_000, 10_000_000, 1_000_000
CLASSES = 1_000  # of keys; a query selects one
REGIONS = 100  # of keys that follow each other
PARTS = 97  # values of the second key


def tables(scale: float = 1) -> dict[str, Path]:
    """The folders of the tables, which are made if they are missing.

    Args:
        scale: Scale of the rows.

    Returns:
        Folder by table: `fact (id, k, p, j, at, m)`; `sorted`, the same rows by `k`, in files with an index of each
        page's values; `second (s_id, k, j, n)`; and `dim (k, p, region, class, since, label)`. Columns are BIGINT,
        except `p INT`, the times `at` and `since`, and the text `label`. `k` counts from 0 in `dim`. `j` is the key by
        which both fact tables are joined, with values from 0 on, twice as many as `k` has.
    """
    facts, second, keys = (max(int(rows * scale), 1000) for rows in (FACTS, SECOND, KEYS))

    def make(folder: Path) -> None:
        random = np.random.default_rng(13)
        k = random.integers(0, keys, facts)
        fact = pa.table(
            {
                "id": np.arange(facts),
                "k": k,
                "p": (k % PARTS).astype(np.int32),
                "j": random.integers(0, 2 * keys, facts),
                "at": timestamps(START_US + random.integers(0, 30 * 86_400_000_000, facts)),
                "m": random.integers(0, 1_000_000, facts),
            }
        )
        write(folder / "fact", fact)
        write(folder / "sorted", fact.take(np.argsort(k, kind="stable")), page_index=True)
        seconds = {
            "s_id": np.arange(second),
            "k": random.integers(0, keys, second),
            "j": random.integers(0, 2 * keys, second),
            "n": random.integers(0, 1_000_000, second),
        }
        write(folder / "second", pa.table(seconds))
        order = random.permutation(keys)
        dim = {
            "k": order,
            "p": (order % PARTS).astype(np.int32),
            "region": order // max(keys // REGIONS, 1),
            "class": random.integers(0, CLASSES, keys),
            "since": timestamps(START_US + random.integers(0, 30 * 86_400_000_000, keys)),
            "label": pa.array([f"label {i}" for i in range(keys)]),
        }
        write(folder / "dim", pa.table(dim))

    folder = made_once(f"filter-{facts}-{second}-{keys}-v{VERSION}", make)
    return {name: folder / name for name in ("fact", "sorted", "second", "dim")}

"""The capabilities of the jar. Each module draws cases of one kind, with the query for stock Spark."""

from __future__ import annotations

from fuzz.capability import Capability
from fuzz.cases.asof_join import AsOfJoin
from fuzz.cases.built_filters import BuiltFilters
from fuzz.cases.composed import Composed
from fuzz.cases.last_join import LastJoin
from fuzz.cases.last_joins import (
    CorrelatedLastJoin,
    ExtremeLastJoin,
    KeylessLastJoin,
    LatestRows,
    ScarceLastJoin,
    StoredCutLastJoin,
)
from fuzz.cases.range_join import RangeJoin, ScarceRangeJoin
from fuzz.cases.stored_filters import StoredDamage, StoredFilters, StoredFormats, StoredRefresh, StoredWhere
from fuzz.cases.stored_ranges import StoredRanges
from fuzz.cases.window import LateWindow, RangeWindow, ScarceWindow, SlidingWindow, StoredCutWindow

CAPABILITIES: dict[str, Capability] = {
    capability.name: capability
    for capability in (
        LastJoin(),
        ScarceLastJoin(),
        ExtremeLastJoin(),
        CorrelatedLastJoin(),
        KeylessLastJoin(),
        LatestRows(),
        StoredCutLastJoin(),
        AsOfJoin(),
        RangeJoin(),
        ScarceRangeJoin(),
        SlidingWindow(),
        ScarceWindow(),
        RangeWindow(),
        LateWindow(),
        StoredCutWindow(),
        StoredFilters(),
        StoredWhere(),
        StoredFormats(),
        StoredDamage(),
        StoredRefresh(),
        StoredRanges(),
        BuiltFilters(),
        Composed(),
    )
}

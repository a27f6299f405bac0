"""The range index of a relation: intervals or points in their order, in sorted runs.

A run is a list of Parquet files. Each file is sorted, and so is their list. A reader merges the runs and has nothing
to sort. NULL bounds come first: they match nothing, but an outer join needs their rows. New rows become a run of their
own. Too many runs, or a large new run, make a new build necessary.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_joinery.jobs.builders.built import Built, ColumnUnusableError, DriftError, column, resolve
from spark_joinery.jobs.builders.parquet import read_whole, write_counted
from spark_joinery.metadata import RangeIndexSpec
from spark_joinery.store import ArtifactVersion, FileSystem, PendingVersion

_MAX_RUNS = 8
_MAX_NEW_SHARE = 0.2
_UNORDERED = ("map", "variant", "struct", "array", "geometry", "geography")


def build_range_index(
    frame: DataFrame,
    spec: RangeIndexSpec,
    relation: str,
    target: PendingVersion,
    filesystem: FileSystem,
    base: ArtifactVersion | None = None,
) -> Built:
    """Write a range index.

    Args:
        frame: The relation; with `base`, its new rows.
        spec: Bounds or point, and further columns.
        relation: Name of the relation in errors.
        target: The version to write.
        filesystem: File system of `base` and `target`.
        base: A version to add the rows to, as a run of their own.

    Returns:
        Counts, and the fields that a reader needs: `columns`, `sorted_by`, `runs`.

    Raises:
        ColumnMissingError: If the relation lacks a column.
        ColumnUnusableError: If the bounds differ in type, or cannot be ordered.
        DriftError: If `base` has too many runs, other columns or lost rows, or is small compared with the new rows.
        LostRowsError: If some of the written rows cannot be read.

    Example:
        >>> spec = RangeIndexSpec(start="starts_at", end="ends_at", columns=["storm_id"])
        >>> build_range_index(spark.table("raw.storms"), spec, "raw.storms", pending, store.filesystem).rows
        412
    """
    bounds = [name for name in (spec.point, spec.start, spec.end) if name is not None]
    names = list(dict.fromkeys(resolve(frame, [*bounds, *spec.columns], relation)))
    sorted_by = names[: len(bounds)]
    _check_types(frame, sorted_by, relation)
    runs: list[list[str]] = list(base.description["runs"]) if base else []
    if len(runs) >= _MAX_RUNS:
        raise DriftError(f"the index consists of {len(runs)} runs")
    if base and base.description.get("columns") != names:
        raise DriftError("the columns of the index are not known, or spelled in another way")

    any_null = F.lit(False)
    for name in sorted_by:
        any_null = any_null | column(name).isNull()
    rows = frame.select(*map(column, names))
    run = f"run-{len(runs)}"
    order = [column(name).asc_nulls_first() for name in sorted_by]
    ordered = rows.repartitionByRange(*order).sortWithinPartitions(*order)
    totals = {"rows": F.count(F.lit(1)), "null_rows": F.count(F.when(any_null, 1))}
    counts = write_counted(ordered, f"{target.data_path}/{run}", totals)
    seen, null_rows = counts["rows"], counts["null_rows"]
    if base:
        before = int(base.description["rows"])
        if seen > _MAX_NEW_SHARE * before:
            raise DriftError(f"{seen:,} rows are new next to {before:,}")
        for name in (name for run_files in runs for name in run_files):
            filesystem.copy(f"{base.data_path}/{name}", f"{target.data_path}/{name}")
        copied = read_whole(frame.sparkSession, *(f"{target.data_path}/run-{i}" for i in range(len(runs)))).count()
        if copied != before:
            raise DriftError(f"the former version holds {copied:,} rows instead of {before:,}")
        seen, null_rows = seen + before, null_rows + int(base.description["null_rows"])
    # Spark numbers the files of a write in the order of its partitions
    files = sorted(status.path for status in filesystem.walk(f"{target.data_path}/{run}"))
    runs.append([path[len(target.data_path) + 1 :] for path in files])
    return Built(seen, details={"columns": names, "sorted_by": sorted_by, "null_rows": null_rows, "runs": runs})


def _check_types(frame: DataFrame, bounds: list[str], relation: str) -> None:
    types = [frame.schema[name].dataType.simpleString() for name in bounds]
    for name, type_name in zip(bounds, types, strict=True):
        if type_name.startswith(_UNORDERED):
            raise ColumnUnusableError(f"{relation}: column '{name}' of type {type_name} cannot bound a range.")
    if len(set(types)) > 1:
        raise ColumnUnusableError(
            f"{relation}: '{bounds[0]}' is of type {types[0]} and '{bounds[1]}' of type {types[1]}; the bounds of a "
            "range index need one type."
        )

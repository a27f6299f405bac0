"""Models of the declarations that a dbt node may have under `meta.joinery`.

These models are the only definition: the JSON Schema in `meta.joinery.v1.json` is generated from them. They are
strict (`"8"` is not a number), because a declaration that is silently coerced would show up only as a slow night.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from typing_extensions import Self

Kind = Literal["distribution", "bloom_filter", "range_index"]

ColumnName = Annotated[str, Field(min_length=1, description="Column name as in the table, without quotes")]


def _distinct(columns: list[str]) -> list[str]:
    """Refuse a column named twice; Spark resolves column names without regard to case."""
    seen: set[str] = set()
    for column in columns:
        if column.lower() in seen:
            raise ValueError(f"column '{column}' is listed twice")
        seen.add(column.lower())
    return columns


Columns = Annotated[list[ColumnName], AfterValidator(_distinct), Field(json_schema_extra={"uniqueItems": True})]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class HotKeys(_Strict):
    """Which keys count as hot. A key is hot when it passes every limit given."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    min_rows: Annotated[int | None, Field(ge=1, description="Rows a key must have")] = None
    min_share: Annotated[float | None, Field(gt=0, le=1, description="Share of all rows a key must have")] = None

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if self.min_rows is None and self.min_share is None:
            raise ValueError("give min_rows, min_share or both")
        return self


class DistributionSpec(_Strict):
    """Row counts per key, and quantiles of the order column for hot keys: what a skewed window needs to know.

    Example:
        >>> DistributionSpec(partition_by=["carrier"], order_by="departs_at").quantiles
        8
    """

    partition_by: Annotated[Columns, Field(min_length=1, description="PARTITION BY columns of the window")]
    order_by: Annotated[ColumnName, Field(description="First ORDER BY column of the window")]
    quantiles: Annotated[int, Field(ge=2, le=1024, description="Parts a hot key is split into")] = 8
    hot: Annotated[
        HotKeys | None,
        Field(description="Which keys carry quantiles; default: decided by the job from the row counts"),
    ] = None


class BloomFilterSpec(_Strict):
    """A bloom filter over the join keys of a small side.

    Example:
        >>> BloomFilterSpec(keys=["tailnum"], where="manufacturer = 'CESSNA'").fpp
        0.01
    """

    keys: Annotated[Columns, Field(min_length=1, description="Join key columns, all in one filter")]
    where: Annotated[
        str | None, Field(min_length=1, description="Spark SQL predicate: only these rows enter the filter")
    ] = None
    fpp: Annotated[float, Field(gt=0, lt=1, description="Probability of a false positive")] = 0.01


class RangeIndexSpec(_Strict):
    """A sorted index over intervals (`start` and `end`) or over points (`point`).

    Example:
        >>> RangeIndexSpec(start="starts_at", end="ends_at", columns=["storm_id"]).point is None
        True
    """

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["start", "end"]}, {"required": ["point"]}]},
    )

    start: Annotated[ColumnName | None, Field(description="Lower bound of the interval")] = None
    end: Annotated[ColumnName | None, Field(description="Upper bound of the interval")] = None
    point: Annotated[ColumnName | None, Field(description="Column of points, in place of start and end")] = None
    columns: Annotated[Columns, Field(description="Further columns that queries read from the index")] = []

    @model_validator(mode="after")
    def _interval_or_point(self) -> Self:
        interval = (self.start is not None, self.end is not None)
        if (self.point is not None and any(interval)) or (self.point is None and not all(interval)):
            raise ValueError("give either start and end, or point")
        if self.start is not None and self.end is not None and self.start.lower() == self.end.lower():
            raise ValueError("start and end are one column: give it as point")
        return self


Spec = DistributionSpec | BloomFilterSpec | RangeIndexSpec

KIND_OF_SPEC: dict[type[BaseModel], Kind] = {
    DistributionSpec: "distribution",
    BloomFilterSpec: "bloom_filter",
    RangeIndexSpec: "range_index",
}


class JoineryMeta(_Strict):
    """Everything under `meta.joinery` of one source, seed, snapshot or table model."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    distributions: Annotated[list[DistributionSpec], Field(description="Skew distributions to refresh")] = []
    bloom_filters: Annotated[list[BloomFilterSpec], Field(description="Bloom filters to refresh")] = []
    range_indexes: Annotated[list[RangeIndexSpec], Field(description="Range indexes to refresh")] = []

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.specs():
            raise ValueError("nothing is declared: give distributions, bloom_filters or range_indexes")
        return self

    @model_validator(mode="after")
    def _one_table_per_distribution(self) -> Self:
        seen: set[tuple[str, ...]] = set()
        for spec in self.distributions:
            # artifact_table_name() uses these names: two equal ones would replace each other's table every night
            identity = tuple(name.lower() for name in (*spec.partition_by, spec.order_by))
            if identity in seen:
                raise ValueError(f"two distributions by {spec.partition_by} ordered by '{spec.order_by}'")
            seen.add(identity)
        return self

    def specs(self) -> list[Spec]:
        """All declared specifications, in the order of their keys here."""
        return [*self.distributions, *self.bloom_filters, *self.range_indexes]

"""Generated calls of the dbt macros, with any two types that may meet, and any arguments that fit each other."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from support.dbt_project import SCHEMA, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ZONE = "America/New_York"  # its clocks leave out an hour on 2024-03-10, and repeat one on 2024-11-03
Arguments = dict[str, Any]
# Values of each type, as SQL. Types of one family are compared, and some values are only equal after rounding.
FAMILIES: dict[str, dict[str, list[str]]] = {
    "numbers": {
        "tinyint": ["0", "1", "3", "9"],
        "int": ["-1", "0", "1", "3", "4", "16777217", "2147483647"],
        "bigint": ["0", "2", "3", "9007199254740992", "9007199254740993", "1710056400000000001"],
        "float": ["'-0.0'", "0.0", "1.5", "3.0", "16777216.0", "'NaN'", "'Infinity'"],
        "double": ["'-0.0'", "0.0", "1.5", "3.1", "9007199254740992.0", "1.7100564e18", "'NaN'", "'-Infinity'"],
        "decimal(10,2)": ["0.00", "1.50", "3.10", "3.00", "4.00"],
        "decimal(38,0)": ["0", "3", "4", "9007199254740993", "99999999999999999999999999999999999999"],
        "decimal(38,18)": ["0.0", "1.5", "3.1", "3.000000000000000001", "9007199254740992.5"],
    },
    "times": {
        "date": ["'2024-03-09'", "'2024-03-10'", "'2024-03-11'", "'2024-11-03'", "'2024-11-04'"],
        "timestamp": [
            f"'{time}:00Z'"
            for day, hours in (
                ("2024-03-10", ("05:00", "06:45", "07:00", "07:15", "07:20", "07:30", "07:40", "08:10")),
                ("2024-11-03", ("05:10", "05:30", "06:10", "06:30", "07:00")),
            )
            for time in (f"{day} {hour}" for hour in hours)
        ],
        "timestamp_ntz": [
            f"'{day} {hour}'"
            for day, hours in (
                (
                    "2024-03-10",
                    ("00:00", "01:45", "02:00", "02:20", "02:30", "02:55", "03:00", "03:15", "03:30", "03:45"),
                ),
                ("2024-11-03", ("00:30", "01:10", "01:30", "02:00")),
            )
            for hour in hours
        ],
    },
    "texts": {
        "string": ["''", "'a'", "'ab'", "'ab '", "'b'", "'10'", "'9'"],
        "varchar(5)": ["'a'", "'ab'", "'ab '", "'abc'", "'10'"],
        "char(2)": ["'a'", "'ab'", "'b'", "'10'"],
        "char(5)": ["'a'", "'ab'", "'ab\\t'", "'abc'", "'b'"],
    },
    "days": {
        "interval day to second": ["interval '0' day", "interval '26' hour", "interval '2' day", "interval '3' second"],
        "interval day": ["interval '0' day", "interval '1' day", "interval '2' day"],
    },
    "months": {
        "interval year to month": ["interval '0' month", "interval '12' month", "interval '1' year"],
        "interval month": ["interval '0' month", "interval '12' month", "interval '5' month"],
    },
    "arrays": {
        "array<int>": ["array()", "array(1)", "array(1, 2)", "array(2)"],
        "array<bigint>": ["array()", "array(1)", "array(1, 2)", "array(2)"],
    },
    "clocks": {
        "time(6)": ["time'01:00:00'", "time'07:00:00.000001'", "time'07:00:01'"],
        "time(0)": ["time'01:00:00'", "time'07:00:00'", "time'07:00:01'"],
    },
    "others": {
        "boolean": ["true", "false"],
        "binary": ["X''", "X'00'", "X'61'", "X'6162'"],
        "struct<a:int,b:string>": ["named_struct('a', 1, 'b', 'x')", "named_struct('a', 1, 'b', 'y')"],
    },
}
TYPES = [kind for family in FAMILIES.values() for kind in family]
INTERVALS = ["15 minutes", "20 hours", "1240 minutes", "1 day", "2 days", "1 month", "0 seconds"]
TOLERANCES = {
    "numbers": [0, 1, 1.5, 3],
    "times": INTERVALS,
    "days": ["1 day", "30 hours"],
    "months": ["1 month", "1 year"],
    "clocks": ["1 hour", "1 second"],
}
ROWS = {"l": 40, "r": 80}


@dataclass(frozen=True)
class Call:
    """A call of a macro.

    Args:
        macro: The macro's name.
        arguments: The macro's arguments.
        ctes: SQL to put before the rendered SQL if sides are CTEs.
    """

    macro: str
    arguments: Arguments
    ctes: str


def names(kind: str) -> list[str]:
    """The names of the two columns that each table has of a type."""
    n = TYPES.index(kind)
    return [f"a{n}", f"b{n}"]


def load(spark: SparkSession, seed: int) -> None:
    """Create the tables of_l and of_r with an id, a key of few values, and two columns of each type.

    Args:
        spark: The session, in the time zone `ZONE`.
        seed: The same seed gives the same rows.
    """
    pick = random.Random(seed)
    columns = {name: (kind, values) for family in FAMILIES.values() for kind, values in family.items()
               for name in names(kind)}  # fmt: skip
    for side, count in ROWS.items():
        spark.sql(f"drop table if exists {SCHEMA}.of_{side}")
        schema = ", ".join(f"{name} {kind}" for name, (kind, _) in columns.items())
        spark.sql(f"create table {SCHEMA}.of_{side} ({side}id int, k int, {schema}) using parquet")
        # Arrays of values with an index for each row, because some thousand expressions would take long to analyze.
        arrays = ", ".join(
            f"array({', '.join(f'cast({value} as {bare(kind)})' for value in values)}) as {name}"
            for name, (kind, values) in columns.items()
        )
        rows = ", ".join(
            f"({n}, {pick.choice(['1', '2', '2', 'null'])}, array({picked}))"
            for n in range(count)
            for picked in [", ".join(index(pick, values) for _, values in columns.values())]
        )
        chosen = ", ".join(f"get({name}, picked[{n}])" for n, name in enumerate(columns))
        spark.sql(f"insert into {SCHEMA}.of_{side} select n, k, {chosen} from (select {arrays}) "
                  f"cross join (values {rows} as t(n, k, picked))")  # fmt: skip
        filled = spark.sql(f"select {', '.join(f'count({name})' for name in columns)} from {SCHEMA}.of_{side}").first()
        assert filled is not None
        assert all(filled), [name for name, found in zip(columns, filled, strict=True) if not found]


def bare(kind: str) -> str:
    """The type of a column's values, because CHAR and VARCHAR are types of columns only."""
    return "string" if "char(" in kind else kind


def index(pick: random.Random, values: Sequence[str]) -> str:
    """The index of a row's value; one past the last gives NULL."""
    return str(pick.randrange(len(values) + (pick.random() < 0.3)))


class Generator:
    """Draws calls of macros at random.

    Args:
        seed: The same seed gives the same calls.
    """

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def calls(self, macro: str, count: int) -> list[Call]:
        """Draw calls of one macro.

        Args:
            macro: ``last_join``, ``range_join`` or ``skew_window``.
            count: The number of calls.

        Returns:
            The calls.
        """
        draw: Callable[[], Call] = getattr(self, macro)
        return [draw() for _ in range(count)]

    def maybe(self, share: float = 0.5) -> bool:
        """True for this share of all cases."""
        return self.pick.random() < share

    def pair(self) -> tuple[str, str, str]:
        """A family, with a type for each side. Both sides have one type in a fifth of all cases."""
        few = [name for name in FAMILIES if name not in ("numbers", "times")]
        family = self.pick.choice(["numbers", "times", "times", self.pick.choice(few)])
        left, right = self.pick.sample(list(FAMILIES[family]), 2)
        return family, left, left if self.maybe(0.2) or family == "others" else right

    def columns(self) -> tuple[str, str]:
        """A left and a right column that may be compared."""
        _, left, right = self.pair()
        return self.pick.choice(names(left)), self.pick.choice(names(right))

    def sides(self, left: str, right: str) -> tuple[Any, Any, str]:
        """Two relations as tables or as CTEs, and the SQL of the CTEs. dbt does not know the types of a CTE."""
        ctes = []
        given: list[Any] = []
        for name in (left, right):
            if self.maybe(0.4):
                ctes.append(f"c{name} as (select * from {SCHEMA}.of_{name})")
                given.append(f"c{name}")
            else:
                given.append(table(f"of_{name}"))
        return given[0], given[1], f"with {', '.join(ctes)} " if ctes else ""

    def order(self, first: str) -> list[Any]:
        """Order terms that end in the id, so that no rows are tied."""
        terms: list[Any] = [first] if self.maybe(0.6) else []
        terms += [self.pick.choice(names(self.pick.choice(TYPES))) for _ in range(self.pick.randrange(2))]
        return [*map(self.term, terms), self.term("rid")]

    def term(self, column: str) -> Any:
        """One term, with or without direction and NULLs."""
        term = {"column": column}
        if self.maybe(0.3):
            term["direction"] = self.pick.choice(["asc", "desc"])
        if self.maybe(0.3):
            term["nulls"] = self.pick.choice(["first", "last"])
        return column if len(term) == 1 else term

    def keys(self) -> list[Any]:
        """Columns to join by."""
        keys: list[Any] = ["k"] if self.maybe(0.6) else []
        if self.maybe(0.3):
            left, right = self.columns()
            keys.append({"left": left, "right": right})
        return keys

    def last_join(self) -> Call:
        """A call of last_join."""
        left, right, ctes = self.sides("l", "r")
        arguments = {"left": left, "right": right, "on": self.keys(), **self.matching()}
        if not arguments["on"] and "as_of" not in arguments:
            arguments["on"] = ["k"]
        if self.maybe(0.15):
            rights = [{"relation": right, "prefix": f"s{n}_", **(self.matching() if n else {})} for n in range(2)]
            arguments["right"] = rights
        return Call("last_join", arguments, ctes)

    def matching(self) -> Arguments:
        """The arguments that decide which right row is last, with the columns to return."""
        given: Arguments = {"columns": ["rid"], "order_by": self.order(self.columns()[1])}
        if not self.maybe(0.85):
            return given
        family, left_type, right_type = self.pair()
        left, right = self.pick.choice(names(left_type)), self.pick.choice(names(right_type))
        given["as_of"] = {"left": left, "right": right}
        if self.maybe(0.3):
            given["as_of"]["strict"] = self.maybe()
        if family in TOLERANCES and self.maybe(0.4):
            given["as_of"]["tolerance"] = self.pick.choice(TOLERANCES[family])
        given["order_by"] = self.order(right)
        if self.maybe(0.2):
            # The default order is by time alone. Tied rows differ in other columns, so only the time is returned.
            del given["order_by"]
            given["columns"] = [right]
        elif self.maybe(0.3):
            if self.maybe():
                given["valid_to"] = names(self.pick.choice(list(FAMILIES[family])))[1]
            if self.maybe():
                known = names(self.pick.choice(list(FAMILIES[family])))[1]
                given["known_at"] = known if self.maybe() else dict(zip(("left", "right"), self.columns(), strict=True))
        return given

    def range_join(self) -> Call:
        """A call of range_join."""
        left, right, ctes = self.sides("l", "r")
        _, left_type, right_type = self.pair()
        lefts, rights = names(left_type), names(right_type)
        how = self.pick.choice(["inner", "cross", "left", "right", "full", "semi", "anti"])
        kind = self.pick.choice(
            [
                {"left_point": lefts[0], "right_interval": rights},
                {"left_interval": lefts, "right_point": rights[0]},
                {"left_interval": lefts, "right_interval": rights},
            ]
        )
        arguments: Arguments = {"left": left, "right": right, "how": how, "on": self.keys(), **kind}
        if self.maybe():
            arguments["bounds"] = self.pick.choice(["[]", "[)", "(]", "()"])
        if how not in ("semi", "anti"):
            arguments["columns"] = ["rid", {"column": rights[0], "alias": "right_value"}]
        return Call("range_join", arguments, ctes)

    def skew_window(self) -> Call:
        """A call of skew_window."""
        relation, _, ctes = self.sides("r", "r")
        ctes = f"with cr as (select * from {SCHEMA}.of_r) " if ctes else ""
        column = self.pick.choice(names(self.pick.choice(TYPES)))
        if self.maybe():
            order = [self.term(column), self.term("rid")] if self.maybe(0.8) else [self.term("rid")]
            expressions = ["count(*)", "min(rid)", "max(rid)", "first_value(rid)", "last_value(rid)", "sum(k)"]
            frame = {"type": "rows", **self.bounds([0, 1, 2, 7, 40, "unbounded"])}
        else:
            family = self.pick.choice(["numbers", "times"])
            column = self.pick.choice(names(self.pick.choice(list(FAMILIES[family]))))
            order = [self.term(column)]
            expressions = ["count(*)", "min(rid)", "max(rid)", "sum(k)", "count(a1)"]
            unit = self.pick.choice(["minutes", "hours", "days", "months"])  # Spark requires one unit for both bounds
            steps = [0, 1, 3, 1000] if family == "numbers" else [0, 1, *(f"{n} {unit}" for n in (1, 2, 90))]
            offsets = [*steps, "unbounded"]
            frame = {"type": "range", **self.bounds(offsets)}
        keys = self.pick.choice([[], ["k"], ["k"], ["k"], names(self.pick.choice(TYPES))[:1]])
        chosen = [{"name": f"w{n}", "expression": text} for n, text in enumerate(self.pick.sample(expressions, 3))]
        arguments = {"relation": relation, "partition_by": keys, "order_by": order, "frame": frame}
        return Call("skew_window", {**arguments, "expressions": chosen, "parts": self.pick.choice([2, 4, 8])}, ctes)

    def bounds(self, offsets: list[Any]) -> Arguments:
        """The bounds of a frame."""
        bounds = {"preceding": self.pick.choice(offsets)}
        if self.maybe():
            bounds["following"] = self.pick.choice(offsets)
        return bounds

"""Wrong arguments give an error that names the macro and the argument, before any SQL runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.dbt_project import Dbt, MacroError, table, write_project

pytestmark = pytest.mark.dbt
LAST: dict[str, Any] = {"left": "l", "right": "r", "on": ["k"], "columns": ["v"]}
RANGE: dict[str, Any] = {
    "left": "l",
    "right": "r",
    "left_point": "v",
    "right_interval": ["s", "e"],
    "columns": ["x"],
}
FILTER: dict[str, Any] = {"left": "l", "right": "r", "on": ["k"], "columns": ["v"]}
WINDOW: dict[str, Any] = {
    "relation": "x",
    "partition_by": ["k"],
    "order_by": ["t"],
    "frame": {"type": "rows", "preceding": 3},
    "expressions": [{"name": "n", "expression": "count(*)"}],
}

GENERIC_TESTS = ("row_count_preserved", "no_future_rows", "intervals_do_not_overlap", "skew_below")
PUBLIC = {"last_join", "range_join", "bloom_filter_join", "skew_window", "mode", "check_mode", "lint_last_join"}
PUBLIC |= {f"test_{name}" for name in GENERIC_TESTS}

MISSING = [
    (macro, {name: value for name, value in given.items() if name != lacking}, lacking, "is missing")
    for macro, given in (
        ("last_join", LAST),
        ("range_join", RANGE),
        ("skew_window", WINDOW),
        ("bloom_filter_join", FILTER),
    )
    for lacking in given
]
UNKNOWN = [(macro, {**given, "oder_by": ["x"]}, "oder_by", "is unknown; it takes") for macro, given, *_ in MISSING[::5]]
WRONG = [
    ("last_join", {**LAST, "on": "k"}, "on", "must be a list, but is 'k'; write ['k']"),
    ("last_join", {**LAST, "on": 3}, "on", "must be a list"),
    ("last_join", {**LAST, "on": []}, "on", "is empty"),
    ("last_join", {**LAST, "on": [1]}, "on", "must have the keys left, right"),
    ("last_join", {**LAST, "on": [{"left": "a"}]}, "on", "lacks the key `right`"),
    ("last_join", {**LAST, "on": [{"left": "a", "right": "b", "op": "<"}]}, "on", "has the unknown key `op`"),
    ("last_join", {**LAST, "on": ["`a b`"]}, "on", "must be a plain name without quotes"),
    ("last_join", {**LAST, "on": [" "]}, "on", "must be the name of a column"),
    ("last_join", {**LAST, "order_by": "t"}, "order_by", "must be a list"),
    ("last_join", {**LAST, "order_by": {"column": "t"}}, "order_by", "must be a list"),
    ("last_join", {**LAST, "order_by": [{"column": "t", "direction": "down"}]}, "order_by", "must be one of asc, desc"),
    ("last_join", {**LAST, "order_by": [{"column": "t", "nulls": "lost"}]}, "order_by", "must be one of first, last"),
    ("last_join", {**LAST, "as_of": "t"}, "as_of", "must have the keys left, right"),
    ("last_join", {**LAST, "as_of": {"left": "t", "right": "t", "strict": "yes"}}, "as_of", "must be one of"),
    (
        "last_join",
        {**LAST, "as_of": {"left": "t", "right": "t", "tolerance": "2 hours) --"}},
        "as_of",
        "tolerance must be a number from 0 or an interval such as '2 hours'",
    ),
    (
        "last_join",
        {**LAST, "as_of": {"left": "t", "right": "t", "tolerance": -1}},
        "as_of",
        "tolerance must be a number",
    ),
    (
        "last_join",
        {**LAST, "as_of": {"left": "t", "right": "t", "tolerance": True}},
        "as_of",
        "tolerance must be a number",
    ),
    ("last_join", {**LAST, "columns": "v"}, "columns", "must be a list"),
    ("last_join", {**LAST, "columns": []}, "columns", "leaves no column"),
    ("last_join", {**LAST, "columns": [{"alias": "v"}]}, "columns", "lacks the key `column`"),
    ("last_join", {**LAST, "left": 5}, "left", "must be a relation"),
    ("last_join", {**LAST, "left": "air flights.f"}, "left", "is 'air flights.f', which is neither"),
    ("last_join", {**LAST, "right": "`r`"}, "right", "must be a plain name without quotes"),
    ("last_join", {**LAST, "columns": ["v", "V"]}, "columns", "returns two right columns as `V`: give one of them"),
    ("last_join", {**LAST, "prefix": 5}, "prefix", "must be the name of a column, but is 5"),
    ("last_join", {**LAST, "prefix": "`r`"}, "prefix", "must be a plain name without quotes"),
    ("last_join", {**LAST, "right": []}, "right", "is empty; name at least one relation"),
    ("last_join", {**LAST, "right": ["r"]}, "right", "must have the keys relation, but is 'r'"),
    ("last_join", {**LAST, "right": [{"prefix": "r_"}]}, "right", "lacks the key `relation`"),
    ("last_join", {**LAST, "right": [{"relation": "r", "how": "left"}]}, "right", "has the unknown key `how`"),
    ("last_join", {**LAST, "right": [{"relation": "r", "lookback": 1}]}, "right", "has the unknown key `lookback`"),
    ("last_join", {**LAST, "right": [{"relation": "r"}, {"relation": "s"}]}, "columns", "returns two right columns as"),
    (
        "last_join",
        {
            **LAST,
            "right": [{"relation": "r", "columns": ["t"]}, {"relation": "s", "as_of": {"left": "T", "right": "u"}}],
        },
        "columns",
        "returns a right column as `T`, which is also a left column that a later right side is joined by",
    ),
    ("last_join", {**LAST, "valid_from": "t"}, "valid_from", "needs `as_of`, with the left column of the time"),
    (
        "last_join",
        {**LAST, "as_of": {"left": "t", "right": "t"}, "valid_from": "t"},
        "valid_from",
        "is given together with the right column of `as_of`; remove one of them",
    ),
    ("last_join", {**LAST, "as_of": {"left": "t"}}, "as_of", "lacks the key `right`"),
    ("last_join", {**LAST, "as_of": {"lft": "t", "right": "t"}}, "as_of", "has the unknown key `lft`; it takes left"),
    ("last_join", {**LAST, "as_of": "t", "valid_from": "t"}, "as_of", "must have the keys left, but is 't'"),
    ("last_join", {**LAST, "as_of": {"left": "t"}, "valid_from": ["t"]}, "valid_from", "must be the name of a column"),
    ("last_join", {**LAST, "valid_to": "t"}, "valid_to", "needs `as_of`, with the left column of the time"),
    ("last_join", {**LAST, "as_of": {"left": "t", "right": "t"}, "valid_to": 5}, "valid_to", "must be the name of a"),
    ("last_join", {**LAST, "known_at": "t"}, "known_at", "needs `as_of`, with the times that the right rows are about"),
    ("last_join", {**LAST, "as_of": {"left": "t", "right": "t"}, "known_at": 5}, "known_at", "must have the keys left"),
    (
        "last_join",
        {**LAST, "as_of": {"left": "t", "right": "t"}, "known_at": {"left": "t", "right": "u", "strict": True}},
        "known_at",
        "has the unknown key `strict`; it takes left, right",
    ),
    ("last_join", {**LAST, "lookback": "2 days"}, "lookback", "needs `as_of`: its left column says how new a row is"),
    *(
        (macro, {**given, "lookback": lookback}, "lookback", problem)
        for macro, given in (("last_join", {**LAST, "as_of": {"left": "t", "right": "t"}}), ("skew_window", WINDOW))
        for lookback, problem in (
            (-1, "must be a number from 0 or an interval such as '2 days' ("),
            (True, "must be a number from 0 or an interval"),
            ("2 days) --", "must be a number from 0 or an interval"),
            (["2 days"], "must be a number from 0 or an interval"),
            ({"whole": "day"}, "lacks the key `reach`"),
            ({"reach": "2 days", "whole": "days"}, "must be one of hour, day, week, month, quarter, year, but is"),
        )
    ),
    (
        "skew_window",
        {**WINDOW, "order_by": [{"column": "t", "direction": "desc"}], "lookback": 1},
        "lookback",
        "needs an ascending order",
    ),
    (
        "skew_window",
        {**WINDOW, "frame": {"type": "rows", "preceding": 3, "following": 1}, "lookback": 1},
        "lookback",
        "needs `following: 0`, or under range a distance",
    ),
    (
        "skew_window",
        {**WINDOW, "frame": {"type": "range", "preceding": 3, "following": "unbounded"}, "lookback": 1},
        "lookback",
        "needs `following: 0`, or under range a distance",
    ),
    ("range_join", {**RANGE, "how": "outer"}, "how", "must be one of inner, cross, left, right, full, semi, anti, but"),
    ("range_join", {**RANGE, "how": None}, "how", "must be one of inner, cross"),
    ("range_join", {**RANGE, "bounds": "[["}, "bounds", "must be one of [], [), (], (), but is '[['"),
    ("range_join", {**RANGE, "bounds": True}, "bounds", "must be one of [], [), (], (), but is True"),
    ("range_join", {**RANGE, "left_point": ["v"]}, "left_point", "must be the name of a column"),
    ("range_join", {**RANGE, "left_point": "`v`"}, "left_point", "must be a plain name without quotes"),
    (
        "range_join",
        {**RANGE, "left_interval": ["v", "w"]},
        "left_point",
        "is given together with `left_interval`; remove one",
    ),
    ("range_join", {**RANGE, "right_point": "v"}, "right_point", "is given together with `right_interval`; remove one"),
    (
        "range_join",
        {**RANGE, "right_point": "v", "right_interval": None},
        "right_interval",
        "is missing: with `left_point` the right side needs an interval, [start, end]; points that have to be equal",
    ),
    ("range_join", {**RANGE, "right_interval": "s"}, "right_interval", "must be two columns, [start, end], but is 's'"),
    ("range_join", {**RANGE, "right_interval": ["s"]}, "right_interval", "must be two columns, [start, end], but is ["),
    ("range_join", {**RANGE, "right_interval": 5}, "right_interval", "must be two columns, [start, end], but is 5"),
    ("range_join", {**RANGE, "right_interval": {"s": 1, "e": 2}}, "right_interval", "must be two columns"),
    ("range_join", {**RANGE, "right_interval": ["s", 5]}, "right_interval", "must be the name of a column, but is 5"),
    (
        "range_join",
        {**RANGE, "left_point": None, "left_interval": ["s", "e"], "right_interval": None},
        "right_point",
        "is missing; give it, or `right_interval`: [start, end]",
    ),
    ("range_join", {**RANGE, "on": "k"}, "on", "must be a list"),
    ("range_join", {**RANGE, "how": "semi"}, "columns", "must be left out where `how` is semi"),
    ("range_join", {**RANGE, "how": "anti"}, "columns", "must be left out where `how` is anti"),
    ("bloom_filter_join", {**FILTER, "on": []}, "on", "is empty; name the columns that must be equal"),
    ("bloom_filter_join", {**FILTER, "on": "k"}, "on", "must be a list, but is 'k'; write ['k']"),
    ("bloom_filter_join", {**FILTER, "how": "full"}, "how", "must be one of inner, semi, left, right, anti, but is"),
    ("bloom_filter_join", {**FILTER, "keys_of": "r"}, "keys_of", "must be one of left, right, but is 'r'"),
    ("bloom_filter_join", {**FILTER, "how": "left", "keys_of": "right"}, "keys_of", "must be left where `how` is left"),
    ("bloom_filter_join", {**FILTER, "how": "right", "keys_of": "left"}, "keys_of", "must be right where `how` is"),
    ("bloom_filter_join", {**FILTER, "how": "semi"}, "columns", "must be left out where `how` is semi"),
    ("bloom_filter_join", {**FILTER, "where": ["v = 1"]}, "where", "must be a predicate as SQL text, but is"),
    ("range_join", {**RANGE, "where": 1}, "where", "must be a predicate as SQL text, but is"),
    ("last_join", {**LAST, "where": ""}, "where", "must be a predicate as SQL text, but is ''"),
    ("bloom_filter_join", {**FILTER, "where": " "}, "where", "must be a predicate as SQL text, but is ' '"),
    ("bloom_filter_join", {**FILTER, "right": "a b.c"}, "right", "is 'a b.c', which is neither"),
    ("range_join", {**RANGE, "value": "v"}, "value", "is unknown; it takes left, right, left_point, left_interval"),
    ("skew_window", {**WINDOW, "partition_by": "k"}, "partition_by", "must be a list"),
    ("skew_window", {**WINDOW, "order_by": []}, "order_by", "is empty"),
    ("skew_window", {**WINDOW, "frame": "rows"}, "frame", "must have the keys type, preceding"),
    ("skew_window", {**WINDOW, "frame": {"type": "groups", "preceding": 1}}, "frame", "must be one of rows, range"),
    ("skew_window", {**WINDOW, "frame": {"type": "rows", "preceding": -1}}, "frame", "preceding must be an integer"),
    (
        "skew_window",
        {**WINDOW, "frame": {"type": "rows", "preceding": "2 hours"}},
        "frame",
        "preceding must be an integer",
    ),
    (
        "skew_window",
        {**WINDOW, "frame": {"type": "range", "preceding": "2 hours) --"}},
        "frame",
        "preceding must be an integer",
    ),
    (
        "skew_window",
        {**WINDOW, "frame": {"type": "range", "preceding": "1 day", "following": "2 hours"}},
        "frame",
        "must have one unit in both bounds",
    ),
    (
        "skew_window",
        {**WINDOW, "frame": {"type": "range", "preceding": 2}, "order_by": ["a", "b"]},
        "order_by",
        "must be one column",
    ),
    ("skew_window", {**WINDOW, "expressions": {"n": "count(*)"}}, "expressions", "must be a list"),
    ("skew_window", {**WINDOW, "expressions": [{"name": "n", "expression": ""}]}, "expressions", "needs SQL"),
    ("skew_window", {**WINDOW, "parts": 1}, "parts", "must be an integer from 2 to 1024"),
    ("skew_window", {**WINDOW, "parts": "8"}, "parts", "must be an integer from 2 to 1024"),
    ("skew_window", {**WINDOW, "parts": 1025}, "parts", "must be an integer from 2 to 1024"),
    ("skew_window", {**WINDOW, "distribution": 5}, "distribution", "must be a relation"),
    ("skew_window", {**WINDOW, "distribution": "a b.c"}, "distribution", "is 'a b.c', which is neither"),
    ("skew_window", {**WINDOW, "relation": 5}, "relation", "must be a relation"),
    ("skew_window", {**WINDOW, "relation": "a b.c"}, "relation", "is 'a b.c', which is neither"),
    ("skew_window", {**WINDOW, "partition_by": [1]}, "partition_by", "must be the name of a column, but is 1"),
    ("skew_window", {**WINDOW, "order_by": "t"}, "order_by", "must be a list, but is 't'"),
    (
        "skew_window",
        {**WINDOW, "order_by": [{"column": "t", "nulls": "any"}]},
        "order_by",
        "must be one of first, last",
    ),
    ("skew_window", {**WINDOW, "expressions": [{"expression": "count(*)"}]}, "expressions", "lacks the key `name`"),
    (
        "skew_window",
        {**WINDOW, "expressions": [{"name": "`n`", "expression": "count(*)"}]},
        "expressions",
        "must be a plain name without quotes",
    ),
    ("range_join", {**RANGE, "left": 5}, "left", "must be a relation"),
    ("range_join", {**RANGE, "right": "a b.c"}, "right", "is 'a b.c', which is neither"),
    ("range_join", {**RANGE, "left_point": None, "left_interval": ["v"]}, "left_interval", "must be two columns"),
    ("range_join", {**RANGE, "left_point": None, "left_interval": "v"}, "left_interval", "must be two columns"),
    (
        "range_join",
        {**RANGE, "left_point": None, "left_interval": ["s", "e"], "right_interval": None, "right_point": 5},
        "right_point",
        "must be the name of a column, but is 5",
    ),
    ("range_join", {**RANGE, "on": [1]}, "on", "must have the keys left, right"),
    ("range_join", {**RANGE, "columns": "x"}, "columns", "must be a list, but is 'x'"),
    ("range_join", {**RANGE, "columns": [{"alias": "x"}]}, "columns", "lacks the key `column`"),
    ("bloom_filter_join", {**FILTER, "left": 5}, "left", "must be a relation"),
    ("bloom_filter_join", {**FILTER, "on": [1]}, "on", "must have the keys left, right"),
    ("bloom_filter_join", {**FILTER, "columns": "v"}, "columns", "must be a list, but is 'v'"),
    ("bloom_filter_join", {**FILTER, "columns": [{"alias": "v"}]}, "columns", "lacks the key `column`"),
    ("bloom_filter_join", {**FILTER, "how": None}, "how", "must be one of inner, semi, left, right, anti"),
]


ONE_OF_SEVERAL = [
    ({"on": "k"}, "on", "must be a list, but is 'k'"),
    ({"on": None}, "on", "is missing"),
    ({"on": []}, "on", "is empty; without `as_of` it needs at least one column"),
    ({"order_by": "t"}, "order_by", "must be a list"),
    ({"columns": []}, "columns", "leaves no column of the right side"),
    ({"as_of": {"left": "t", "right": "t", "tolerance": "soon"}}, "as_of", "tolerance must be a number from 0"),
    ({"relation": "a b.c"}, "right", "is 'a b.c', which is neither"),
]


@pytest.mark.parametrize(("wrong", "argument", "problem"), ONE_OF_SEVERAL)
def test_error_names_the_right_side(dbt: Dbt, wrong: dict[str, Any], argument: str, problem: str) -> None:
    rights = [{"relation": "r"}, {"relation": "s", "prefix": "s_", **wrong}]
    with pytest.raises(MacroError, match=re.escape(f"joinery.last_join, right[1]: argument `{argument}` {problem}")):
        dbt.render("last_join", **{**LAST, "right": rights})


@pytest.mark.parametrize(("macro", "arguments", "argument", "problem"), MISSING + UNKNOWN + WRONG)
def test_error_names_macro_and_argument(
    dbt: Dbt, macro: str, arguments: dict[str, Any], argument: str, problem: str
) -> None:
    with pytest.raises(MacroError, match=re.escape(f"joinery.{macro}: argument `{argument}` {problem}")):
        dbt.render(macro, **arguments)


def test_every_argument_of_every_macro_is_given_wrongly_here(dbt: Dbt) -> None:
    documented = {
        (macro.name, argument.name)
        for macro in dbt.manifest.macros.values()
        if macro.package_name == "joinery" and macro.name in {case[0] for case in WRONG}
        for argument in macro.arguments
    }
    assert {macro for macro, _ in documented} == {"last_join", "range_join", "bloom_filter_join", "skew_window"}
    assert documented - {(macro, argument) for macro, _, argument, _ in WRONG} == set()


def test_a_relation_with_an_odd_name_is_quoted(dbt: Dbt) -> None:
    sql = dbt.render("last_join", **{**LAST, "left": {"schema": "my schema", "identifier": "odd ` name"}})
    assert "from `my schema`.`odd `` name` as l" in sql


def test_a_catalog_in_the_schema_stays_two_names(dbt: Dbt) -> None:
    sql = dbt.render("range_join", **{**RANGE, "left": {"schema": "lake.raw", "identifier": "flights"}})
    assert "from lake.raw.`flights` as l" in sql


def test_documented_arguments_are_those_of_the_macros(tmp_path: Path) -> None:
    write_project(tmp_path)
    project = Dbt(tmp_path)
    with (tmp_path / "dbt_project.yml").open("a") as file:
        file.write("flags: {validate_macro_args: true}\n")
    assert project.invoke("deps").success, project.log
    assert project.invoke("parse", "--warn-error").success, project.log


def test_public_macros_are_documented_and_helpers_hidden(dbt: Dbt) -> None:
    macros = [macro for macro in dbt.manifest.macros.values() if macro.package_name == "joinery"]
    public = {macro.name for macro in macros if macro.docs.show}
    assert public == PUBLIC
    for macro in macros:
        if macro.name in public:
            assert macro.description.strip(), macro.name
            assert all(one.type and one.description.strip() for one in macro.arguments), macro.name


def test_no_comment_of_ours_in_the_sql(dbt: Dbt) -> None:
    calls = {"last_join": LAST, "skew_window": WINDOW, "range_join": RANGE, "bloom_filter_join": FILTER}
    texts = [dbt.render(macro, **given) for macro, given in calls.items()]
    assert not [text for text in texts if "--" in text or "{#" in text or "Undefined" in text]
    assert table("x")["schema"] not in "".join(texts)

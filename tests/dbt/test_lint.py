"""lint_last_join warns of each LAST JOIN that stock Spark would take for an inner join, and of no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.dbt_project import Dbt, write_project

pytestmark = pytest.mark.dbt
UNALIASED = {
    "plain": "select * from flights LAST JOIN weather using (origin)",
    "by_ref": "select * from {{ ref('flights') }}\n  last\n  join {{ ref('weather') }} using (origin)",
    "by_two_expressions": "select {{ 1 }} from {{ ref('flights') }} last join {{ ref('weather') }} on 1 = {{ 1 }}",
    "quoted": "select * from `my air`.`fli``ghts` last join weather order by at on a = b",
    "later": "select * from a as l join b last join c on l.x = c.x",
    "behind_a_comma": "select * from a as l, b last join c on l.x = c.x",
    "function": "select * from range(abs(-9)) last join weather on id = origin",
    "subquery": "select * from (select max(a) as n from flights where (abs(a)) in (1, 2)) last join weather on n = b",
    "sample": "select * from flights tablesample (100 percent) last join weather using (origin)",
    "version": "select * from flights version as of 3 last join weather using (origin)",
    "behind_a_string": "select '--' as a, '/*' as b from flights last join weather using (origin)",
    "deep_parentheses": "select * from (a as l join b on f(f(f(f(l.x)))) > 0) last join weather using (origin)",
    "within_parentheses": "select (select max((a)) from flights last join weather using (origin)) as n",
    "close": "select * from `flights`last join weather using (origin)",
    "close_to_an_expression": "select * from {{ ref('flights') }}last join {{ ref('weather') }} using (origin)",
    "two_expressions": "select * from {{ ref('flights') }}{{ '' }} last join {{ ref('weather') }} using (origin)",
    "behind_a_comment": "select * from flights /* all */ -- of them\n last join weather using (origin)",
}
FINE = {
    "flights": "select 1 as origin",
    "weather": "select 1 as origin",
    "aliased": "select * from {{ ref('flights') }} l last join {{ ref('weather') }} r on l.origin = r.origin",
    "aliased_by_as": "select * from flights as l last join weather as r using (origin) last join c on (l.x = c.x)",
    "by_variable": (
        "select * from {{ ref('flights') }} as l last join {{ ref('weather') }} as w on l.origin <= {{ var('e', 1) }} "
        "last join {{ ref('weather') }} as p on l.origin = p.origin"
    ),
    "aliased_subquery": "select * from (select 1 as x, (2) as y) as l last join c on l.x in (c.x, c.y)",
    "aliased_function": "select * from a as l, range(3) as b last join c on l.x = c.x",
    "behind_a_list": "select * from a as l join b on l.x in (b.x, b.y) last join c on (l.x, l.y) = (c.x, c.y)",
    "distinct": "select * from a as l join b as m on l.x is not distinct from m.x last join c as r using (x)",
    "in_a_string": "select 'from t last join u' as a, \"from t last join u\" as b, 'it''s from t last join u' as c",
    "commented": "select 1 -- from flights last join weather\n /* from a last join b */ {# from a last join b #}",
    "other_words": "select last, lasting from joined last_joined join last on true",
    "by_macro": "{{ joinery.last_join(ref('flights'), ref('weather'), ['origin'], columns=['origin'], prefix='w_') }}",
}


@pytest.fixture(scope="module")
def warnings(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The log of the macro for a project with all of these models."""
    folder = tmp_path_factory.mktemp("lint")
    write_project(folder, **UNALIASED, **FINE)
    project = Dbt(folder)
    assert project.invoke("deps").success, project.log
    assert project.invoke("run-operation", "joinery.lint_last_join").success, project.log
    assert not project.invoke("--warn-error", "run-operation", "joinery.lint_last_join").success
    project.invoke("run-operation", "joinery.lint_last_join")
    return "\n".join(project.log)


@pytest.mark.parametrize("model", UNALIASED)
def test_a_left_side_without_alias_is_named(warnings: str, model: str) -> None:
    assert f"joinery: {Path('models', model)}.sql has a LAST JOIN without an alias of its left side" in warnings


@pytest.mark.parametrize("model", FINE)
def test_others_are_not(warnings: str, model: str) -> None:
    assert f"{Path('models', model)}.sql" not in warnings

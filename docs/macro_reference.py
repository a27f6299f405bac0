"""Write docs/reference/dbt-macros.md from the YAML of the dbt package: `python docs/macro_reference.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
MACROS = ROOT / "dbt_macros" / "macros"
PAGE = ROOT / "docs" / "reference" / "dbt-macros.md"

# folder below macros/ -> heading
SECTIONS = {
    "last_join": "last_join",
    "range_join": "range_join",
    "bloom_filter_join": "bloom_filter_join",
    "skew_window": "skew_window",
    "generic_tests": "Generic tests",
    "mode": "Mode",
    "lint": "Lint",
}
HEAD = """# dbt macros

All arguments of the dbt package's macros and generic tests. [Its README](../../dbt_macros/README.md) has examples.

- A macro renders one complete SELECT: a whole model, or a CTE (`joined as ({{ joinery.last_join(...) }})`).
- A relation is `ref(...)`, `source(...)`, `ref(...).render()`, or the name of a CTE of the same model.
- Columns are plain names, without quotes. Only `where` and `expression` are SQL.
- To replace a macro, write for example `spark__last_join(left, right)` in your project, and take other arguments from
  `kwargs`.
"""
# folder below macros/ -> what stands below its arguments
NOTES = {
    "last_join": """\
**NULLs.** Under `direction: desc`, Spark puts NULLs last, so a row with a NULL wins. Write `nulls: first` if it should
not.

**Ties.** If `order_by` leaves rows tied, the two modes may pick different ones. Add a column that breaks ties.

### Several right sides

```jinja
{{ joinery.last_join(
    left=ref('flights'),
    on=['origin'],
    right=[
        {'relation': ref('weather'), 'columns': ['temperature'],
         'as_of': {'left': 'departs_at', 'right': 'observed_at'}},
        {'relation': ref('storms'), 'columns': ['storm_id'],
         'as_of': {'left': 'departs_at'}, 'valid_from': 'starts_at', 'valid_to': 'ends_at'}
    ]
) }}
```

All columns need names of their own.

### Snapshots

- Write `valid_from='dbt_valid_from', valid_to='dbt_valid_to'`.
- Under `hard_deletes: new_record`, add `where="dbt_is_deleted = 'False'"`: deleted rows match until `dbt_valid_to`.
- If intervals of a key overlap, the one that began last counts.
""",
    "skew_window": """\
A stale distribution never changes the result, but if the files of a registered view are gone, the query fails.
Portable SQL does not cut keys under `'unbounded'`, nor along a string without a distribution.
""",
}
# The end of the page: matters of several macros.
TAIL = """\
## Incremental models

```jinja
{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by=['day']) }}
with joined as (
    {{ joinery.last_join(
        left=ref('flights'), right=ref('weather'), on=['origin'], columns=['temperature'],
        as_of={'left': 'departs_at', 'right': 'observed_at'},
        lookback={'reach': '2 days', 'whole': 'day'}
    ) }}
)
select *, date(departs_at) as day from joined
```

An incremental run with `lookback` begins at the newest time in the model, less `reach`. Its result is that of a full
refresh if no row of either side comes later than `reach`.

- **Time** is the left column of the first `as_of`, or the first order column of `skew_window`, ascending. The model
  must return it under that name.
- **Strategy:** for `insert_overwrite`, `whole` is the unit of a partition: hour, day, week, month, quarter or year. For
  `merge`, `lookback='2 days'` is enough. `append` is refused.
- **Frames** of `rows` that look ahead are refused.
- **NULL times** are computed in every run. Order them `nulls: last` in `skew_window`: otherwise new ones change frames
  of old rows.

### microbatch and --sample

dbt filters each relation that has an `event_time`. The macros drop the filter if they need rows of other times, and the
log says so. In a join, a CTE of the relation keeps the filter.

- **Joins** keep the filter of the left side, or of the right side under `how='right'` and if the left side of an inner
  join has none. Under `how='full'`, give both sides as `ref(...).render()`.
- **`skew_window`** reads all rows unless the first order column is the `event_time`, ascending. Give it no CTE, which
  dbt has filtered already.
- **`lookback`** does nothing under microbatch. Use dbt's config of that name.

## What works with dbt

- **Views** of SQL for the jar need the jar in each session.
- **Incremental models:** `insert_overwrite`, and `merge` on Delta Lake and Iceberg. dbt-spark finds Iceberg
  tables only in `spark.sql.defaultCatalog`. For `append`, give a CTE of the new rows as `left`.
- **Snapshots:** on Delta Lake. On Iceberg a second snapshot fails with dbt-spark 1.11 and Spark 4.1.
- **Unit tests:** list `columns`. An incremental test with `lookback` needs `input: this`.
- **Databricks:** portable SQL, with dbt-databricks 1.12. Not tested on a warehouse.
"""


def reference() -> str:
    """Render the page.

    Returns:
        Markdown.
    """
    return "\n".join([HEAD, *(line for folder in SECTIONS for line in section(folder)), TAIL])


def section(folder: str) -> Iterator[str]:
    """Render the macros that one folder declares.

    Args:
        folder: Below `macros/`.

    Yields:
        Lines of Markdown.
    """
    yield f"## {SECTIONS[folder]}\n"
    for path in sorted((MACROS / folder).glob("*.yml")):
        for macro in yaml.safe_load(path.read_text())["macros"]:
            name = macro["name"].removeprefix("test_")
            if name != SECTIONS[folder]:
                yield f"### {name}\n"
            yield f"{one_line(macro['description'])}\n"
            yield from arguments(macro["arguments"])
    if folder in NOTES:
        yield NOTES[folder]


def arguments(declared: list[dict[str, Any]]) -> Iterator[str]:
    """Render a list of arguments. The model of a generic test is left out, as dbt gives it.

    Args:
        declared: Arguments from the YAML.

    Yields:
        Lines of Markdown, none if there is no argument.
    """
    shown = [argument for argument in declared if argument["name"] != "model"]
    for argument in shown:
        yield f"- `{argument['name']}`: {one_line(argument['description'])}"
    if shown:
        yield ""


def one_line(text: str) -> str:
    """Undo the line breaks of YAML."""
    return " ".join(text.split())


if __name__ == "__main__":
    PAGE.write_text(reference())

"""The summary of runs on different days, with a piece for each run, and their totals."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzz.forms import FORMS

# The report of one run, see `Report.as_json`. The author of a fix adds the key `mended` to a difference, with a text
# about the fix and the test that failed before.
Piece = dict[str, Any]

# Goals for all pieces together, without a difference.
QUERIES = 100_000
HOURS = 6
EACH = 1_000


def pieces_of(path: Path) -> list[Piece]:
    """The pieces that a summary has so far.

    Args:
        path: The path of the summary, without suffix.
    """
    file = path.with_suffix(".json")
    pieces: list[Piece] = json.loads(file.read_text())["pieces"] if file.exists() else []
    return pieces


def put(path: Path, piece: Piece) -> None:
    """Add a piece to a summary, or replace the piece of the same seed.

    Args:
        path: The path of the summary, without suffix. `.json` has the pieces, `.md` their totals.
        piece: A run, which may still go on.
    """
    pieces = [other for other in pieces_of(path) if other["seed"] != piece["seed"]] + [piece]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".json").write_text(json.dumps({"pieces": pieces}, indent=1) + "\n")
    path.with_suffix(".md").write_text(markdown(pieces))


def markdown(pieces: list[Piece]) -> str:
    """A page with the totals of pieces."""
    queries, forms = total(pieces, "queries"), by_form(pieces)
    hours = sum(piece["seconds"] for piece in pieces) / 3600
    differences = [(piece, difference) for piece in pieces for difference in piece["differences"]]
    mended = sum("mended" in difference for _, difference in differences)
    still = len(differences) - mended
    reached = sum(forms[form].total() >= EACH for form in FORMS)
    met = queries.total() >= QUERIES and hours >= HOURS and reached == len(FORMS) and not still
    lines = [
        f"# Fuzzing against stock Spark: {still} differences in {queries.total():,} queries, and {mended} mended",
        "",
        f"**{'Met' if met else 'Not met'}**: {queries.total():,} queries, at least {QUERIES:,}; {hours:.1f} hours, "
        f"at least {HOURS}; {reached} of {len(FORMS)} operators and forms in at least {EACH:,} queries; "
        f"{still} differences, none allowed, beside {mended} that are mended.",
        "",
        f"Of these queries, {summed(pieces, 'raised_as_stock_did'):,} raised an error as stock Spark did. Asking stock "
        f"anew settled {summed(pieces, 'settled_by_asking_stock_anew'):,} where only one of the two failed at first. "
        f"{total(pieces, 'not_compared').total():,} further queries had no right answer to compare with, and "
        f"{total(pieces, 'not_prepared').total():,} had no tables or artifacts.",
        "",
        *table(["operator and form", "queries", "by case"], form_rows(forms)),
        *table(["case", "queries"], ([name, f"{count:,}"] for name, count in sorted(queries.items()))),
        *table(
            ["seed", "date", "commit", "machine", "seconds", "rounds", "queries", "settled", "differences"],
            map(piece_row, pieces),
        ),
    ]
    for number, (piece, difference) in enumerate(differences, 1):
        lines += [
            f"## Difference {number}: seed {piece['seed']}, commit {piece['commit']}",
            "",
            *([f"Mended: {difference['mended']}", ""] if "mended" in difference else []),
            difference["text"][:2000],
        ]
        lines += ["", "```sql", difference["sql"], "```", ""]
    return "\n".join([*lines, "`make fuzz REPORT=path`, once for each piece.", ""])


def by_form(pieces: list[Piece]) -> dict[str, Counter[str]]:
    """For each operator and form, the number of queries of each case in which it took part."""
    found: dict[str, Counter[str]] = {form: Counter() for form in FORMS}
    for name, count in total(pieces, "forms").items():
        case, _, form = name.partition(": ")
        found.setdefault(form, Counter())[case] += count
    return found


def form_rows(forms: dict[str, Counter[str]]) -> Iterator[list[str]]:
    """A row for each operator and form, and one for queries without any at the end."""
    for form in sorted(forms, key=lambda form: (form not in FORMS, form)):
        cases = ", ".join(f"{case} {count:,}" for case, count in forms[form].most_common())
        yield [form, f"{forms[form].total():,}", cases]


def piece_row(piece: Piece) -> list[str]:
    """A row for a piece."""
    counts = [piece["seconds"], piece["rounds"], sum(piece["queries"].values())]
    counts += [piece["settled_by_asking_stock_anew"], len(piece["differences"])]
    named = [str(piece["seed"]), piece["date"], piece["commit"], piece["machine"]]
    return [*named, *(f"{count:,}" for count in counts)]


def total(pieces: list[Piece], key: str) -> Counter[str]:
    """The sums of the pieces' counts by name."""
    added: Counter[str] = Counter()
    for piece in pieces:
        added.update(piece[key])
    return added


def summed(pieces: list[Piece], key: str) -> int:
    """The sum of a number of each piece."""
    return sum(piece[key] for piece in pieces)


def table(columns: list[str], rows: Iterator[list[str]]) -> list[str]:
    """Lines of a Markdown table, and an empty line."""
    return ["| " + " | ".join(cells) + " |" for cells in [columns, ["---"] * len(columns), *rows]] + [""]

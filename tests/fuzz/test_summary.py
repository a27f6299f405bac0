"""Pieces of a long run add up in one summary."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fuzz import runner, summary
from fuzz.forms import FORMS
from fuzz.report import Report

RUN = {"event": "run", "capability": "window", "compared": True, "raised": False, "settled": False, "forms": []}


def report(seed: int, *events: dict[str, object]) -> Report:
    made = Report(seed, ["window"])
    for event in events:
        made.note({**RUN, **event}, {})
    made.finish()
    return made


def whole(seed: int) -> summary.Piece:
    """A piece that reaches all goals alone."""
    forms = {f"window: {form}": summary.EACH for form in FORMS}
    made = {**report(seed).as_json(), "queries": {"window": summary.QUERIES}, "forms": forms}
    return {**made, "seconds": summary.HOURS * 3600}


def test_pieces_add_up(tmp_path: Path) -> None:
    path = tmp_path / "results" / "fuzz"
    sliding = {"forms": ["SlidingWindow (indexed)"]}
    summary.put(path, report(1, sliding, {"raised": True, "settled": True}).as_json())
    summary.put(path, report(2, sliding, {"capability": "window_late", **sliding}, {"compared": False}).as_json())
    page = path.with_suffix(".md").read_text()
    assert "# Fuzzing against stock Spark: 0 differences in 4 queries, and 0 mended" in page
    assert "| SlidingWindow (indexed) | 3 | window 2, window_late 1 |" in page
    assert "| window_late | 1 |" in page
    assert "1 raised an error as stock Spark did. Asking stock anew settled 1 " in page
    assert "1 further queries had no right answer" in page
    assert "**Not met**: 4 queries, at least 100,000; 0.0 hours, at least 6; 0 of 21 operators and forms" in page
    assert [piece["seed"] for piece in summary.pieces_of(path)] == [1, 2]


def test_a_piece_that_goes_on_is_counted_once(tmp_path: Path) -> None:
    running = report(1, {})
    summary.put(tmp_path / "fuzz", running.as_json())
    running.note(RUN, {})
    summary.put(tmp_path / "fuzz", running.as_json())
    (piece,) = summary.pieces_of(tmp_path / "fuzz")
    assert piece["queries"] == {"window": 2}


@pytest.mark.parametrize("lacks", ["queries", "seconds", "forms", "differences", None])
def test_the_verdict_asks_for_everything(lacks: str | None) -> None:
    piece = whole(1)
    others = {
        "queries": {"window": summary.QUERIES - 1},
        "seconds": summary.HOURS * 3600 - 1,
        "forms": {**piece["forms"], "window: CarryOver": summary.EACH - 1},
        "differences": [{"text": "other rows", "sql": "SELECT 1"}],
    }
    if lacks:
        piece[lacks] = others[lacks]
    page = summary.markdown([piece])
    assert ("**Met**" in page) is (lacks is None)
    assert ("other rows" in page) is (lacks == "differences")


def test_a_mended_difference_is_told_and_allowed() -> None:
    piece = whole(1)
    piece["differences"] = [{"text": "other rows", "sql": "SELECT 1", "mended": "`rows.json` failed before."}]
    page = summary.markdown([piece])
    assert "**Met**" in page
    assert "0 differences, none allowed, beside 1 that are mended" in page
    assert "Mended: `rows.json` failed before." in page


def test_a_seed_is_not_counted_twice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "fuzz"
    summary.put(path, report(7, {}).as_json())
    monkeypatch.setattr(sys, "argv", ["fuzz", "--seed", "7", "--seconds", "0", "--report", str(path)])
    with pytest.raises(SystemExit, match="has a run of seed 7 already"):
        runner.main()

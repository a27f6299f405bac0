"""The generator of test cases covers all pairs in few cases, and repeats them from the same seed."""

from __future__ import annotations

import itertools

from support.pairwise import Case, pairwise

DIMENSIONS = {"a": "12345", "b": "1234", "c": "12", "d": "123", "e": "12", "f": "12"}


def pairs(cases: list[Case]) -> set[tuple[tuple[str, str], ...]]:
    return {pair for case in cases for pair in itertools.combinations(sorted(case.items()), 2)}


def test_every_pair_in_few_cases() -> None:
    everything = [dict(zip(DIMENSIONS, values, strict=True)) for values in itertools.product(*DIMENSIONS.values())]
    for seed in range(5):
        cases = pairwise(DIMENSIONS, seed)
        assert pairs(cases) == pairs(everything)
        assert 20 <= len(cases) <= 30 < len(everything)  # at least 20: 5 times 4
        assert all(list(case) == list(DIMENSIONS) for case in cases)


def test_the_same_again_from_the_same_seed() -> None:
    assert pairwise(DIMENSIONS, 7) == pairwise(DIMENSIONS, 7) != pairwise(DIMENSIONS, 8)


def test_pairs_that_are_not_allowed_stay_apart() -> None:
    cases = pairwise(DIMENSIONS, 1, lambda case: not (case.get("a") == "5" and case.get("b") in ("3", "4")))
    missing = pairs(pairwise(DIMENSIONS, 1)) - pairs(cases)
    assert missing == {(("a", "5"), ("b", "3")), (("a", "5"), ("b", "4"))}

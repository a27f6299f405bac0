"""Chooses few combinations of many dimensions so that every two values of different dimensions still meet."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence

Case = dict[str, str]


def pairwise(
    dimensions: Mapping[str, Sequence[str]], seed: int, allowed: Callable[[Case], bool] = lambda case: True
) -> list[Case]:
    """Choose cases that hold every pair of values.

    The choice is greedy: each case starts from a new pair, and adds the values that give most new pairs. Most faults
    need no more than two values to meet. The number of cases grows with the two longest dimensions, not with all.

    Args:
        dimensions: The values of each dimension, by its name.
        seed: The same seed gives the same cases.
        allowed: Whether two values, as ``{dimension: value, other: value}``, may meet. Every allowed pair must fit
            into some case.

    Returns:
        The cases, each with a value for every dimension.

    Example:
        >>> len(pairwise({"a": "12", "b": "12", "c": "12"}, seed=1))
        4
    """
    generator = random.Random(seed)

    def may_join(case: Case, name: str, value: str) -> bool:
        return all(allowed({other: case[other], name: value}) for other in case)

    open_pairs = {
        ((a, x), (b, y))
        for a, b in itertools.combinations(sorted(dimensions), 2)
        for x, y in itertools.product(dimensions[a], dimensions[b])
        if allowed({a: x, b: y})
    }
    cases = []
    while open_pairs:
        case = dict(generator.choice(sorted(open_pairs)))
        for name in generator.sample(sorted(set(dimensions) - set(case)), len(dimensions) - 2):
            values = [value for value in dimensions[name] if may_join(case, name, value)]
            gains = [sum(pair in open_pairs for pair in pairs_with(case, name, value)) for value in values]
            best = [value for value, gain in zip(values, gains, strict=True) if gain == max(gains)]
            case[name] = generator.choice(best)
        open_pairs.difference_update(itertools.combinations(sorted(case.items()), 2))
        cases.append({name: case[name] for name in dimensions})
    return cases


def pairs_with(case: Case, name: str, value: str) -> list[tuple[tuple[str, str], ...]]:
    """The pairs of one more value with the values of a case."""
    return [tuple(sorted([item, (name, value)])) for item in case.items()]

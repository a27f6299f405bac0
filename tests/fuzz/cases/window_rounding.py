"""The allowed distance of floating-point results from stock Spark's. Contract 1 says n * eps * sum|x|."""

from __future__ import annotations

import math
import sys
from typing import Any

EPSILON = sys.float_info.epsilon
# Factor for rounding errors that add up on both sides, and in squares.
SLACK = 16
# If a frame's variance is this small next to its values, quotients by it are rounding errors in stock Spark, too.
CONDITION = 1e-6


class Rounding:
    """The allowed difference between two results of one window function.

    Args:
        function: A function as returned by `draw_function`.
        number: The function's place among the functions of the query.
    """

    def __init__(self, function: dict[str, Any], number: int) -> None:
        self.kind = function.get("rounding")
        self.call = function["call"]
        if self.kind in (None, "zero", "overflow"):
            self.needs, self.names = [], []
            return
        value = f"CAST({function['of']} AS DOUBLE)"
        filtered = function.get("filter", "")
        over = f"OVER ({{keys}}ORDER BY {{terms}} {function.get('frame', '')})"
        calls = [f"sum(abs({value}))", f"count({value})", f"max(abs({value}))", f"var_pop({value})"]
        if self.kind == "ratio":
            calls.append("var_pop(y_double)")
        if self.kind in ("sum", "average"):
            calls.append(f"sum(CASE WHEN abs({value}) < double('Infinity') THEN abs({value}) END)")
        self.names = [f"bound_{number}_{i}" for i in range(len(calls))]
        self.needs = [f"{call}{filtered} {over} AS {as_}" for call, as_ in zip(calls, self.names, strict=True)]

    def agree(self, value: Any, wanted: Any, bounds: list[Any]) -> bool:
        """Whether two results agree within the allowed difference.

        Args:
            value: Joinery's result.
            wanted: Stock Spark's result.
            bounds: Values of the columns that `needs` computes.
        """
        if self.kind == "overflow" and (value is None or wanted is None):
            return True
        if self.kind in (None, "overflow") or value is None or wanted is None:
            return repr(value) == repr(wanted)
        if self.kind == "zero":
            return value == wanted or repr(value) == repr(wanted)
        total, count, greatest, variance, *others = (bound if bound is not None else 0.0 for bound in bounds)
        if self.kind == "ratio" and not self._is_sound(greatest, variance, others):
            return True
        if self.kind in ("sum", "average"):
            finite = others[0] if others else total if math.isfinite(greatest) else 0.0
            if not math.isfinite(finite):
                return True  # the order of tied rows decides whether additions overflow on the way
        if not (math.isfinite(value) and math.isfinite(wanted)):
            return repr(value) == repr(wanted)
        if self.kind in ("sum", "average"):
            bound = SLACK * count * EPSILON * total / (count if self.kind == "average" else 1)
            return abs(value - wanted) <= bound + SLACK * EPSILON * abs(wanted) or not math.isfinite(bound)
        if self.kind == "ratio":
            return abs(value - wanted) <= 1e-6 * (1 + abs(wanted)) + SLACK * count * EPSILON * greatest * greatest
        if self.call.startswith("std"):
            value, wanted = value * value, wanted * wanted
        return abs(value - wanted) <= SLACK * count * EPSILON * greatest * greatest + 1e-9 * abs(wanted)

    def _is_sound(self, greatest: float, variance: float, others: list[float]) -> bool:
        if not math.isfinite(greatest) or greatest > 1e30:
            return False
        return all(math.isfinite(v) and v > CONDITION * (1 + greatest * greatest) for v in [variance, *others])

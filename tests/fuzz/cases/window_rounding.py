"""How far floating-point results may be from stock's: contract 1 says n * eps * sum|x|."""

from __future__ import annotations

import math
import sys
from typing import Any

EPSILON = sys.float_info.epsilon
# What adds up on either side, and in squares, before it is compared.
SLACK = 16
# Of a frame whose variance is so small beside its values, quotients by the variance are rounding errors in stock, too.
CONDITION = 1e-6


class Rounding:
    """What one window function may differ by.

    Args:
        function: As `draw_function` gives it.
        number: Its place among the functions of the query.
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
        """Whether two results are the same as far as they must be.

        Args:
            value: Joinery's.
            wanted: Stock's.
            bounds: Of the columns that `needs` made.
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
                return True  # whether additions overflow on the way is up to the order of rows that tie
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

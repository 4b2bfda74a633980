"""Which rule a function needs at which variance: the smallest whose error estimate passes.

Variances stand on a ladder of half powers of two. On each step the rules are tried from small to large; what
is asked for in between takes the rule of the step above. The estimates are those of means of f(u)^2, whose
size is the scale of all errors; the estimates and the choice are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.meanfield.fast_hermite import LINE_SIZES, SIZES, Line, line, table
from gateproof.numerics.meanfield.fast_window import beyond

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

#: A rule passes where its estimated error, over the mean of the square, is below; what it gives up is UNMET.
PASS = 2e-15
_EPS = float(np.finfo(np.float64).eps)
_LAST = 16


def step_of(q: Array) -> NDArray[np.int64]:
    """The step of the ladder at or above each variance."""
    return np.ceil(2 * np.log2(q) - 1e-9).astype(np.int64)


def both(f: Function, x: Array) -> tuple[Array, Array]:
    """f at x and -x."""
    with np.errstate(all="ignore"):
        return np.asarray(f(x), np.float64), np.asarray(f(-x), np.float64)


def line_mean(rule: Line, f: Function, q: float) -> tuple[float, float]:
    """E f(u)^2, and how far the two interlaced rules are apart, or their average and the moved one."""
    left, right = both(f, np.sqrt(q) * rule.nodes)
    with np.errstate(all="ignore"):
        terms = rule.weights * (left**2 + right**2)
    count = len(terms) // 2
    one, other = float(terms[:count].sum()), float(terms[count:].sum())
    mean = (one + other) / 2
    with np.errstate(all="ignore"):
        moved = float(np.asarray(f(np.sqrt(q) * rule.moved), np.float64) ** 2 @ rule.moved_weights)
    # A wave that both rules take for a constant is off in the moved one by more than a tenth of its error.
    return mean, max(abs(one - other), abs(mean - moved))


def hermite_error(f: Function, q: float, size: int, mean: float) -> float:
    """The relative error of sums of squares of the coefficients: what is missing, what the last ones add."""
    rule = table(size)
    left, right = both(f, np.sqrt(q) * rule.nodes)
    even, odd = (left + right) / 2 @ rule.even, (left - right) / 2 @ rule.odd
    last = max(1, size // _LAST)
    tail = float((even[-last:] ** 2).sum() + (odd[-last:] ** 2).sum())
    found = float((even**2).sum() + (odd**2).sum())
    if not np.isfinite(found):
        return float("inf")
    # 8 eps is what the summation may leave when all else is right.
    return max(0.0, abs(mean - found) / mean - 8 * _EPS) + 4 * tail / mean + 2 * _EPS


@dataclass
class Calibration:
    """The rules of one function; -1 where none passes."""

    function: Function
    lines: dict[int, tuple[int, float]] = field(default_factory=dict)
    tables: dict[int, tuple[int, float]] = field(default_factory=dict)

    def line_size(self, step: int) -> tuple[int, float]:
        """Nodes of the line rule on a step and its estimated relative error; -1 and oo if none passes."""
        found = self.lines.get(step)
        if found is None:
            found = self._first(LINE_SIZES, lambda n: self._line_error(step, n), self.lines, step)
        return found

    def table_size(self, step: int) -> tuple[int, float]:
        """Coefficients of the table on a step, the same way."""
        found = self.tables.get(step)
        if found is None:
            nodes, _ = self.line_size(step)
            q = 2.0 ** (step / 2)
            if nodes < 0:
                found = self.tables[step] = (-1, float("inf"))
            else:
                mean = line_mean(line(nodes), self.function, q)[0]
                if mean == 0.0:
                    found = self.tables[step] = (SIZES[0], 0.0)
                else:
                    found = self._first(
                        SIZES, lambda n: hermite_error(self.function, q, n, mean), self.tables, step
                    )
        return found

    def _line_error(self, step: int, size: int) -> float:
        q = 2.0 ** (step / 2)
        mean, apart = line_mean(line(size), self.function, q)
        if not np.isfinite(mean):
            return float("inf")
        tail = beyond(self.function, q)
        if mean == apart == tail == 0.0:
            return 0.0
        return (max(0.0, apart - 4 * _EPS * mean) + tail) / mean if mean > 0 else float("inf")

    def _first(
        self,
        sizes: Sequence[int],
        error: Callable[[int], float],
        known: dict[int, tuple[int, float]],
        step: int,
    ) -> tuple[int, float]:
        """The first size that passes; what a smaller variance needed is where the search starts."""
        below = [size for other, (size, _) in known.items() if other < step]
        start = sizes.index(max(below)) if below and min(below) > 0 else 0
        found = (-1, float("inf"))
        for size in sizes[start:]:
            estimate = error(size)
            if estimate <= PASS:
                found = (size, estimate)
                break
        known[step] = found
        return found

"""What the parts of the special functions share."""
# ruff: noqa: D102 - functions.py says what they are

from __future__ import annotations

from typing import Any

from gmpy2 import mpq

from gateproof.proofs_check.checker.interval import Interval, Intervals, interval

MAX_ORDER, MAX_TERMS = 100, 4000
Values = tuple[Any, ...]
HALF = mpq(1, 2)


class Part:
    """Functions at one precision; ``p`` holds the rational parameters of a function."""

    to: Intervals

    def value(self, name: str, p: Values, a: Interval) -> Interval:
        raise NotImplementedError

    def taylor(self, name: str, p: Values, a: Interval, order: int) -> list[Interval]:
        raise NotImplementedError

    def plain(self, name: str, p: Values, a: Interval) -> Interval:
        raise NotImplementedError

    def series(self, above: Values, below: Values, x: Interval) -> Interval:
        raise NotImplementedError

    def at(self, name: str, p: Values, a: Interval) -> Interval:
        raise NotImplementedError

    def size(self, a: Interval) -> Any:
        """A bound of the absolute values; Python's abs would round to gmpy2's global precision."""
        return max(self.to.up.abs(a.lo), self.to.up.abs(a.hi))

    def gamma_of(self, q: Any) -> Interval:
        """Gamma at a rational."""
        return self.value("gamma", (), self.to.number(q))


def meet(a: Interval, b: Interval) -> Interval:
    """What two intervals share."""
    return interval(max(a.lo, b.lo), min(a.hi, b.hi))


def hull(a: Interval, b: Interval) -> Interval:
    """The least interval that holds both."""
    return interval(min(a.lo, b.lo), max(a.hi, b.hi))


def sign(q: Any) -> int:
    """-1, 0 or 1."""
    return int(q > 0) - int(q < 0)

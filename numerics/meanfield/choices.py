"""Which digits, range and point are meant, and exact numbers as numbers of an engine."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from gateproof.numerics.meanfield import given
from gateproof.numerics.meanfield.certified import CertifiedEngine
from gateproof.numerics.meanfield.described import FieldPoint
from gateproof.numerics.meanfield.given import Given, RefusedNumber
from gateproof.numerics.meanfield.result import FieldPoints

ENGINES = ("certified", "mp", "fast")
MOST_DIGITS = 1_000
#: Certified engines take fewer.
MOST_CERTIFIED = 250


def checked_digits(digits: Any, engine: str) -> None:
    """Raise RefusedNumber for digits or an engine that there are not."""
    if engine not in ENGINES:
        raise RefusedNumber(f"engine {engine!r:.40}: give one of {', '.join(ENGINES)}")
    most = MOST_CERTIFIED if engine == "certified" else MOST_DIGITS
    if not isinstance(digits, int) or isinstance(digits, bool) or not 1 <= digits <= most:
        raise RefusedNumber(f"digits {digits!r:.40}: give a whole number from 1 to {most}")


def searched_range(within: Any, *, positive: bool = False) -> Any:
    """A range of q, or None for all. Raises RefusedNumber."""
    if within is None:
        return None
    lo, hi = given.variances_within(within, "within")
    if positive and lo == 0:
        raise RefusedNumber("within 0: a range with lo > 0 is expected here")
    return lo, hi


def gap_of(c: float) -> float:
    """1 - c. Raises RefusedNumber."""
    if not -1 <= c <= 1:
        raise RefusedNumber(f"c = {c}: a correlation in [-1, 1] is expected")
    return 1 - c


def one_of(points: FieldPoints, q: Given | None, *, stable: bool = True) -> FieldPoint:
    """The point nearest to q, else the only stable one, else (not ``stable``) the only one."""
    known = [p for p in points if p.q_star is not None and p.q_star.hi > 0]
    if q is not None:
        at = float(given.number("q", q))
        if known:
            return min(known, key=lambda p: abs(float(p.q_star or inf) - at))
    steady = [p for p in known if p.stable]
    for some in (steady, known if not stable or (known and known[0].any_q) else []):
        if len(some) == 1:
            return some[0]
    where = ", ".join(str(p.q_star) for p in known) or "none"
    raise RefusedNumber(
        f"no one stable point with q* > 0 (there: {where}): {points.reason}; q=.. chooses one"
    )


def towards(stable: Sequence[FieldPoint], every: Sequence[FieldPoint], q: float) -> FieldPoint | None:
    """The stable point in whose reach q lies: no unstable one stands between them."""
    walls = [float(p.q_star) for p in every if p.stable is False and p.q_star is not None]
    for point in stable:
        at = float(point.q_star)  # type: ignore[arg-type]
        if not any(min(at, q) < w < max(at, q) for w in walls):
            return point
    return None


def like(engine: Any, value: Any) -> Any:
    """An exact number as one of the engine's kind."""
    context = getattr(engine, "context", None)
    if context is not None:
        from mpmath import mp

        with context():
            return mp.mpf(value.numerator) / value.denominator
    if isinstance(engine, CertifiedEngine):
        from gateproof.numerics import interval as iv

        return iv.rational(value)
    return value.numerator / value.denominator

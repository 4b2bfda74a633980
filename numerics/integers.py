"""Where an expression over integers is largest or 0: finitely many looked at, the rest by its tails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from gateproof.numerics.errors import MaybeUndefined
from gateproof.numerics.far import look
from gateproof.numerics.points import at_point, rational_bounds
from gateproof.numerics.special import special_points
from gateproof.numerics.tailcut import STARTS
from gateproof.theory.exact.tails import tail_sign
from gateproof.theory.formula.nodes import Expr

#: Integers that are looked at one by one, and those near 0 or an end that give a first best value.
MAX_INTEGERS, FIRST = 5_000, 60
_BITS = (80, 320, 1_280)


@dataclass(frozen=True)
class Largest:
    """The supremum over integers.

    ``status``: 'ok', 'infinite' or 'unknown' (``reason``). ``points``: the integers where it is reached as
    far as balls can tell (none is larger anywhere else). ``limit``: a value approached far out and not
    reached there, where it is not below what the points reach.
    """

    status: str
    points: tuple[int, ...] = ()
    limit: Fraction | None = None
    reason: str = ""


def largest(expr: Expr, var: str, first: int | None, last: int | None, holes: Sequence[int] = ()) -> Largest:
    """Where a core expression is largest over the integers of [first, last] (None: no end).

    Raises Undefined where it has no value at one of them.
    """
    near = [n for n in _near(first, last) if n not in holes]
    if not near:
        return Largest("unknown", reason="no integer was found in the set")
    best = max(lo for lo, _ in _values(expr, var, near).values())
    lo, hi = first, last
    limits: list[Fraction] = []
    for side, end in (("-", first), ("+", last)):
        if end is not None:
            continue
        known = [abs(k) for k in special_points(expr, var)]
        other = last if side == "-" else first
        edge = Fraction(abs(other)) if other is not None else Fraction(0)
        beyond: Fraction = max([Fraction(1), edge, *known])
        far = look(expr, var, side, False, best, beyond, 20)
        if far.kind == "infinite":
            return Largest("infinite")
        if far.kind not in ("below", "limit"):
            why = "the value far out is constant" if far.kind == "constant" else far.reason
            return Largest("unknown", reason=f"tail: {why or 'not compared with the values inside'}")
        if far.kind == "limit":
            assert far.value is not None
            limits.append(far.value[0])
        start = -(-far.start.numerator // far.start.denominator)
        lo, hi = (-start, hi) if side == "-" else (lo, start)
    assert lo is not None
    assert hi is not None
    if hi - lo > MAX_INTEGERS:
        return Largest("unknown", reason=f"more than {MAX_INTEGERS} integers")
    points, reached = _best_of(expr, var, [n for n in range(lo, hi + 1) if n not in holes])
    over = [v for v in limits if v >= reached[0]]
    if not over:
        return Largest("ok", points)
    top = max(over)
    if top > reached[1]:
        return Largest("ok", (), top)
    return Largest("unknown", reason="a limit far out and a value inside were not told apart")


def zeros_over(
    expr: Expr, var: str, first: int | None, last: int | None, holes: Sequence[int] = ()
) -> tuple[int, ...] | str:
    """The integers at which the expression may be 0 (certainly not elsewhere), or why they are not known."""
    lo, hi = first, last
    for side, end in (("-", first), ("+", last)):
        if end is not None:
            continue
        beyond = max([Fraction(1), *(abs(k) for k in special_points(expr, var))])
        other = last if side == "-" else first
        beyond = max(beyond, Fraction(abs(other or 0)))
        starts = [s for s in (*STARTS, beyond * 2) if s > beyond]
        start = next((s for s in starts if tail_sign(expr, var, side, s) in (1, -1)), None)
        if start is None:
            return "the sign far out was not found"
        edge = -(-start.numerator // start.denominator)
        lo, hi = (-edge, hi) if side == "-" else (lo, edge)
    assert lo is not None
    assert hi is not None
    if hi - lo > MAX_INTEGERS:
        return f"more than {MAX_INTEGERS} integers"
    found: list[int] = []
    for n in range(lo, hi + 1):
        if n in holes:
            continue
        low, high = _value(expr, var, n, _BITS[0])
        if low <= 0 <= high:
            low, high = _value(expr, var, n, _BITS[-1])
        if low <= 0 <= high:
            found.append(n)
    return tuple(found)


def _near(first: int | None, last: int | None) -> Iterable[int]:
    """Integers of the set near its ends or 0."""
    if first is not None and last is not None:
        return range(first, min(last, first + FIRST) + 1)
    if first is not None:
        return range(first, first + FIRST)
    if last is not None:
        return range(last - FIRST, last + 1)
    return range(-FIRST, FIRST + 1)


def _value(expr: Expr, var: str, n: int, bits: int) -> tuple[Fraction, Fraction]:
    while True:
        try:
            ball: arb = at_point(expr, {var: Fraction(n)}, bits)
            return rational_bounds(ball)
        except MaybeUndefined:
            if bits > _BITS[-1]:
                raise
            bits *= 2


def _values(expr: Expr, var: str, where: Iterable[int]) -> dict[int, tuple[Fraction, Fraction]]:
    return {n: _value(expr, var, n, _BITS[0]) for n in where}


def _best_of(expr: Expr, var: str, where: list[int]) -> tuple[tuple[int, ...], tuple[Fraction, Fraction]]:
    """The integers whose value is not certainly below another's, and bounds of the largest value."""
    values = {n: _value(expr, var, n, _BITS[0]) for n in where}
    best = max(lo for lo, _ in values.values())
    for bits in _BITS[1:]:
        left = [n for n, (_, hi) in values.items() if hi >= best]
        if len(left) == 1:
            break
        values = {n: _value(expr, var, n, bits) for n in left}
        best = max(lo for lo, _ in values.values())
    left = [n for n, (_, hi) in values.items() if hi >= best]
    return tuple(left), (best, max(hi for n, (_, hi) in values.items() if n in left))

"""A guess of a supremum where its enclosure fails: at samples, at limits, and by climbing between them.

A quotient f/h has a hole where both vanish, so no enclosure of it reaches over the domain. What comes out
here is only a constant to try: the statement with it is proved or not by the engine.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import at_point, enclosure, rational_bounds
from gateproof.numerics.special import special_points
from gateproof.proofs_check.engine.nearest_question import STOPS, Value, is_plain
from gateproof.proofs_check.engine.sample import values
from gateproof.proofs_check.engine.space import Space, contains
from gateproof.theory.exact.limits import limit
from gateproof.theory.formula.nodes import App, Const, Expr, Num

_BITS, _STEPS = 192, 80
#: Beyond it a climb has lost its way to an infinite value.
_LARGEST = Fraction(10**6)


def guessed(space: Space, name: str, body: Expr, *, up: bool) -> Value | None:
    """The largest (least) value found in one real name, exact where it is a limit."""
    domain = space.domains[name]
    sign = 1 if up else -1

    def height(x: Fraction) -> Fraction | None:
        if contains(domain, x) is not True:
            return None
        try:
            lo, hi = rational_bounds(at_point(body, {name: x}, _BITS))
        except NumericsError:
            return None
        return sign * (lo + hi) / 2

    xs = sorted(set(values(domain, list(special_points(body, name)), random.Random(0))))
    known = [(h, x) for x in xs if (h := height(x)) is not None]
    if not known:
        return None
    best, at = max(known)
    k = xs.index(at)
    best = max(best, _climbed(height, xs[max(k - 1, 0)], xs[min(k + 1, len(xs) - 1)], best))
    limits = _limits(space, name, body)
    exact = max(limits, key=lambda v: sign * v[1], default=None)
    if exact is not None and sign * exact[1] >= best - abs(best) * Fraction(1, 10**12):
        return Value(exact[1], exact[1], exact[0], 0, None)
    if best > _LARGEST:
        return None
    slack = abs(best) * Fraction(1, 10**12)
    return Value(sign * best - slack, sign * best + slack)


Height = Callable[[Fraction], Fraction | None]


def _climbed(height: Height, lo: Fraction, hi: Fraction, best: Fraction) -> Fraction:
    """The top between two points by thirds."""
    for _ in range(_STEPS):
        a, b = lo + (hi - lo) / 3, hi - (hi - lo) / 3
        left, right = height(a), height(b)
        if left is None or right is None:
            break
        lo, hi = (_short(a), hi) if left < right else (lo, _short(b))
        best = max(best, left, right)
    return best


def _short(x: Fraction) -> Fraction:
    return x.limit_denominator(10**15)


def _limits(space: Space, name: str, body: Expr) -> list[tuple[Expr, Fraction]]:
    """Finite limits at the ends of the domain and at points where the body may have a hole."""
    domain = space.domains[name]
    infinity: Expr = Const("oo")
    sides: list[tuple[Expr, str]] = [
        (infinity, "") if domain.hi is None else (domain.hi, "-"),
        (App("neg", (infinity,)), "") if domain.lo is None else (domain.lo, "+"),
    ]
    sides += [(Num(p), s) for p in special_points(body, name) if contains(domain, p) for s in ("+", "-")]
    found: list[tuple[Expr, Fraction]] = []
    for point, side in sides:
        try:
            there = limit(body, name, point, side, space.assumptions())
            if isinstance(there, tuple) and is_plain(there[0]) and not _infinite(there[0]):
                lo, hi = enclosure(there[0])
                found.append((there[0], (lo + hi) / 2))
        except STOPS:
            continue
    return found


def _infinite(node: Expr) -> bool:
    return any(isinstance(n, Const) and n.name == "oo" for n in node.walk())

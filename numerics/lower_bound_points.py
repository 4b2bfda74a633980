"""The function at witnesses: floats for the search, balls for the proof; exact weights from floats."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import compiled
from gateproof.numerics.lower_bound_family import Family, Weight
from gateproof.numerics.special import special_points
from gateproof.theory.formula.nodes import Expr

#: Where witnesses are first put: step 1/4 near 0, wider further out.
_GRID = [Fraction(k, 4) for k in range(-16, 17)] + [
    Fraction(s * k, 2) for k in (9, 10, 11, 12, 14, 16, 20, 24, 32, 48, 64) for s in (1, -1)
]
#: Crossings of lines further out are left alone.
FARTHEST = 1e6
#: Bits of a witness, and of a weight.
_POINT_BITS, _WEIGHT_BITS = 20, 44


class Target:
    """The function to be approximated: floats for the search, balls for the proof, each point once."""

    def __init__(self, expr: Expr, var: str) -> None:
        self._run, self._var = compiled(expr), var
        self._floats: dict[float, float] = {}
        self._balls: dict[Fraction, arb] = {}
        kinks = special_points(expr, var)
        self.grid = tuple(sorted({float(x) for x in (*_GRID, *kinks)}))

    def crossing(self, family: Family) -> tuple[tuple[float, float], ...]:
        """The witness at which two branches cross, and its weight; () where it cannot be had.

        There all gates of two branches have the same value.
        """
        at = None if family.middle else family.crossing
        if at is None or not abs(at) < FARTHEST:
            return ()
        x = rounded(float(at))
        try:
            rest = self.value(x) - float(family.left.slope * at + family.left.intercept)
        except (ArithmeticError, ValueError):
            return ()
        return ((x, 1.0 if rest > 0 else -1.0),)

    def value(self, x: float) -> float:
        """A float near f(x)."""
        found = self._floats.get(x)
        if found is None:
            found = self._floats[x] = float(self.ball(Fraction(x)).mid())
        return found

    def ball(self, x: Fraction) -> arb:
        """An enclosure of f(x). Raises what :func:`gateproof.numerics.ball.evaluate` does."""
        found = self._balls.get(x)
        if found is None:
            point = iv.of_ball(iv.rational(x))
            found = self._balls[x] = iv.to_ball(self._run({self._var: point}))
        return found


def rounded(x: float) -> float:
    """The witness near x."""
    return float(round(x * 2.0**_POINT_BITS)) / 2.0**_POINT_BITS


def exact_weights(family: Family, target: Target, found: Sequence[tuple[float, float]]) -> tuple[Weight, ...]:
    """The weights as rationals, of sum 0 on lines where the family needs it; () if that cannot be had."""
    if not found:
        return ()
    weights = {Fraction(x): _short(v / max(abs(u) for _, u in found)) for x, v in found}
    if family.middle:
        if len(weights) < 3:
            return ()
        a, b = sorted(weights, key=lambda x: -abs(weights[x]))[:2]
        rest = sum((v for x, v in weights.items() if x not in (a, b)), Fraction(0))
        moment = sum((v * x for x, v in weights.items() if x not in (a, b)), Fraction(0))
        weights[a] = (moment - b * rest) / (b - a)
        weights[b] = -rest - weights[a]
    return tuple(Weight(x, target.ball(x), v) for x, v in sorted(weights.items()) if v)


def _short(v: float) -> Fraction:
    """A float with fewer bits."""
    exact = Fraction(v)
    places = _WEIGHT_BITS - exact.numerator.bit_length() + exact.denominator.bit_length()
    return Fraction(round(exact * Fraction(2) ** places), 1) / Fraction(2) ** places

"""Integrals of smooth functions over intervals by Gauss-Legendre panels, halved where they must be.

The nodes of a panel give the last Legendre coefficients of the integrand as well. Where these fall like
rho^-k the quadrature is off by about rho^-2n, so that their power 3/2 is an estimate on the safe side.
Where they do not fall the panel is halved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from flint import arb, ctx

from gateproof.numerics.precision import precision

#: Panels in one integral, and halvings of one panel.
MAX_PANELS = 20_000
MAX_DEPTH = 400
_LAST = 3


class NotReached(ArithmeticError):
    """The digits asked for were not reached within the work that is allowed."""


@dataclass(frozen=True)
class Rule:
    """Nodes in (-1, 1) and weights; ``last`` gives the last Legendre coefficients of nodal values."""

    nodes: tuple[arb, ...]
    weights: tuple[arb, ...]
    last: tuple[tuple[arb, ...], ...]


@lru_cache(maxsize=64)
def _rule(n: int, bits: int) -> Rule:
    with precision(bits):
        pairs = [arb.legendre_p_root(n, k, weight=True) for k in range(n)]
        nodes = tuple(x.mid() for x, _ in pairs)
        weights = tuple(w.mid() for _, w in pairs)
        last = []
        for k in range(n - _LAST, n):
            half = arb(2 * k + 1) / 2
            last.append(
                tuple((w * half * x.legendre_p(k)).mid() for x, w in zip(nodes, weights, strict=True))
            )
        return Rule(nodes, weights, tuple(last))


def rule(n: int) -> Rule:
    """The rule with n nodes at flint's current precision."""
    return _rule(n, ctx.prec)


@dataclass(frozen=True)
class Estimate:
    """A value, and how far off it is by estimate (not a bound)."""

    value: arb
    error: arb

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(self.value + other.value, self.error + other.error)

    def times(self, factor: arb) -> Estimate:
        """Both scaled."""
        return Estimate(self.value * factor, self.error * abs(factor))


Integrand = Callable[[Sequence[arb]], Sequence[arb]]


def over_panels(f: Integrand, ends: Sequence[arb], nodes: int, tolerance: arb) -> Estimate:
    """The integral of f over the intervals between ascending ends, estimated error below the tolerance.

    ``f`` takes points and gives values; it is smooth inside of the intervals and is never asked at their
    ends. Raises NotReached where panels run out: f is not smooth there, or not integrable.
    """
    chosen = rule(nodes)
    whole = abs(ends[-1] - ends[0])
    todo = [(a, b, 0) for a, b in pairwise(ends)]
    value, error, count = arb(0), arb(0), 0
    rounding = arb((1, 12 - ctx.prec))
    while todo:
        lo, hi, depth = todo.pop()
        count += 1
        if count > MAX_PANELS:
            raise NotReached("too many panels: the integrand is not smooth between its kinks")
        half, centre = (hi - lo) / 2, (hi + lo) / 2
        values = f([centre + half * x for x in chosen.nodes])
        size = max((abs(v.mid()) for v in values), default=arb(0))
        part = half * _dot(chosen.weights, values)
        if not part.is_finite():
            raise NotReached("the integrand has no finite value between its kinks")
        off = _estimate(chosen, values, size) * half
        share = tolerance * (half * 2 / whole)
        # Also a panel that holds nothing, and one where rounding is all that is left.
        if off <= max(share, size * half * rounding) or size * half * 4 <= share:
            value, error = value + part.mid(), error + off + part.rad()
        elif depth >= MAX_DEPTH:
            raise NotReached("the integrand is singular between its kinks")
        else:
            centre = centre.mid()
            todo += [(lo, centre, depth + 1), (centre, hi, depth + 1)]
    return Estimate(value.mid(), error.upper())


def _estimate(chosen: Rule, values: Sequence[arb], size: arb) -> arb:
    if size == 0:
        return arb(0)
    last = max(abs(_dot(row, values)).upper() for row in chosen.last)
    return 2 * last * (last / size).sqrt()


def _dot(a: Sequence[arb], b: Sequence[arb]) -> arb:
    total = arb(0)
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total

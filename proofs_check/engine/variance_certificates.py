"""Certificates of relations with normal means for all variances of a range.

For f with abs(f'(x)) <= A + B (x - m)^2, and deviations p and p' up to P,

    abs(E f(m + p Z) - E f(m + p' Z)) <= abs(p - p') E abs(Z) (A + B P^2 Z^2)
                                      <= abs(p - p') (4/5 A + 8/5 B P^2),

by the mean value theorem, E abs(Z) = sqrt(2/pi) and E abs(Z)^3 = 2 sqrt(2/pi). So the bound on f' is one
range, and each box of variances needs one integral, at the deviation in its middle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt
from typing import Any

from gateproof.numerics.bounds import Budget, prove_bounds
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.means import certificate_within, enclosed
from gateproof.proofs_check.engine.boxes import accept
from gateproof.proofs_check.engine.integral_certificates import signs_of
from gateproof.proofs_check.engine.outcome import composite
from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.kernels import minus, plus, raised, times
from gateproof.theory.formula.nodes import Expr, Gauss, Node, Num, Var
from gateproof.theory.formula.printer import to_text

#: Integrals that one certificate may hold, and the bounds A + B (x - m)^2 that are tried.
MOST = 60
_SLOPES = (
    *((Fraction(a), Fraction(0)) for a in ("1/8", "1/4", "1/2", "1", "2", "4", "16")),
    *((Fraction(a), Fraction(b)) for a, b in (("1", "1/4"), ("1", "1"), ("4", "4"), ("16", "16"))),
)
Ends = tuple[Fraction, Fraction]


class _NoneError(Exception):
    """A part has no accepted certificate."""


@dataclass
class _Evidence:
    """The certificates so far, and what they say of each mean."""

    parts: list[dict[str, Any]] = field(default_factory=list)
    slopes: dict[Gauss, tuple[Fraction, Fraction]] = field(default_factory=dict)
    integrals: int = 0

    def mean(self, node: Gauss, tolerance: Fraction) -> Ends:
        """Bounds of a mean without names."""
        self.integrals += 1
        try:
            value = enclosed(node, 12, Budget()).enclosure if self.integrals <= MOST else None
        except NumericsError:
            value = None
        made = None if value is None else certificate_within(node, value, tolerance)
        if made is None or accept(made[0]) is not None:
            raise _NoneError
        self.parts += made[0].get("parts", [made[0]])
        return made[1]

    def slope(self, node: Gauss) -> tuple[Fraction, Fraction]:
        """A and B with abs(f'(x)) <= A + B (x - m)^2 for the body f."""
        if node not in self.slopes:
            slope = None if kinks(node.body, node.var) else derivative(node.body, node.var)
            found = None if slope is None else self._bounded(slope, node)
            if found is None:
                raise _NoneError
            self.slopes[node] = found
        return self.slopes[node]

    def _bounded(self, slope: Expr, node: Gauss) -> tuple[Fraction, Fraction] | None:
        square = raised(plus(Var(node.var), minus(node.mean)), 2)
        for a, b in _SLOPES:
            most = plus(Num(a), times(Num(b), square))
            made: list[dict[str, Any]] = []
            for gap in (plus(most, minus(slope)), plus(most, slope)):
                found = prove_bounds(
                    gap,
                    {node.var: (None, None)},
                    lower=Fraction(0),
                    budget=Budget(500, 256),
                    text=to_text(gap),
                )
                if found.certificate is None or accept(found.certificate) is not None:
                    break
                made.append(found.certificate)
            else:
                self.parts += made
                return a, b
        return None


def variance_certificate(
    gap: Expr, means: Sequence[Node], name: str, ends: Ends, allowed: frozenset[int]
) -> Mapping[str, Any] | None:
    """An accepted certificate that the gap has allowed signs for every variance in [ends], or None."""
    evidence = _Evidence()
    todo = [ends]
    try:
        while todo:
            lo, hi = todo.pop()
            values: dict[Node, Ends] = {Var(name): (lo, hi)}
            for node in means:
                assert isinstance(node, Gauss)
                values[node] = _over(node, name, (lo, hi), evidence)
            if signs_of(gap, values) <= allowed:
                continue
            middle = (lo + hi) / 2
            todo += [(middle, hi), (lo, middle)]
    except _NoneError:
        return None
    return composite(evidence.parts)


def _over(node: Gauss, name: str, ends: Ends, evidence: _Evidence) -> Ends:
    """Bounds of a mean for all variances of a box; only its variance may be the name."""
    if node.q != Var(name):
        return evidence.mean(node, Fraction(1, 10**6))
    a, b = evidence.slope(node)
    low, high = _root(ends[0], 0), _root(ends[1], 1)
    middle = (low + high) / 2
    reach = (high - middle) * (Fraction(4, 5) * a + Fraction(8, 5) * b * high**2)
    at = Gauss(node.body, node.var, Num(middle**2), node.mean)
    below, above = evidence.mean(at, max(reach / 8, Fraction(1, 10**8)))
    return below - reach, above + reach


def _root(value: Fraction, up: int) -> Fraction:
    """The square root within 2^-40, rounded down or up."""
    return Fraction(isqrt((value.numerator << 80) // value.denominator) + up, 1 << 40)

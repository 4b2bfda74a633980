"""Infeasibility of linear inequalities over Q by Fourier and Motzkin's elimination."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

MAX_ROWS = 160


@dataclass(frozen=True)
class Row:
    """sum of coefficients * unknowns + constant > 0 (strict) or >= 0."""

    coefficients: dict[str, Fraction]
    constant: Fraction
    strict: bool

    def negated(self, *, strict: bool) -> Row:
        """-(the form) > 0 or >= 0."""
        return Row({k: -v for k, v in self.coefficients.items()}, -self.constant, strict)


def infeasible(rows: Iterable[Row]) -> bool:
    """True only where no real values fulfil all rows; False where that is not shown."""
    system = list(rows)
    while True:
        for row in system:
            if not row.coefficients and (row.constant < 0 or (row.strict and row.constant == 0)):
                return True
        system = [r for r in system if r.coefficients]
        if not system:
            return False
        name = _cheapest(system)
        upper = [r for r in system if r.coefficients.get(name, 0) < 0]
        lower = [r for r in system if r.coefficients.get(name, 0) > 0]
        rest = [r for r in system if name not in r.coefficients]
        if len(rest) + len(upper) * len(lower) > MAX_ROWS:
            return False
        system = rest + [_combine(a, b, name) for a in lower for b in upper]


def _cheapest(system: list[Row]) -> str:
    counts: dict[str, list[int]] = {}
    for row in system:
        for name, value in row.coefficients.items():
            counts.setdefault(name, [0, 0])[value > 0] += 1
    return min(counts, key=lambda n: (counts[n][0] * counts[n][1] - sum(counts[n]), n))


def _combine(a: Row, b: Row, name: str) -> Row:
    """a has a positive and b a negative coefficient of the name: it cancels."""
    p, q = -b.coefficients[name], a.coefficients[name]
    coefficients: dict[str, Fraction] = {}
    for key in {*a.coefficients, *b.coefficients}:
        value = p * a.coefficients.get(key, Fraction(0)) + q * b.coefficients.get(key, Fraction(0))
        if value and key != name:
            coefficients[key] = value
    return Row(coefficients, p * a.constant + q * b.constant, a.strict or b.strict)

"""Means of squares with their first two derivatives in the variance, as balls."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log

from flint import arb, arb_mat

from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.certified_rule import FIRST, SECOND, Rules
from gateproof.numerics.precision import precision

#: A ball, with the first and second derivative in q.
Jet = tuple[arb, arb, arb]


@dataclass(frozen=True)
class Moments:
    """E f(u)^2 for two functions f, and E f(u) for the first: values and derivatives in q."""

    first: Jet
    second: Jet
    mean: Jet


class Quadrature:
    """Moments of phi and phi' (or of phi'' and phi''') by panels of nodes; q a narrow or a wide ball > 0."""

    def __init__(self, phi: Phi, digits: int, *, higher: bool = False) -> None:
        self.rules = Rules(phi, SECOND if higher else FIRST, digits)

    def moments(self, q: arb) -> Moments:
        """For every variance in the ball. Raises ValueError unless q > 0, NoPanels, NoTailBound."""
        with precision(self.rules.bits):
            return Moments(*_joined([self._at(part, exponent) for part, exponent in split(q)]))

    def _at(self, q: arb, exponent: int) -> tuple[Jet, Jet, Jet]:
        rule = self.rules.rule(exponent)
        scale, norm = -1 / (2 * q), 1 / (2 * arb.pi() * q).sqrt()
        columns = []
        for x in rule.nodes:
            square = x * x
            far = square / q
            bell = norm * (square * scale).exp()
            columns.append([bell, bell * (far - 1), bell * (far * (far - 6) + 3)])
        sums = rule.rows * arb_mat(columns)
        # |t^2 - 6 t + 3| <= 4 (1 + t + t^2), which the errors allow for.
        jets = []
        for k, error in enumerate(rule.errors):
            jets.append(
                (
                    sums[k, 0] + arb(0, error),
                    (sums[k, 1] + arb(0, error)) / (2 * q),
                    (sums[k, 2] + arb(0, 4 * error)) / (4 * q * q),
                )
            )
        first, second, mean = (
            (a[0] + b[0], a[1] + b[1], a[2] + b[2]) for a, b in zip(jets, rule.level.jets(q), strict=True)
        )
        return first, second, mean


def split(q: arb) -> list[tuple[arb, int]]:
    """The ball in parts that lie between two powers of 4 each, with the exponent of the lower one."""
    lo, hi = q.lower(), q.upper()
    if not lo > 0 or not hi.is_finite():
        raise ValueError(f"a variance is positive and finite, found {q}")
    parts: list[tuple[arb, int]] = []
    exponent = floor(log(float(lo), 4))
    while not arb(4) ** exponent <= lo:
        exponent -= 1
    while True:
        end = arb(4) ** (exponent + 1)
        if hi <= end:
            part = q if not parts else arb(lo).union(hi)
            return [*parts, (part, exponent)]
        if lo < end:
            parts.append((arb(lo).union(end), exponent))
            lo = end
        exponent += 1


def _joined(found: list[tuple[Jet, Jet, Jet]]) -> tuple[Jet, Jet, Jet]:
    first = found[0]
    for other in found[1:]:
        a, b, c = (_union(x, y) for x, y in zip(first, other, strict=True))
        first = a, b, c
    return first


def _union(a: Jet, b: Jet) -> Jet:
    return a[0].union(b[0]), a[1].union(b[1]), a[2].union(b[2])

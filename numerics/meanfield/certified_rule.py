"""One set of nodes for a range of variances: the values of phi on it are computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, exp, inf, log, pi, sqrt

from flint import acb, arb, arb_mat

from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.certified_base import NONE, Base, Level, bases, ends, level
from gateproof.numerics.meanfield.certified_cuts import branch_at, cuts
from gateproof.numerics.meanfield.certified_panels import (
    LOW,
    Complex,
    Panel,
    Span,
    evaluator,
    legendre,
    panels,
    squares,
)
from gateproof.numerics.meanfield.certified_tails import NoTailBound, beyond, growth, tail
from gateproof.numerics.precision import precision
from gateproof.theory.formula.nodes import Expr

#: Names of the functions that share nodes: those of phi and phi', and those of phi'' and phi'''.
FIRST, SECOND = ("expr", "slope"), ("curvature", "third")
#: Variances, against the span's lowest, at which a mean is estimated, and the place of the middle one.
VARIANCES, MIDDLE = (1, 2, 4), 1
#: Panels that the error is shared by, points a side of the estimate that it is relative to, and their
#: ratio, and cuts tried.
PANELS, POINTS, RATIO, WIDENED = 24, 90, 1.15, 8


@dataclass(frozen=True)
class Rule:
    """Nodes x, rows of weight times f(x)^2 - r(x)^2 for two functions f and, last, phi(x) - r(x).

    ``level`` has what the lines r that were taken away come to. ``errors``, one a row, are of the means
    themselves; divided by q and q^2, of their first two derivatives in q.
    """

    span: Span
    bits: int
    nodes: tuple[arb, ...]
    rows: arb_mat
    errors: tuple[float, ...]
    level: Level


class Rules:
    """The rules of one activation; ``digits`` are aimed at, relative to the size of each mean."""

    def __init__(self, phi: Phi, names: tuple[str, str], digits: int) -> None:
        self.phi, self.names, self.digits = phi, names, digits
        self.bits = ceil(digits * log(10, 2)) + 40
        self._made: dict[int, Rule] = {}
        self._bases = bases(phi) if names == FIRST else (NONE,)

    def rule(self, exponent: int) -> Rule:
        """For variances from 4^exponent to 4^(exponent + 1). Raises NoPanels, NoTailBound."""
        if exponent not in self._made:
            self._made[exponent] = self._make(Span(4.0**exponent, 4.0 ** (exponent + 1)))
        return self._made[exponent]

    def _make(self, span: Span) -> Rule:
        goal = self.digits * log(10) + 3
        scales, base = self._scales(span)
        goals = [exp(-goal) * s / PANELS for s in (*scales, sqrt(scales[0]))]
        half = self.phi.parity != 0
        reach, errors = self._cut(span, goals, half, base)
        nodes: list[arb] = []
        parts: list[list[arb]] = [[], [], []]
        with precision(self.bits):
            marks = cuts(self.phi, reach, 2 * sqrt(span.lo), half=half)
            numbers = base.numbers(self.bits)
        for lo, hi in pairwise(marks):
            branch = branch_at(self.phi, (lo + hi) / 2)
            functions = [evaluator(getattr(branch, name)) for name in self.names]
            # 0 is a cut.
            line = numbers[1 if lo + hi > 0 else 0]
            sizes = squares(functions, span, () if base is NONE else line)
            made = panels(sizes, lo, hi, goals, ceil(goal * 0.55) + 6, self.bits)
            for panel in made:
                self._fill(panel, functions, line, nodes, parts)
                errors = [a + b for a, b in zip(errors, panel.errors, strict=True)]
        if half:
            errors = [2 * e for e in errors]
            parts = [[2 * v for v in row] for row in parts]
            if self.phi.parity < 0:
                parts[2], errors[2] = [arb(0)] * len(nodes), 0.0
        # The sums of floats above have a few dozen terms.
        with precision(self.bits):
            gone = level(numbers, odd=self.phi.parity < 0)
        return Rule(span, self.bits, tuple(nodes), arb_mat(parts), tuple(e * 1.0001 for e in errors), gone)

    def _cut(self, span: Span, goals: list[float], half: bool, base: Base) -> tuple[float, list[float]]:
        """Where the line is cut off, and what is left out there for each row."""
        # In deviations; the rest is about exp(-cut^2/2) times a small power of the cut, unless f grows fast.
        reach = sqrt(2 * (self.digits * log(10) + 15)) * sqrt(span.hi)
        for end, errors in ends(self.phi, base, half=half):
            if end < reach and all(e < PANELS * g for e, g in zip(errors, goals, strict=True)):
                return float(end), errors
        errors = [inf, inf, inf]
        for _ in range(WIDENED):
            errors = [0.0, 0.0, 0.0]
            for side in ("+",) if half else ("+", "-"):
                own = [self._beyond(getattr(self.phi, name), side, arb(reach), span) for name in self.names]
                gone = [0.0, 0.0]
                if base is not NONE:
                    lines = base.line(side), base.slope(side)
                    gone = [self._beyond(r, side, arb(reach), span) for r in lines]
                rest = [a + b for a, b in zip(own, gone, strict=True)]
                # |f| by Cauchy's inequality: sqrt(E f^2 P) over the tail.
                rest.append((sqrt(own[0]) + sqrt(gone[0])) * sqrt(beyond(arb(reach), span)) * 1.0001)
                errors = [a + b for a, b in zip(errors, rest, strict=True)]
            if all(e < PANELS * g for e, g in zip(errors, goals, strict=True)):
                return reach, errors
            reach *= 1.25
        if errors[0] < inf and errors[1] < inf:
            return reach / 1.25, errors
        raise NoTailBound("the activation grows too fast for normal means of this variance")

    def _beyond(self, expr: Expr, side: str, cut: arb, span: Span) -> float:
        return tail(expr, side, cut, span, growth(expr, side))

    def _fill(
        self,
        panel: Panel,
        functions: Sequence[Complex],
        line: tuple[arb, arb],
        nodes: list[arb],
        parts: list[list[arb]],
    ) -> None:
        slope, height = line
        with precision(self.bits):
            for t, w in legendre(panel.nodes, self.bits):
                x = panel.middle + panel.radius * t
                first, second = (f(acb(x)).real for f in functions)
                weight = panel.radius * w
                nodes.append(x)
                high = slope * x + height
                parts[0].append(weight * (first - high) * (first + high))
                parts[1].append(weight * (second - slope) * (second + slope))
                parts[2].append(weight * (first - high))

    def _scales(self, span: Span) -> tuple[list[float], Base]:
        """About the means themselves, by sampling, and the lines that leave least.

        They only say how small an error is wanted. The points thicken towards 0, where narrow features
        stand out least against a wide density.
        """
        found = [[0.0, 0.0] for _ in VARIANCES]
        points = [6 * sqrt(span.hi) * RATIO**-k for k in range(POINTS)]
        left = [[0.0, 0.0] for _ in self._bases]
        with precision(LOW):
            lines = [[[float(v) for v in side] for side in base.numbers(LOW)] for base in self._bases]
            for x in (*points, *(-x for x in points)):
                at = arb(x)
                branch = branch_at(self.phi, at)
                weights = [
                    exp(-(x**2) / (2 * v * span.lo)) / sqrt(2 * pi * v * span.lo) * abs(x) * (1 - 1 / RATIO)
                    for v in VARIANCES
                ]
                for k, name in enumerate(self.names):
                    value = evaluator(getattr(branch, name))(acb(at)).real
                    if value.is_finite():
                        size = min(abs(float(value.mid())), 1e150)
                        for means, weight in zip(found, weights, strict=True):
                            means[k] += size**2 * weight
                        for sums, both in zip(left, lines, strict=True):
                            slope, height = both[x > 0]
                            line = slope if k else slope * x + height
                            sums[k] += abs(size**2 - line**2) * weights[MIDDLE]
        least = [min(means[k] for means in found) for k in range(2)]
        share = [[e / (m or 1.0) for e, m in zip(sums, found[MIDDLE], strict=True)] for sums in left]
        best = min(range(len(share)), key=lambda i: sum(share[i]))
        return [max(s, 1e-250) if s else 1.0 for s in least], self._bases[best]

"""Signs of a gate's slope on a whole interval, by exponential polynomials in ball arithmetic.

A gate of any algebra is y = N/Q with e_k = exp(tau_k (x - theta_k)),

    difference  Q = prod (1 + e_k),          N = L_1 Q + sum_k (L_(k+1) - L_k) e_k prod_(j != k) (1 + e_j)
    stick       Q = prod (1 + e_k),          N = sum_k L_k e_1 .. e_(k-1) prod_(j >= k) (1 + e_j)/(1 + e_k)
    softmax     Q = sum_k e_1 .. e_(k-1),    N = sum_k L_k e_1 .. e_(k-1)

so y' has the sign of N'Q - N Q', a sum of (a x + b) exp(n_1 z_1 + .. ) with whole n and rational a, b: no
coefficient is lost to rounding. Divided by the exponential that leads at an infinite end it is a line plus
terms that decay, which settles the tail; between the tails boxes are halved until the sign is seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.precision import precision
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.gate import Gate

#: Bits; boxes looked at; terms beyond which it is not tried; where a tail may begin, in e-foldings.
_BITS, _BOXES, _TERMS, _STARTS = 192, 20_000, 600, (8, 16, 32, 64, 128, 1024, 2**14, 2**18)

Line = tuple[Fraction, Fraction]
Index = tuple[int, ...]
#: Exponents n of the e_k, and the line a x + b before them.
Terms = dict[Index, Line]


@dataclass(frozen=True)
class Sign:
    """``holds``: whether direction * y' >= 0 on all of the interval; None where undecided; why."""

    holds: bool | None
    reason: str


def sign_of_slope(gate: Gate, direction: int, lo: Fraction | None, hi: Fraction | None) -> Sign:
    """Proved by interval arithmetic, or undecided; for soft gates with rational numbers."""
    numbers = [[constant_value(e) for e in p] for p in (gate.tau, gate.theta, gate.slope, gate.intercept)]
    if any(v is None for p in numbers for v in p):
        return Sign(None, "its numbers are not all rational")
    tau, theta, slope, intercept = ([v for v in p if v is not None] for p in numbers)
    if any(t <= 0 for t in tau):
        return Sign(None, "tau is not positive")
    if 3 ** len(tau) > _TERMS:
        return Sign(None, "too many branches")
    lines = [(m * direction, c * direction) for m, c in zip(slope, intercept, strict=True)]
    terms = _slope_terms(gate.algebra, lines, tau)
    if not terms:
        return Sign(True, "it is constant")
    with precision(_BITS):
        return _Proof(terms, tau, theta).run(lo, hi)


def _slope_terms(algebra: str, lines: list[Line], tau: list[Fraction]) -> Terms:
    """N'Q - N Q'."""
    n = len(tau)
    over, under = _quotient(algebra, lines, n)
    found: Terms = {}
    for i, (a, b) in over.items():
        for j, (_, c) in under.items():
            # ((a x + b) e^i)' c e^j - (a x + b) e^i (c e^j)'
            rate = sum((p - q) * t for p, q, t in zip(i, j, tau, strict=True))
            _add(found, tuple(p + q for p, q in zip(i, j, strict=True)), (c * a * rate, c * (a + b * rate)))
    return {k: v for k, v in found.items() if any(v)}


def _quotient(algebra: str, lines: list[Line], n: int) -> tuple[Terms, Terms]:
    over: Terms = {}
    under: Terms = {}
    one: Line = (Fraction(0), Fraction(1))
    if algebra == "softmax":
        for k, line in enumerate(lines):
            index = tuple(int(j < k) for j in range(n))
            _add(over, index, line)
            _add(under, index, one)
        return over, under
    for index in _subsets(n, range(n)):
        _add(under, index, one)
        if algebra == "difference":
            _add(over, index, lines[0])
            for k in range(n):
                if index[k]:
                    jump = tuple(p - q for p, q in zip(lines[k + 1], lines[k], strict=True))
                    _add(over, index, (jump[0], jump[1]))
        else:
            # e_1 .. e_(k-1) are there and e_k is not.
            _add(over, index, lines[next((k for k in range(n) if not index[k]), n)])
    return over, under


def _subsets(n: int, free: Iterable[int]) -> list[Index]:
    found = [(0,) * n]
    for k in free:
        found += [(*i[:k], 1, *i[k + 1 :]) for i in found]
    return found


def _add(terms: Terms, index: Index, line: Line) -> None:
    a, b = terms.get(index, (Fraction(0), Fraction(0)))
    terms[index] = (a + line[0], b + line[1])


class _Proof:
    """Terms grouped by their rates: (rate, a, b) with the factor of the thresholds in a and b."""

    def __init__(self, terms: Terms, tau: list[Fraction], theta: list[Fraction]) -> None:
        grouped: dict[Fraction, tuple[arb, arb]] = {}
        self.middle = sum(theta, Fraction(0)) / max(1, len(theta))
        for index, (a, b) in sorted(terms.items()):
            rate = sum((p * t for p, t in zip(index, tau, strict=True)), Fraction(0))
            shift = sum(
                (p * t * (self.middle - h) for p, t, h in zip(index, tau, theta, strict=True)), Fraction(0)
            )
            # In v = x - middle.
            factor = iv.rational(shift).exp()
            here = grouped.get(rate, (arb(0), arb(0)))
            grouped[rate] = (
                here[0] + factor * iv.rational(a),
                here[1] + factor * iv.rational(a * self.middle + b),
            )
        self.terms = sorted(grouped.items())
        self.boxes = 0

    def run(self, lo: Fraction | None, hi: Fraction | None) -> Sign:
        a = None if lo is None else lo - self.middle
        b = None if hi is None else hi - self.middle
        for side, from_, to in ((-1, a, b), (1, a, b)):
            # The half v <= 0 divided by its leading exponential, and the half v >= 0 by its own.
            near = max(Fraction(0), from_ or Fraction(0)) if side > 0 else min(Fraction(0), to or Fraction(0))
            far = to if side > 0 else from_
            if far is not None and (far - near) * side <= 0:
                continue
            found = self._half(side, near, far)
            if found.holds is not True:
                return found
        return Sign(True, "its derivative nowhere changes sign")

    def _half(self, side: int, near: Fraction, far: Fraction | None) -> Sign:
        lead = self.terms[0 if side < 0 else -1][0]
        # In w = side * v >= 0: sum (a w + b) exp(-rate w), rates >= 0.
        parts = [
            (iv.rational(abs(rate - lead)), side * a, b)
            for rate, (a, b) in (self.terms if side < 0 else self.terms[::-1])
        ]
        begin = abs(near)
        if far is None:
            end = self._tail(parts, begin)
            if isinstance(end, Sign):
                return end
        else:
            end = abs(far)
        return self._boxes(parts, begin, end)

    def _tail(self, parts: list[tuple[arb, arb, arb]], begin: Fraction) -> Fraction | Sign:
        """Where the leading line outweighs all that decays, or that it has the wrong sign."""
        _, a, b = parts[0]
        if a < 0 or (a == 0 and b < 0):
            return Sign(False, "far out its derivative has the other sign")
        if not (a > 0 or (a.is_zero() and b > 0)):
            return Sign(None, "the leading term of a tail has no sign")
        if len(parts) == 1:
            return begin + 1
        slowest = parts[1][0]
        for start in _STARTS:
            w = iv.rational(begin) + start / slowest
            if not a * w + b > 0:
                continue
            # |a| w exp(-rate w) falls for w > 1/rate.
            rest = sum(((abs(p) * w + abs(q)) * (-r * w).exp() for r, p, q in parts[1:]), arb(0))
            if a * w + b > rest:
                return iv.upper_fraction(iv.up(w))
        return Sign(None, "a tail was not settled")

    def _boxes(self, parts: list[tuple[arb, arb, arb]], begin: Fraction, end: Fraction) -> Sign:
        stack = [(begin, end)]
        while stack:
            u, v = stack.pop()
            self.boxes += 1
            if self.boxes > _BOXES:
                return Sign(None, f"too many boxes near {float(u):.6g}")
            middle, half = (u + v) / 2, (v - u) / 2
            box = iv.rational(middle) + arb(0, iv.up(iv.rational(half)))
            at, slope = self._value(parts, iv.rational(middle)), self._derivative(parts, box)
            if at < 0:
                return Sign(False, "its derivative changes sign")
            if at + slope * arb(0, iv.up(iv.rational(half))) >= 0 or self._value(parts, box) >= 0:
                continue
            # From the near end up, and at first by powers of two.
            cut = middle if u > v / 4 or v <= 1 else max(u * 2, v / 16)
            cut = cut if u < cut < v else middle
            stack += [(cut, v), (u, cut)]
        return Sign(True, "")

    @staticmethod
    def _value(parts: list[tuple[arb, arb, arb]], w: arb) -> arb:
        return sum(((a * w + b) * (-r * w).exp() for r, a, b in parts), arb(0))

    @staticmethod
    def _derivative(parts: list[tuple[arb, arb, arb]], w: arb) -> arb:
        return sum(((a - r * (a * w + b)) * (-r * w).exp() for r, a, b in parts), arb(0))

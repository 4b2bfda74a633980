"""Families of gates in the form that lower bounds need, and the rows of a certificate.

A gate of K branches with one sharpness t is a quotient P/Q. With p_k = exp(t(x - theta_k)):

    K = 2:  Q = 1 + p_1,              P = L_1 + p_1 L_2,
    K = 3:  Q = 1 + p_1 + p_2 + p_1 p_2,
            P = L_1 + p_1 L_2 + p_2 (L_1 - L_2 + L_3) + p_1 p_2 L_3

for the lines L_k = slope_k x + intercept_k (multiply y = sum_k g_k L_k by Q). Divided by
exp(t x/2) or exp(t x), Q is a combination of *modes* exp(w t x) with coefficients c > 0: the
rates w are -1/2, 1/2, or -1, 0, 1. The outer modes have the outer lines in P; the middle one
any line at all, since L_2 and p_1/p_2 are free. So the sup error is at most e only if

    |f Q - P| <= e Q   with   Q = sum_j c_j exp(w_j t x),  P = sum_j c_j exp(w_j t x) (m_j x + b_j),

for some c_j >= 0, not all 0: for fixed t a condition that is linear in all other parameters,
the thresholds included. (For K = 3 it forgets that Q has real roots in exp(t x), so it may
admit more than gates: the bound stays a bound.)

Let f approach m x + n at an end. If the error is at most e, the outer slope there is m, and
the outer intercept b has |b - n| <= e (let x go to infinity). Now take witnesses x_i and
weights v_i; if there is a middle mode, with sum v_i = sum v_i x_i = 0. Summing v_i (fQ - P)(x_i)
gives sum_j c_j R_j <= 0 with, for b_j = n_j + s e, |s| <= 1,

    R_j(t, s) = sum_i [v_i (f(x_i) - m_j x_i - n_j - s e) - e |v_i|] exp(w_j t x_i),

and in the middle, where the weights annihilate the line, m = n = s = 0. R_j is linear in s. So:
*if R_j(t, -1) > 0 and R_j(t, 1) > 0 for all j, no gate of sharpness t has sup error <= e.*
An intercept that is given has s = 0. With a threshold h that is given (K = 2) the two modes have
the known ratio exp(t h), and only the sum of R_j exp(-w_j t h) must be positive.

A row is a sum of C_k exp(t y_k) with known numbers, a function of t alone. On [a, b] it is at least

    min(row(a), row(b)) - (b - a)^2/8 * max(0, sum_k C_k y_k^2 exp(t y_k) at its largest)

(the chord rule, each term of the second derivative bounded on its own). On [a, oo) it is
positive if, Y the largest y_k, sum_(y_k = Y) C_k + sum_(y_k < Y) min(0, C_k) exp(-a (Y - y_k)) > 0.

The hard gate of such a family has no smaller error than the infimum over t > 0, where f is
uniformly continuous: around a threshold the soft gate mixes the two neighbouring lines, both
within the hard gate's error of f up to its oscillation, and elsewhere it converges uniformly.

Source: the linear inequalities of generalised rational approximation (Cheney and Loeb 1961),
with Farkas' lemma; the sign condition on c replaces the positivity of the denominator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from flint import arb

from gateproof.numerics import interval as iv


@dataclass(frozen=True)
class End:
    """An outer branch: the target's asymptote, and whether the gate's intercept is free there."""

    slope: Fraction
    intercept: Fraction
    free: bool = True


@dataclass(frozen=True)
class Mode:
    """One term of Q: its rate, the line that P has there, and whether the intercept is free within e."""

    rate: Fraction
    slope: Fraction = Fraction(0)
    intercept: Fraction = Fraction(0)
    free: bool = False


@dataclass(frozen=True)
class Family:
    """Gates of two or three branches with one sharpness; ``theta`` may be given for two."""

    branches: int
    left: End
    right: End
    theta: Fraction | None = None

    def __post_init__(self) -> None:
        if self.branches not in (2, 3):
            raise ValueError(f"lower bounds are for 2 or 3 branches, not {self.branches}")
        if self.theta is not None and self.branches != 2:
            raise ValueError("a given threshold is for 2 branches")

    @property
    def middle(self) -> bool:
        """Whether P has a line of its own, which the weights must annihilate."""
        return self.branches == 3

    @property
    def crossing(self) -> Fraction | None:
        """Where the outer lines cross: two branches have the same value there for all thresholds."""
        if self.left.slope == self.right.slope:
            return None
        return (self.left.intercept - self.right.intercept) / (self.right.slope - self.left.slope)

    @property
    def modes(self) -> tuple[Mode, ...]:
        """Left, right, and the middle one."""
        rate = Fraction(self.branches - 1, 2)
        outer = tuple(
            Mode(sign * rate, end.slope, end.intercept, end.free)
            for sign, end in ((-1, self.left), (1, self.right))
        )
        return (*outer, Mode(Fraction(0))) if self.middle else outer

    @property
    def rows(self) -> tuple[tuple[tuple[Mode, int], ...], ...]:
        """Each row as its modes with the sign s of their intercept's shift."""
        pieces = [[(m, s) for s in ((-1, 1) if m.free else (0,))] for m in self.modes]
        if self.theta is not None:
            return tuple(product(*pieces))
        return tuple((piece,) for column in pieces for piece in column)


@dataclass(frozen=True)
class Weight:
    """A witness x, the ball of f there, and its weight."""

    x: Fraction
    value: arb
    weight: Fraction


def annihilates(weights: Sequence[Weight]) -> bool:
    """Whether the weights give 0 on every line, exactly."""
    return (
        sum((w.weight for w in weights), Fraction(0)) == 0
        and sum((w.weight * w.x for w in weights), Fraction(0)) == 0
    )


def excludes(
    family: Family, bound: Fraction, low: Fraction, high: Fraction | None, weights: Sequence[Weight]
) -> bool:
    """Whether no gate with low <= t <= high (None: all larger) has sup error at most ``bound``.

    Rigorous at the current precision; False says nothing.
    """
    if not weights or (family.middle and not annihilates(weights)):
        return False
    shift = family.theta or Fraction(0)
    powers = {m.rate: _powers(m.rate, low, high, weights, shift) for m in family.modes}
    for row in family.rows:
        terms: list[_Term] = []
        for mode, sign in row:
            coefficients = _coefficients(mode, sign, bound, weights)
            terms += [(c, *p) for c, p in zip(coefficients, powers[mode.rate], strict=True)]
        if not (_positive_far(terms, low) if high is None else _positive(terms, low, high)):
            return False
    return True


#: Coefficient, exponent y, exp(low y), exp(high y).
_Term = tuple[arb, Fraction, arb, arb]


def _powers(
    rate: Fraction, low: Fraction, high: Fraction | None, weights: Sequence[Weight], shift: Fraction
) -> list[tuple[Fraction, arb, arb]]:
    found = []
    for w in weights:
        y = rate * (w.x - shift)
        if high is None:
            found.append((y, iv.ONE, iv.ONE))
        else:
            found.append((y, iv.rational(low * y).exp(), iv.rational(high * y).exp()))
    return found


def _coefficients(mode: Mode, sign: int, bound: Fraction, weights: Sequence[Weight]) -> list[arb]:
    return [
        iv.rational(w.weight) * (w.value - iv.rational(mode.slope * w.x + mode.intercept + sign * bound))
        - iv.rational(bound * abs(w.weight))
        for w in weights
    ]


def _positive(terms: Sequence[_Term], low: Fraction, high: Fraction) -> bool:
    """The chord rule."""
    at_low = sum((c * p for c, _, p, _ in terms), arb(0))
    at_high = sum((c * q for c, _, _, q in terms), arb(0))
    if not (at_low > 0 and at_high > 0):
        return False
    bend = arb(0)
    for c, y, p, q in terms:
        growing = p.union(q)
        bend += (c * growing * iv.rational(y * y)).upper()
    if bend <= 0:
        return True
    sag = iv.rational((high - low) ** 2 / 8) * bend
    return bool(at_low > sag and at_high > sag)


def _positive_far(terms: Sequence[_Term], low: Fraction) -> bool:
    """The dominant term's rule on [low, oo)."""
    top = max(y for _, y, _, _ in terms)
    total = arb(0)
    for c, y, _, _ in terms:
        if y == top:
            total += c
        elif not c > 0:
            total += min(iv.down(c), iv.ZERO) * iv.rational(-low * (top - y)).exp()
    return bool(total > 0)

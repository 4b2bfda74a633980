"""A gate in the numbers of one floating format, about a centre that keeps digits.

With t = x - h each line is slope t + v, v = intercept + slope h, and each threshold theta - h, taken exactly
and rounded once. h = 0 wherever 0 is among the thresholds. Where the gate's features are far from 0 on their
own scale (theta = 10**6, tau = 1) h is a float in their middle: slope x + intercept would cancel there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise

from gateproof.numerics.fits.exports.formats import (
    SINGLE,
    Floating,
    RefusedExport,
    bounds,
    nearest,
    rounded,
    settled,
)
from gateproof.theory.formula.nodes import App, Expr, Num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.gate import Gate

#: exp(-z) is 0 in double from z = 746.
GONE = 1000
#: Zero counts as among the thresholds within so many widths 1/tau.
NEAR = 16


@dataclass(frozen=True)
class Form:
    """``theta`` is relative to the centre for soft thresholds, and that of x itself for hard ones (``hard``).

    A hard threshold is rounded downwards: x > theta is then decided exactly for every x of the format.
    ``shared[k]``: thresholds k and k + 1 (from 0) have the same sharpness, and ``apart[k]`` is
    1 - exp(-tau (theta_(k+1) - theta_k)), else None. ``reach``: all gates are 0 or 1
    where |t| and |x| exceed it.
    """

    gate: Gate
    floating: Floating
    hard: tuple[bool, ...]
    centre: float
    tau: tuple[float, ...]
    theta: tuple[float, ...]
    slope: tuple[float, ...]
    intercept: tuple[float, ...]
    shared: tuple[bool, ...]
    apart: tuple[float | None, ...]
    reach: float

    @property
    def branches(self) -> int:
        """K."""
        return len(self.slope)

    @property
    def one_sharpness(self) -> bool:
        """All of two or more thresholds are soft and equally sharp."""
        return len(self.tau) > 1 and not any(self.hard) and all(self.shared)

    @property
    def near(self) -> float:
        """A distance |t|, to one digit, within which all but e**-10 of every gate's change happens."""
        far = [
            abs(h) + (1.0 if steep else 10 / t)
            for t, h, steep in zip(self.tau, self.theta, self.hard, strict=True)
        ]
        return float(f"{max(far, default=1.0):.1g}")

    def size(self, t: float) -> float:
        """A at a distance |t| from the centre: the largest |slope t| + |intercept|."""
        return max(abs(s * t) + abs(c) for s, c in zip(self.slope, self.intercept, strict=True))

    @property
    def rounding(self) -> int:
        """N, such that the computed value differs from the exact gate's by at most N u A(x).

        u is the unit roundoff, A(x) the largest |slope_k t| + |intercept_k|; first order in u, exp, expm1 and
        log1p within 1 ulp, no underflow of a parameter or a product. Of an argument z of a sigmoid, with the
        rounding of tau, theta, t and of two operations, |dz| <= u (4 |z| + 2 tau |theta|), and
        S (1 - S) |z| <= 0.224, S (1 - S) <= 1/4, each times a jump <= 2 A. A sigmoid is within 5 u, a gate of
        two with its third factor within 13 u, the sum of K lines within (K + 4) u of the sum of the |terms|.
        """
        n, soft = self.branches, [k for k, hard in enumerate(self.hard) if not hard]
        arguments = sum(1.8 + self.tau[k] * abs(self.theta[k]) for k in soft)
        if self.gate.algebra == "difference" or n <= 2:
            unequal = any(a is None for a in self.apart)
            found = (n + 17) * (n if unequal else 1) + arguments
        elif self.gate.algebra == "stick":
            found = 7 * n + 4 + arguments
        else:
            # Each softplus on the way to an argument adds 4 u of it.
            found = 7 * n + 4 + 4 * n * arguments
        return math.ceil(found)


def form_of(gate: Gate, floating: Floating) -> Form:
    """The gate in a floating format. Raises RefusedExport where its numbers do not fit, or tau <= 0."""
    hard = gate.hard
    for place, (t, steep) in enumerate(zip(gate.tau, hard, strict=True), 1):
        if not steep and bounds(t)[0] <= 0:
            raise RefusedExport(f"sharpness {place} is {to_text(t)}; it must be positive, or oo")
    centre = _centre(gate, hard)
    tau = tuple(math.inf if steep else nearest(t, floating) for t, steep in zip(gate.tau, hard, strict=True))
    if not all(tau):
        raise RefusedExport(f"a sharpness is too small for {floating.name}")
    theta = tuple(
        settled(partial(_less, h, 0.0 if steep else centre), floating, down=steep)
        for h, steep in zip(gate.theta, hard, strict=True)
    )
    slope = tuple(nearest(s, floating) for s in gate.slope)
    intercept = tuple(
        settled(partial(_at, s, c, centre), floating) for s, c in zip(gate.slope, gate.intercept, strict=True)
    )
    shared = tuple(not (a or b) and s == t for (a, s), (b, t) in pairwise(zip(hard, gate.tau, strict=True)))
    apart = tuple(
        _apart(gate.tau[k], gate.theta[k], gate.theta[k + 1], floating) if same else None
        for k, same in enumerate(shared)
    )
    return Form(
        gate,
        floating,
        hard,
        centre,
        tau,
        theta,
        slope,
        intercept,
        shared,
        apart,
        _reach(hard, tau, theta, floating),
    )


def _less(node: Expr, centre: float, bits: int) -> tuple[Fraction, Fraction]:
    lo, hi = bounds(node, bits)
    return lo - Fraction(centre), hi - Fraction(centre)


def _at(slope: Expr, intercept: Expr, centre: float, bits: int) -> tuple[Fraction, Fraction]:
    """Bounds of slope centre + intercept."""
    (a, b), (c, d), h = bounds(slope, bits), bounds(intercept, bits), Fraction(centre)
    return min(a * h, b * h) + c, max(a * h, b * h) + d


def _apart(tau: Expr, low: Expr, high: Expr, floating: Floating) -> float | None:
    """1 - exp(-tau (high - low)); None where the thresholds are not in order."""
    if bounds(high)[1] < bounds(low)[0]:
        return None
    gap = App("mul", (tau, App("add", (low, App("neg", (high,))))))
    lost = App("neg", (App("exp", (gap,)),))
    return nearest(App("add", (Num(Fraction(1)), lost)), floating)


def _centre(gate: Gate, hard: tuple[bool, ...]) -> float:
    """0, or a float of single precision in the middle of thresholds that all lie far on one side of it.

    Far is by the widths 1/tau, and for hard thresholds by how far the thresholds are apart.
    """
    theta = [bounds(t)[0] for t in gate.theta]
    if not theta:
        return 0.0
    span = max(theta) - min(theta)
    width = [NEAR * (span if steep else 1 / bounds(t)[0]) for t, steep in zip(gate.tau, hard, strict=True)]
    low = min(t - w for t, w in zip(theta, width, strict=True))
    high = max(t + w for t, w in zip(theta, width, strict=True))
    return rounded(sorted(theta)[len(theta) // 2], SINGLE) if low > 0 or high < 0 else 0.0


def _reach(
    hard: tuple[bool, ...], tau: tuple[float, ...], theta: tuple[float, ...], floating: Floating
) -> float:
    """A power of two, 2**10 times where the last gate is 0 or 1 to every digit."""
    width = [Fraction(0) if steep else GONE / Fraction(t) for t, steep in zip(tau, hard, strict=True)]
    far = max((Fraction(abs(h)) + w for h, w in zip(theta, width, strict=True)), default=Fraction(0)) + 1
    reach = Fraction(2) ** (far.numerator.bit_length() - far.denominator.bit_length() + 11)
    steepest = max(
        (Fraction(t) for t, steep in zip(tau, hard, strict=True) if not steep), default=Fraction(1)
    )
    if 4 * reach * max(steepest, Fraction(1)) > floating.largest:
        raise RefusedExport(
            f"the gate's sharpnesses and thresholds are too far apart in size for {floating.name}"
        )
    return float(reach)

"""Thresholds of the two-sided gate for wanted zero rates of a normal input, enclosed."""

from __future__ import annotations

from fractions import Fraction

from gateproof.numerics.points import difference_sign
from gateproof.theory.folding import exact
from gateproof.theory.formula import expand
from gateproof.theory.formula.nodes import Num
from gateproof.theory.two_sided import zero_rate


def threshold_for_rate(rate: Fraction, digits: int = 15) -> tuple[Fraction, Fraction]:
    """Bounds of D/s with P(|x| <= D) = rate, as wide as 10**-digits at most.

    This is the rate-quantile of |x|, not of x: the rate-quantile of a centred x is negative for
    rates below 1/2. Domain: 0 < rate < 1. Bisection on exact fractions: the rate increases
    strictly, and every comparison is certified.
    """
    rate = exact(rate)
    if not 0 < rate < 1:
        raise ValueError("a rate strictly between 0 and 1")
    curve = expand(zero_rate())

    def below(d: Fraction) -> bool:
        """Whether the rate at d is certainly below the wanted one; raises where it cannot be told."""
        sign = difference_sign(curve, Num(rate), {"D": d, "s": Fraction(1)})
        if sign is None:
            raise ArithmeticError("the rates cannot be told apart")
        return sign < 0

    lo, hi = Fraction(0), Fraction(1)
    while below(hi):
        lo, hi = hi, 2 * hi
    while hi - lo > Fraction(1, 10**digits):
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if below(middle) else (lo, middle)
    return lo, hi

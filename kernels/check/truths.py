"""Exact values of a formula at many floating-point inputs.

In float64 first: the formula's own stable form errs by a few units of 2**-53. Where such an error could change
a rounding, and at a sample of all places, balls decide; a float64 value that is off by more than it may be is a
fault of the formula's form and is raised, not hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import flint
import numpy as np
from numpy.typing import NDArray

from gateproof.kernels.check.rounding import Format, near_tie, rounded
from gateproof.numerics.backends.formula import Formula, formula
from gateproof.numerics.errors import NumericsError

Array = NDArray[np.float64]
#: Relative error that the float64 form may have, against the size of its terms.
DOUBLE = 2.0**-40
_SAMPLE, _DIGITS = 64, 106


class FormError(ArithmeticError):
    """A float64 value that balls contradict."""


@dataclass(frozen=True)
class Truth:
    """A formula of one variable x, or its derivative."""

    text: str
    order: int = 0

    @cached_property
    def formula(self) -> Formula:
        """The formula, or its derivative by the convention at kinks."""
        found = formula(self.text)
        for _ in range(self.order):
            found = found.gradient("x")
        return found

    def ball(self, x: float) -> flint.arb | None:
        """An enclosure at a finite input; None where there is no value."""
        with flint.ctx.workprec(_DIGITS):
            try:
                return self.formula.ball(Fraction(x))
            except (NumericsError, ValueError):
                return None

    def values(self, x: Array) -> Array:
        """Values in float64; limits at infinite inputs."""
        with np.errstate(all="ignore"):
            return np.asarray(self.formula.numpy(x), dtype=np.float64)

    def rounded(self, x: Array, form: Format) -> Array:
        """Correctly rounded values."""
        values = self.values(x)
        found = rounded(values, form)
        doubtful = near_tie(values, form, DOUBLE) & np.isfinite(x)
        for i in np.flatnonzero(doubtful):
            ball = self.ball(float(x[i]))
            if ball is not None:
                found[i] = _of_ball(ball, form, found[i])
        self._compare(x, values)
        return found

    def _compare(self, x: Array, values: Array) -> None:
        finite = np.flatnonzero(np.isfinite(x) & np.isfinite(values))
        for i in finite[:: max(1, len(finite) // _SAMPLE)]:
            ball = self.ball(float(x[i]))
            if ball is None:
                continue
            gap = abs(float(ball.mid()) - values[i])
            if gap > DOUBLE * max(abs(values[i]), 2.0**-1000):
                raise FormError(f"{self.formula.text} at {x[i]!r}: {values[i]!r} in float64, {ball} in balls")


def _of_ball(ball: flint.arb, form: Format, fallback: float) -> float:
    """A ball's middle rounded; ties are exact values, which the float64 rounding has right already."""
    middle = float(ball.mid())
    if ball.rad() == 0 or ball.is_exact():
        return float(rounded(np.array([middle]), form)[0])
    ends = [float(ball.lower()), float(ball.upper())]
    found = rounded(np.array(ends), form)
    return float(found[0]) if found[0] == found[1] else fallback


"""Exact values of a formula, or of one of its derivatives, at many floating-point inputs.

Values are computed in float64, where the formula's own stable form errs by a few units of 2**-53. Balls
decide where such an error could change a rounding, and are held against a sample of all places: a float64
value that is off by more than it may be is a fault of the form and is raised, not hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import flint
import numpy as np
from numpy.typing import NDArray

from gateproof.kernels.check.rounding import Format, near_tie, rounded, unit
from gateproof.kernels.check.sizes import size
from gateproof.numerics.backends.formula import Formula, formula
from gateproof.numerics.backends.normal import normal
from gateproof.numerics.backends.partial import first_partial
from gateproof.numerics.errors import NumericsError

Array = NDArray[np.float64]
#: Error that the float64 form may have, against the size of its terms: below a thousandth of a unit in the
#: last place of float32.
DOUBLE = 2.0**-34
_BITS = 106


class FormError(ArithmeticError):
    """A float64 value that balls contradict."""


@dataclass(frozen=True)
class Truth:
    """A formula of ``names``; with ``by`` its derivative in that name, by the convention at kinks."""

    text: str
    names: tuple[str, ...]
    by: str = ""

    @cached_property
    def formula(self) -> Formula:
        """The formula, or its derivative."""
        found = formula(self.text)
        return found.gradient(self.by) if self.by else found

    def values(self, inputs: Sequence[Array]) -> Array:
        """Values in float64; limits at infinite inputs."""
        given = dict(zip(self.names, inputs, strict=True))
        with np.errstate(all="ignore"):
            return np.asarray(self.formula.numpy(**given), dtype=np.float64)

    def sizes(self, inputs: Sequence[Array]) -> tuple[Array, Array]:
        """The sum of the absolute terms, and what an underflow of a factor is multiplied by."""
        core = normal(formula(self.text)._core)
        expr = first_partial(core, self.by)[0] if self.by else core
        shape = inputs[0].shape
        found, magnified = size(expr, self.names, inputs)
        return np.broadcast_to(found, shape), np.broadcast_to(magnified, shape)

    def ball(self, point: Sequence[float]) -> flint.arb | None:
        """An enclosure at finite inputs; None where there is no value."""
        given = {n: Fraction(float(v)) for n, v in zip(self.names, point, strict=True)}
        before = flint.ctx.prec
        flint.ctx.prec = _BITS
        try:
            found: flint.arb = self.formula.ball(**given)
            return found
        except (NumericsError, ValueError):
            return None
        finally:
            flint.ctx.prec = before

    def in_balls(self, inputs: Sequence[Array], values: Array, places: NDArray[np.int64]) -> Array:
        """The values with those at some places from balls."""
        found = np.array(values)
        for i in places:
            point = [float(x[i]) for x in inputs]
            ball = self.ball(point) if np.isfinite(point).all() else None
            if ball is not None and ball.is_finite():
                found[i] = float(ball.mid())
        return found

    def compare(
        self, inputs: Sequence[Array], values: Array, sizes: Array, places: NDArray[np.int64]
    ) -> None:
        """Hold float64 values against balls at some places. Raises FormError."""
        for i in places:
            point = [float(x[i]) for x in inputs]
            if not np.isfinite([*point, float(values[i])]).all():
                continue
            ball = self.ball(point)
            if ball is None or not ball.is_finite():
                continue
            gap = abs(float(ball.mid() - flint.arb(float(values[i]))))
            # A zero of float64 stands for less than its smallest number.
            if gap > DOUBLE * max(float(sizes[i]), abs(float(ball.mid()))) + 2.0**-1060:
                raise FormError(
                    f"{self.formula.text} at {point}: {values[i]!r} in float64, {ball.str(17)} in balls"
                )

    def rounded(self, inputs: Sequence[Array], values: Array, form: Format) -> Array:
        """The values correctly rounded; near ties by balls."""
        found = rounded(values, form)
        finite = np.all([np.isfinite(x) for x in inputs], axis=0)
        for i in np.flatnonzero(near_tie(values, form, DOUBLE) & finite):
            ball = self.ball([float(x[i]) for x in inputs])
            if ball is not None:
                found[i] = of_ball(ball, form, found[i])
        return found


def of_ball(ball: flint.arb, form: Format, fallback: float) -> float:
    """A ball rounded: beside a tie by its side; one of 106 bits that holds a tie is that tie."""
    middle = float(ball.mid())
    half = float(unit(np.array(middle), form)) / 2
    tie = float(np.rint(middle / half)) * half
    if not np.isfinite(middle):
        return fallback
    if ball > flint.arb(tie):
        middle = tie + half / 2
    elif ball < flint.arb(tie):
        middle = tie - half / 2
    else:
        middle = tie
    return float(rounded(np.array(middle), form))

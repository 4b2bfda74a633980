"""Closed forms of means over a pair in balls: sines, cosines, exponentials, polynomials and the bell.

Where these choose between two formulas both are right for all arguments, so that a ball across the border
loses digits only. The forms of error functions and lines choose by a sign, and are not used.
"""

from __future__ import annotations

from typing import Any, cast

from flint import arb, ctx

from gateproof.numerics.ball import evaluate
from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.closed_forms import closed_form
from gateproof.numerics.meanfield.closed_forms_bell import Bell
from gateproof.numerics.meanfield.closed_forms_polynomial import Polynomial
from gateproof.numerics.meanfield.closed_forms_space import Space
from gateproof.numerics.meanfield.closed_forms_waves import Exponential, Waves
from gateproof.theory.formula.nodes import Expr

PairForm = Waves | Exponential | Polynomial | Bell


class BallSpace:
    """What those forms use, at flint's precision of the moment."""

    sqrt, exp = staticmethod(arb.sqrt), staticmethod(arb.exp)
    expm1, log1p = staticmethod(arb.expm1), staticmethod(arb.log1p)

    def number(self, value: Expr) -> arb:
        """A closed expression."""
        return evaluate(value, {}, ctx.prec + 32)

    def where(self, condition: Any, a: arb, b: arb) -> arb:
        """a where the condition is seen to hold, else b: either is right."""
        return a if condition else b

    def sided(self, c: arb) -> tuple[int, arb]:
        """A sign, and c times it, which may be negative where c reaches 0."""
        return (1, c) if c >= 0 else (-1, -c)


def pair_form(phi: Phi) -> PairForm | None:
    """The form with numbers of flint's precision of the moment, or None."""
    make = closed_form(phi)
    if make is None or len(phi.branches) > 1:
        return None
    form = make(cast("Space", BallSpace()))
    return form if isinstance(form, PairForm) else None

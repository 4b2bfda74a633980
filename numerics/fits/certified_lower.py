"""The proved lower bound beside a fit, where there is one: no gate of the family asked for is closer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.fits.request import Request
from gateproof.numerics.fits.target import Target
from gateproof.numerics.lower_bound import SMALLEST, LowerBound, family_of, prove
from gateproof.numerics.lower_bound_units import units_of
from gateproof.theory.formula.powers import constant_value

#: Relative distances from the error found that are tried, and boxes for each: most need 30, and a box that no
#: bound excludes ends the search at once.
STEPS, BOXES = (1e-4, 1e-3), {2: 300, 3: 1_500}
#: Halvings of the error, and then of the quotient 2 between what is proved and what is not, where a bound is
#: further below. Only a relaxation's optimum is: thresholds may be complex there.
HALVED, CLOSER = 5, 6

Bound = tuple[Fraction, Mapping[str, Any] | None]


def proved_lower_bound(
    target: Target, request: Request, branches: int, ends: str, near: float
) -> Bound | str:
    """A bound below every error of the family and its certificate, or why none is known.

    ``near`` is the least error that was found: bounds a little below it are tried first, which saves the
    search for the optimum.
    """
    if target.expr is None:
        return "the target is no formula"
    if target.lo is not None or target.hi is not None:
        return "lower bounds are for all of R"
    if request.norm != "sup" or request.weight is not None:
        return "lower bounds are for the plain supremum"
    if branches == 1:
        return "there is no choice: both ends are one line"
    one_tau = request.sharpness == "shared" or branches == 2
    if branches > 3 or not one_tau or (branches == 3 and request.gates != "difference"):
        return "lower bounds are known for two and three branches with one sharpness"
    fixed: dict[str, Fraction] = {}
    if ends == "pinned":
        for side, line in (("left", target.left), ("right", target.right)):
            value = None if line is None else constant_value(line.intercept)
            if value is None:
                return "the asymptotes are not rational"
            fixed[side] = value
    family = family_of(target.expr, "x", branches, **fixed)
    if isinstance(family, str):
        return family
    least = SMALLEST * float(units_of(target.expr, "x").height)
    if near <= least:
        return f"errors below {least:.1g} are not looked into"
    expr, boxes = target.expr, BOXES[branches]
    best = _nearest(lambda bound: prove(expr, "x", family, bound, boxes=boxes), near)
    if best.value is None:
        return best.reason or "nothing was proved"
    return best.value, best.certificate


def _nearest(proved: Callable[[Fraction], LowerBound], near: float) -> LowerBound:
    """The highest bound below ``near`` that is proved."""
    found = LowerBound("unknown")
    for step in STEPS:
        found = proved(short(near * (1 - step)))
        if found.value is not None:
            return found
    high = low = near
    for _ in range(HALVED):
        high, low = low, low / 2
        found = proved(short(low))
        if found.value is not None:
            break
    else:
        return found
    for _ in range(CLOSER):
        middle = (low * high) ** 0.5
        closer = proved(short(middle))
        if closer.value is None:
            high = middle
        else:
            low, found = middle, closer
    return found


def short(value: float) -> Fraction:
    """A decimal of 12 significant digits near the value."""
    return Fraction(f"{value:.11e}")

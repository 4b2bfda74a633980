"""Choosing where the right or left tail of an expression begins."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from gateproof.numerics.certificate import Bounds
from gateproof.theory.exact.tails import Expansion, Growing, NoForm, Term, tail_bounds, tail_form
from gateproof.theory.formula.nodes import Expr

STARTS = tuple(Fraction(n) for n in (2, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 1024, 2**14, 2**20))


def doubled(form: Expansion | Growing) -> Expansion | Growing:
    """The form with twice the remainder: a checker's constants may be a little worse than ours."""
    if isinstance(form, Growing):
        return form
    return replace(form, remainder=tuple(Term(2 * t.c, t.k, t.a) for t in form.remainder))


def find_cut(expr: Expr, var: str, side: str, bounds: Bounds, beyond: Fraction) -> Fraction | str:
    """The start M >= beyond of a tail on which the bounds hold (for side '-': x <= -M), or the reason why none."""
    reason = "no tail form"
    starts = [s for s in STARTS if s > beyond] or [beyond * 2]
    for start in starts:
        form = tail_form(expr, var, side, start)
        if isinstance(form, NoForm):
            reason = form.reason
            continue
        if respects(form, bounds, start):
            return start
        reason = "the bound is not cleared far out"
        if isinstance(form, Growing):
            sign = form.sign
            if (sign > 0 and bounds.upper is not None) or (sign < 0 and bounds.lower is not None):
                return "grows past the bound"
    return reason


def respects(form: Expansion | Growing, bounds: Bounds, start: Fraction) -> bool:
    """Whether the tail from ``start`` keeps the bounds, with room to spare."""
    lo, hi = tail_bounds(doubled(form), start)
    if bounds.upper is not None:
        if hi is None or hi > bounds.upper or (bounds.upper_strict and hi >= bounds.upper):
            return False
    if bounds.lower is not None:
        if lo is None or lo < bounds.lower or (bounds.lower_strict and lo <= bounds.lower):
            return False
    return True

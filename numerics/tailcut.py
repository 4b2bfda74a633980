"""Choosing where the right or left tail of an expression begins."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import compiled
from gateproof.numerics.certificate import Bounds
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.precision import precision
from gateproof.theory.exact.tail_levels import slow_sign
from gateproof.theory.exact.tails import (
    Expansion,
    Growing,
    NoForm,
    Term,
    tail_bounds,
    tail_form,
    tail_sign,
)
from gateproof.theory.formula.nodes import App, Expr, Num

STARTS = tuple(Fraction(n) for n in (2, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 1024))
#: For formulas in large units, as 10**6 gelu(x/10**6), and shifted ones.
FARTHER = tuple(Fraction(2) ** k for k in (12, 15, 18, 21, 24, 27, 30, 40))
#: A start with so many times the remainder to spare is taken if it is at most _LATER times as far out.
_SPARE, _LATER = 8, 8


def starts_beyond(beyond: Fraction) -> list[Fraction]:
    """Ascending starts of tails past a number > 0."""
    found = [s for s in (*STARTS, *FARTHER) if s > beyond]
    return found if len(found) > 2 else [beyond * 2, beyond * 8, beyond * 64]


def doubled(form: Expansion | Growing, times: int = 2) -> Expansion | Growing:
    """The form with twice the remainder: a checker's constants may be a little worse than ours."""
    if isinstance(form, Growing):
        return form
    return replace(form, remainder=tuple(Term(times * t.c, t.k, t.a) for t in form.remainder))


def find_cut(expr: Expr, var: str, side: str, bounds: Bounds, beyond: Fraction) -> Fraction | str:
    """The start M > beyond of a tail on which the bounds hold, or the reason why there is none.

    For side '-' the tail is x <= -M. A checker with wider terms than ours may not see the bounds from the
    first M on; one a little farther out is taken where they hold with much room.
    """
    reason = "no tail form"
    clear = _Clear(expr, var, side, bounds)
    first: Fraction | None = None
    starts = starts_beyond(beyond)
    for start in _promising(expr, var, side, bounds, starts):
        if first is not None and start > _LATER * first:
            break
        form = _form(expr, var, side, start)
        if isinstance(form, NoForm):
            reason = form.reason
            continue
        if _roomy(form, bounds, start, _SPARE):
            return start
        if first is None and respects(form, bounds, start, clear):
            first = start
        reason = "the bound is not cleared far out"
        if isinstance(form, Growing):
            sign = form.sign
            if (sign > 0 and bounds.upper is not None) or (sign < 0 and bounds.lower is not None):
                return "grows past the bound"
    if first is None:
        return reason
    # By a sign alone, where the bounds are not the limit: farther out a checker sees the sign as well.
    for start in (s for s in starts if 2 * first <= s <= _LATER * first):
        value, form = _value_at(expr, var, side, start), _form(expr, var, side, start)
        if value is None or isinstance(form, NoForm) or not _inside(value, bounds):
            break
        if respects(form, bounds, start, clear):
            return start
    return first


def _inside(value: arb, bounds: Bounds) -> bool:
    """Whether a value is an eighth of each bound away from it."""
    gaps = [
        sign * (iv.rational(b) - value) - abs(iv.rational(b)) / 8
        for b, sign in ((bounds.upper, 1), (bounds.lower, -1))
        if b is not None
    ]
    return all(gap > 0 for gap in gaps)


def _value_at(expr: Expr, var: str, side: str, start: Fraction) -> arb | None:
    """The value where the tail begins; None if there is no finite one."""
    x = iv.rational(start if side == "+" else -start)
    try:
        value = iv.to_ball(compiled(expr)({var: (iv.down(x), iv.up(x))}))
    except NumericsError:
        return None
    return value if value.is_finite() else None


#: The same formula is looked at for its value, its certificate, and again to more digits.
_form = lru_cache(maxsize=1024)(tail_form)


def _promising(expr: Expr, var: str, side: str, bounds: Bounds, starts: list[Fraction]) -> list[Fraction]:
    """The starts from the first on at which twice the distance from the limit keeps the bounds.

    A guess that saves proofs bound to fail, and a proof by signs alone that a checker with wider
    terms would not find: a remainder is about as large as the distance from the limit.
    """
    with precision(128):
        limit = _value_at(expr, var, side, starts[-1])
        # The last one stands for infinity; where the bound is the limit itself, only signs can tell.
        for k, start in enumerate(starts[:-1]):
            value = _value_at(expr, var, side, start)
            if limit is None or value is None:
                break
            room = 2 * abs(value - limit)
            over = bounds.upper is not None and not limit + room < iv.rational(bounds.upper)
            under = bounds.lower is not None and not limit - room > iv.rational(bounds.lower)
            if not over and not under:
                return starts[k:]
    return starts


class _Clear:
    """Whether the leading part of expr - bound has the right sign from a start on."""

    def __init__(self, expr: Expr, var: str, side: str, bounds: Bounds) -> None:
        self.var, self.side = var, side
        self.gaps = {
            name: App("add", (expr, Num(-value)))
            for name, value in (("upper", bounds.upper), ("lower", bounds.lower))
            if value is not None
        }

    def holds(self, name: str, start: Fraction, strict: bool) -> bool:
        """Whether the bound of that name holds by the sign of the difference."""
        sign = tail_sign(self.gaps[name], self.var, self.side, start)
        if sign is None:
            # Exponentials of polynomials apart from each other: Gaussians beside exp(-x).
            sign = slow_sign(self.gaps[name], self.var, self.side, start)
        if sign is None or (sign == 0 and strict):
            return False
        return sign <= 0 if name == "upper" else sign >= 0


def _roomy(form: Expansion | Growing, bounds: Bounds, start: Fraction, times: int) -> bool:
    """Whether the tail from ``start`` keeps the bounds with so many times the remainder."""
    lo, hi = tail_bounds(doubled(form, times), start)
    return (bounds.upper is None or (hi is not None and hi < bounds.upper)) and (
        bounds.lower is None or (lo is not None and lo > bounds.lower)
    )


def respects(form: Expansion | Growing, bounds: Bounds, start: Fraction, clear: _Clear) -> bool:
    """Whether the tail from ``start`` keeps the bounds, with room to spare or by a sign."""
    lo, hi = tail_bounds(doubled(form), start)
    above = bounds.upper is None or (hi is not None and hi < bounds.upper)
    below = bounds.lower is None or (lo is not None and lo > bounds.lower)
    return (above or clear.holds("upper", start, bounds.upper_strict)) and (
        below or clear.holds("lower", start, bounds.lower_strict)
    )

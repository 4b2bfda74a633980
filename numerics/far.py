"""The tails of a supremum: left out below the best value, approached, or unbounded."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.numerics.certificate import Bounds
from gateproof.numerics.tailcut import STARTS, find_cut, starts_beyond
from gateproof.theory.exact.tail_levels import far_sign
from gateproof.theory.exact.tails import Expansion, NoForm, limit, tail_bounds, tail_form
from gateproof.theory.formula.nodes import App, Expr, Num


@dataclass(frozen=True)
class Far:
    """A tail x >= start (side '-': x <= -start).

    ``kind``: 'below' (all scores under the best), 'limit' (scores below ``value`` and
    tending to it), 'constant' (equal to ``value``), 'within' (scores at most
    ``value[1]``, tending to something in ``value``), 'infinite', or 'unknown'.
    """

    side: str
    start: Fraction
    kind: str
    value: tuple[Fraction, Fraction] | None = None
    reason: str = ""


def look(expr: Expr, var: str, side: str, folded: bool, best: Fraction, beyond: Fraction, digits: int) -> Far:
    """What the tail of f (or |f| where ``folded``) means for a supremum of at least ``best``."""
    found = _below(expr, var, side, folded, best, beyond)
    if found is not None:
        return found
    start = max(s for s in (*(s for s in STARTS if s <= 64), beyond * 2) if s > beyond)
    form = tail_form(expr, var, side, start)
    for start in (s for s in starts_beyond(beyond) if s > start):
        if not isinstance(form, NoForm):
            break
        form = tail_form(expr, var, side, start)
    if isinstance(form, NoForm):
        return Far(side, start, "unknown", reason=form.reason)
    end = limit(form)
    if end == "oo" or (end == "-oo" and folded):
        return Far(side, start, "infinite")
    if isinstance(end, Fraction):
        sign = 1 if end > 0 or not folded else -1
        if end or not folded:
            gap = App("add", (expr, Num(-end)))
            for s in starts_beyond(beyond):
                order = far_sign(gap, var, side, s)
                if order is not None and order * sign <= 0:
                    kind = "limit" if order else "constant"
                    return Far(side, s, kind, (sign * end, sign * end))
    if isinstance(form, Expansion):
        return _within(expr, var, side, folded, beyond, digits)
    return Far(side, start, "unknown", reason="the tail's limit was not found")


def _below(expr: Expr, var: str, side: str, folded: bool, best: Fraction, beyond: Fraction) -> Far | None:
    bounds = Bounds(-best if folded else None, best, lower_strict=True, upper_strict=True)
    cut = find_cut(expr, var, side, bounds, beyond)
    return None if isinstance(cut, str) else Far(side, cut, "below")


def _within(expr: Expr, var: str, side: str, folded: bool, beyond: Fraction, digits: int) -> Far:
    """The limit to as many digits as the remainder allows far out."""
    best: Far | None = None
    for start in (*starts_beyond(beyond), max(beyond * 128, Fraction(2**60))):
        form = tail_form(expr, var, side, start)
        if isinstance(form, NoForm):
            continue
        lo, hi = tail_bounds(form, start)
        if lo is None or hi is None:
            continue
        if folded:
            lo, hi = (lo, hi) if lo > 0 else ((-hi, -lo) if hi < 0 else (Fraction(0), max(-lo, hi)))
        if best is not None and best.value is not None and hi - lo > (best.value[1] - best.value[0]) * 9 / 10:
            # A wave: going farther out only makes the compact part longer.
            break
        best = Far(side, start, "within", (lo, hi))
        if hi - lo <= abs(hi) / 10 ** (digits + 2):
            break
    return best or Far(side, beyond, "unknown", reason="the tail is not bounded")

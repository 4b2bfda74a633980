"""Where the tails of one name start, the other names being constants in their intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from gateproof.numerics.certificate import Bounds
from gateproof.theory.exact.tails import (
    Expansion,
    Fixed,
    Growing,
    NoForm,
    limit,
    tail_bounds,
    tail_form,
    tail_sign,
)
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num

STARTS = tuple(
    Fraction(n) for n in (2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 1024, 2**12, 2**14, 2**17, 2**20)
)


def cut(
    expr: Expr,
    var: str,
    side: str,
    fixed: Mapping[str, tuple[Fraction, Fraction]],
    bounds: Bounds,
    beyond: Fraction,
    starts: Sequence[Fraction] = STARTS,
) -> Fraction | str:
    """The first start M >= ``beyond`` of a tail on which the bounds hold, or why there is none.

    A bound holds where the tail form keeps it, or where the sign of the difference is decided.
    """
    far = substitute(expr, {n: Fixed(*ends) for n, ends in fixed.items()})
    gaps = [
        (App("add", (far, Num(-value))), sign, strict)
        for value, sign, strict in (
            (bounds.upper, 1, bounds.upper_strict),
            (bounds.lower, -1, bounds.lower_strict),
        )
        if value is not None
    ]
    reason = "no tail form"

    def holds(start: Fraction) -> bool:
        nonlocal reason
        form = tail_form(far, var, side, start)
        if isinstance(form, NoForm):
            reason = form.reason
            return False
        reason = "the bound is not cleared far out"
        return _within(form, start, bounds) or all(
            _signed(tail_sign(gap, var, side, start), sign, strict) for gap, sign, strict in gaps
        )

    found = _first(holds, [s for s in starts if s >= beyond] or [2 * beyond])
    return reason if found is None else found


def _first(holds: Callable[[Fraction], bool], starts: list[Fraction]) -> Fraction | None:
    """The first start that holds, if what holds from one start on holds from the later ones on."""
    low, high, found = 0, len(starts) - 1, None
    while low <= high:
        middle = (low + high) // 2
        if holds(starts[middle]):
            found, high = starts[middle], middle - 1
        else:
            low = middle + 1
    return found


def bounded(
    expr: Expr, var: str, side: str, fixed: Mapping[str, tuple[Fraction, Fraction]], signs: tuple[int, ...]
) -> bool:
    """Whether sign * f is seen to be bounded above far out, for all the constants."""
    far = substitute(expr, {n: Fixed(*ends) for n, ends in fixed.items()})
    form = tail_form(far, var, side, STARTS[-1])
    if isinstance(form, NoForm):
        return False
    lo, hi = tail_bounds(form, STARTS[-1])
    return all((hi if sign > 0 else lo) is not None for sign in signs)


def _within(form: Expansion | Growing, start: Fraction, bounds: Bounds) -> bool:
    lo, hi = tail_bounds(form, start)
    above = bounds.upper is None or (hi is not None and hi < bounds.upper)
    return above and (bounds.lower is None or (lo is not None and lo > bounds.lower))


def _signed(found: int | None, sign: int, strict: bool) -> bool:
    return found is not None and (found * sign < 0 or (found == 0 and not strict))


def limit_far(expr: Expr, var: str, side: str, start: Fraction) -> Fraction | str | None:
    """The limit far out: a Fraction, 'oo', '-oo', or None where it is not known."""
    form = tail_form(expr, var, side, start)
    return None if isinstance(form, NoForm) else limit(form)

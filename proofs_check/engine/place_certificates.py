"""Certificates of where an extremum is: worse values outside of an interval, one strict extremum inside.

Where f(w) > b for a point w of [lo, hi], f < b on the rest of the set, and f'' < 0 on [lo, hi], the largest
value is reached at exactly one point, and this lies in [lo, hi].
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import compare, enclosure
from gateproof.proofs_check.engine.boxes import bounded_below
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.extremum import Side
from gateproof.proofs_check.engine.outcome import composite
from gateproof.proofs_check.engine.point_certificates import sign_certificate
from gateproof.proofs_check.engine.sets import belongs, only_one
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num
from gateproof.theory.formula.printer import to_text


def place_certificate(
    side: Side, at: Fraction, lo: Fraction, hi: Fraction, context: Context
) -> Mapping[str, Any] | None:
    """An accepted certificate that an argmax or argmin is one point, in [lo, hi]; ``at`` is close to it."""
    parts = _outside(side.space.domains[side.name], lo, hi)
    level = _level(side, at, lo, hi)
    if parts is None or level is None:
        return None
    alone = only_one(side, lo, hi, context)
    found = [_better(side, at, level), *(_worse(side, part, level, context) for part in parts)]
    found.append(alone.certificate if alone.truth is True else None)
    return _together(found, f"{to_text(side.node)} is one point, in [{lo}, {hi}]")


def elsewhere_certificate(
    side: Side, at: Fraction, lo: Fraction, hi: Fraction, context: Context
) -> Mapping[str, Any] | None:
    """An accepted certificate that no point of an argmax or argmin lies in [lo, hi]; ``at`` is better."""
    level = _level(side, at, lo, hi)
    if level is None:
        return None
    part = Domain(Num(lo), Num(hi), True, True)
    found = [_better(side, at, level), _worse(side, part, level, context)]
    return _together(found, f"{to_text(side.node)} has no point in [{lo}, {hi}]")


def _better(side: Side, at: Fraction, level: Fraction) -> Mapping[str, Any] | None:
    """That the value at a point of the set is beyond the level."""
    domain = side.space.domains[side.name]
    if not belongs(Num(at), domain):
        return None
    gap = App("add", (side.body, Num(-level)))
    return sign_certificate(gap, {side.name: at}, 1 if side.up else -1)


def _worse(side: Side, part: Domain, level: Fraction, context: Context) -> Mapping[str, Any] | None:
    """That no value on a part reaches the level."""
    gap = App("add", (side.body, Num(-level)))
    worse = App("neg", (gap,)) if side.up else gap
    found = bounded_below(side.space.with_domain(side.name, part), worse, strict=True, context=context)
    return found.certificate if found.truth is True else None


def _together(found: list[Mapping[str, Any] | None], conclusion: str) -> Mapping[str, Any] | None:
    kept = [dict(c) for c in found if c is not None]
    return composite(kept, conclusion) if len(kept) == len(found) else None


def _outside(domain: Domain, lo: Fraction, hi: Fraction) -> list[Domain] | None:
    """What the set has outside of [lo, hi]; None unless [lo, hi] lies in it."""
    parts: list[Domain] = []
    if domain.lo is None or compare(domain.lo, Num(lo)) == -1:
        parts.append(Domain(domain.lo, Num(lo), domain.lo_closed, True))
    elif compare(domain.lo, Num(lo)) != 0 or not domain.lo_closed:
        return None
    if domain.hi is None or compare(Num(hi), domain.hi) == -1:
        parts.append(Domain(Num(hi), domain.hi, True, domain.hi_closed))
    elif compare(Num(hi), domain.hi) != 0 or not domain.hi_closed:
        return None
    return None if domain.without or domain.integer else parts


def _level(side: Side, at: Fraction, lo: Fraction, hi: Fraction) -> Fraction | None:
    """A short number between the value at the point and those at the ends."""
    values = []
    for x in (at, lo, hi):
        put: dict[str, Expr] = {side.name: Num(x)}
        try:
            values.append(enclosure(substitute(side.body, put), 256))
        except NumericsError:
            return None
    best, *others = values if side.up else [(-b, -a) for a, b in values]
    top, low = best[0], max(b for _, b in others)
    if low >= top:
        return None
    level = ((low + top) / 2).limit_denominator(int(8 / (top - low)) + 1)
    return level if side.up else -level

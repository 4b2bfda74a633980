"""Bounds in several names before and after boxes: weighted means, and the whole line in place of a box."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.points import at_point
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.domain import Derivation, Domain
from gateproof.theory.exact.weighted_means import prove_by_means
from gateproof.theory.formula.nodes import App, Expr, Num, Var, num
from gateproof.theory.formula.powers import constant_value

#: Points at which a gap is asked for a 0, and zeros that are tried as scales.
MAX_POINTS, MAX_SCALES = 200, 3


def by_means(space: Space, gap: Expr, context: Context, *, strict: bool) -> Derivation | None:
    """A proof of gap >= 0 (> 0) by weighted means, for a gap that has a value throughout; or None."""
    if space.vectors or not all(_rational(n) for n in gap.walk() if isinstance(n, Expr)):
        return None
    scales: list[dict[str, Fraction]] = []
    plain = prove_by_means(gap, space.assumptions(), (), strict=strict)
    if plain is not None or strict:
        return plain
    for point in points(space, (gap,), context.settings.seed, MAX_POINTS):
        if not all(point.values()) or len({abs(v) for v in point.values()}) == 1:
            continue
        try:
            value = at_point(gap, point, 128)
        except (Undefined, MaybeUndefined):
            continue
        if value.contains(0):
            scales.append(dict(point))
        if len(scales) == MAX_SCALES:
            break
    return prove_by_means(gap, space.assumptions(), scales, strict=False) if scales else None


def _rational(node: Expr) -> bool:
    return isinstance(node, Num | Var) or (
        isinstance(node, App) and node.head in ("add", "mul", "neg", "div", "pow")
    )


def widened(space: Space) -> Space | None:
    """The space with every real name over all of R; None where it has conditions or nothing changes."""
    if space.facts or space.vectors:
        return None
    wide = {name: _larger(domain) for name, domain in space.domains.items()}
    return None if wide == dict(space.domains) else replace(space, domains=wide)


def _larger(domain: Domain) -> Domain:
    """All of R for an interval, or the half of it above 0 for one that lies there: roots need it."""
    if domain.integer or domain.without:
        return domain
    lo = None if domain.lo is None else constant_value(domain.lo)
    if lo is None or lo < 0:
        return Domain()
    return Domain(lo=num(0), lo_closed=lo == 0 and domain.lo_closed)

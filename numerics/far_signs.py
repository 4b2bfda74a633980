"""How far out the zeros of a derivative can lie.

Three arguments, each exact: the dominating exponential and its leading part; the same of the normal form's
factors divided by their largest exponentials; and monotony, where the next derivative keeps its
sign outside of its own zeros and the limit at infinity is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from gateproof.numerics.tailcut import STARTS
from gateproof.theory.exact import polys
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.tail_levels import far_sign
from gateproof.theory.exact.writeback import write_divided
from gateproof.theory.formula.nodes import Expr

MAX_EXPONENTIALS = 3
#: Variants of a factor, ascending in cost: as it stands first.
Variants = tuple[Expr, ...]


def no_zeros_beyond(expr: Expr, var: str, side: str, beyond: Fraction) -> Fraction | None:
    """A number past which (on the side '+' or '-') the expression keeps its sign, by tail forms; or None."""
    starts = [s for s in (*STARTS, beyond * 2) if s > beyond]
    for start in starts:
        if far_sign(expr, var, side, start) in (1, -1):
            return start
    factors = _factors(expr, var)
    if factors is None:
        return None
    reach = Fraction(0)
    for variants in factors:
        found = _start(variants, var, side, starts)
        if found is None:
            return None
        reach = max(reach, found)
    return reach or starts[0]


def _start(variants: Variants, var: str, side: str, starts: list[Fraction]) -> Fraction | None:
    for start in starts:
        if any(far_sign(v, var, side, start) in (1, -1) for v in variants):
            return start
    return None


def _factors(expr: Expr, var: str) -> list[Variants] | None:
    """The factors of the numerator that may be 0, each in its variants."""

    def find(ws: Workspace) -> list[Variants]:
        value = ws.form(expr)
        parts = [f for f, _ in polys.factors(value.num)[1] if 0 in ws.signs.of(f)]
        return [tuple(_variants(ws, f)) for f in parts]

    return in_workspace(Assumptions({var: Domain()}), find)


def _variants(ws: Workspace, f: polys.Poly) -> Iterator[Expr]:
    """The factor divided by all, some or none of its exponentials to their highest powers."""
    waves = [i for i in polys.used(f) if ws.atoms[i].kind == "exp"][:MAX_EXPONENTIALS]
    for chosen in product((False, True), repeat=len(waves)):
        by = {i: polys.degree(f, i) for i, on in zip(waves, chosen, strict=True) if on}
        yield write_divided(ws, f, by)

"""Ends that are left out of a domain: the limit there stands for the value."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gateproof.numerics.backends import prepare
from gateproof.numerics.backends.formula import Formula, formula
from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.fits.target import RefusedTarget, values_of
from gateproof.numerics.fits.target_domain import Domain
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.domain import Domain as Reals
from gateproof.theory.exact.limits import NoLimit, limit
from gateproof.theory.formula import FormulaError, parse_expr, to_text
from gateproof.theory.formula.nodes import App, Const, Expr, Num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.undefined_parts import undefined_parts

#: Distances at which values are compared with that at the end, in widths; a difference that may be a jump.
BESIDE, JUMP = (1e-9, 1e-7, 1e-5), 1e-6
INFINITE = (Const("oo"), App("neg", (Const("oo"),)))


def with_limits(fixed: Formula, core: Expr, domain: Domain) -> tuple[Formula, Expr, list[str]]:
    """The formula, its core expression and notes, with limits at open ends where it has no value, or jumps.

    Raises RefusedTarget where it has no finite limit there, or none is found.
    """
    notes: list[str] = []
    name = fixed.text
    for at, side, left_out in ((domain.lo, "+", domain.open[0]), (domain.hi, "-", domain.open[1])):
        missing = at is not None and _is_missing(core, at)
        if at is None or not left_out or not _is_broken(fixed, at, side, domain, missing=missing):
            continue
        value = _limit(name, core, at, side)
        here = np.nan if missing else values_of(fixed)(np.array([float(at)]))[0]
        if value is None or abs(to_float(value) - here) <= 1e-14 * abs(here):
            continue
        sign = ">" if side == "+" else "<"
        fixed = formula(f"where(x {sign} {at}, {fixed.text}, {to_text(value)})")
        core = prepare.core(parse_expr(fixed.text))
        has = "has no value" if not np.isfinite(here) else f"is {here:.6g}"
        notes.append(
            f"{name:.60} {has} at x = {at}, which is left out: its limit there, {to_text(value)}, counts"
        )
    return fixed, core, notes


def _is_missing(core: Expr, at: Fraction) -> bool:
    """Whether there is no value at a place."""
    for part in undefined_parts(core, "x") or ():
        low, high = (None if e is None else constant_value(e) for e in (part.lo, part.hi))
        after = part.lo is None or (low is not None and (low < at or (low == at and part.lo_in)))
        before = part.hi is None or (high is not None and (at < high or (at == high and part.hi_in)))
        if after and before:
            return True
    return False


def _is_broken(fixed: Formula, at: Fraction, side: str, domain: Domain, *, missing: bool) -> bool:
    """Whether values at an end may differ from those beside it, which are finite in doubles."""
    width = float(domain.hi - domain.lo) if domain.lo is not None and domain.hi is not None else 1.0
    step = max(width, abs(float(at)) * 1e-6) * np.array((0.0, *BESIDE))
    with np.errstate(all="ignore"):
        y = values_of(fixed)(float(at) + (step if side == "+" else -step))
    return bool(np.isfinite(y[1:]).all() and (missing or not abs(y[0] - y[1]) <= JUMP * abs(y[1])))


def _limit(name: str, core: Expr, at: Fraction, side: str) -> Expr | None:
    """The limit; None where it was not found and there is a value."""
    where = f"at x = {at}, the open end of the domain"
    advice = "give an interval that leaves it out"
    try:
        found = limit(core, "x", Num(at), side, Assumptions({"x": Reals()}))
    except (FormulaError, ArithmeticError):
        found = None
    if isinstance(found, NoLimit):
        raise RefusedTarget(f"{name:.60} has no limit {where}: {advice}")
    if found is None:
        with np.errstate(all="ignore"):
            here = values_of(formula(name))(np.array([float(at)]))[0]
        if np.isfinite(here):
            return None
        raise RefusedTarget(f"{name:.60} has no value {where}, and no limit was found: {advice}")
    if found[0] in INFINITE:
        raise RefusedTarget(f"{name:.60} is unbounded {where}, so every gate has an infinite error: {advice}")
    return found[0]

"""Bounds reached at one point: the formula rises up to it and falls beyond, or the other way round.

x**2*exp(-x) <= 4*exp(-2) on x > 0: the derivative x*(2 - x)*exp(-x) is >= 0 before 2 and <= 0 after, and
at 2 both sides are equal. The signs are those of the derivative as it stands, which often has factors
where the difference of the sides has none.
"""

from __future__ import annotations

from dataclasses import replace

from gateproof.theory.exact.critical import exact_extremum_candidates
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.piecewise import has_no_kink, may_jump
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Candidates that are tried.
_FEW = 4


def prove_at_peak(lhs: Expr, op: str, rhs: Expr, assumptions: Assumptions) -> Derivation | None:
    """A proof of ``lhs op rhs`` (op in < <= > >=) on one interval by the only peak of a side, or None."""
    if op[0] == ">":
        lhs, op, rhs = rhs, op.replace(">", "<"), lhs
    names = free_names(lhs) | free_names(rhs)
    if len(names) != 1:
        return None
    (var,) = names
    domain = assumptions.domains.get(var)
    if domain is None or domain.integer or domain.without or (free_names(lhs) and free_names(rhs)):
        return None
    rising = bool(free_names(lhs))
    body, bound = (lhs, rhs) if rising else (rhs, lhs)
    inner = replace(domain, lo_closed=False, hi_closed=False)
    if prove_defined(body, Assumptions({var: domain})) is None or may_jump(body):
        return None
    if not has_no_kink(body, var, Assumptions({var: inner})):
        return None
    slope = derivative(body, var)
    if slope is None:
        return None
    up, down = (">=", "<=") if rising else ("<=", ">=")
    first, second = ("rises", "falls") if rising else ("falls", "rises")
    for peak in _peaks(body, var, domain, inner):
        value = substitute(body, {var: peak})
        parts = [prove_relation(*((value, op, bound) if rising else (bound, op, value)), Assumptions())]
        if peak != domain.lo:
            parts.append(_sign(slope, up, var, replace(inner, hi=peak)))
        if peak != domain.hi:
            parts.append(_sign(slope, down, var, replace(inner, lo=peak)))
        shown = [p for p in parts if p is not None]
        if len(shown) == len(parts):
            step = f"{to_text(body)} {first} up to {var} = {to_text(peak)} and {second} after it"
            step = f"{step}, by its derivative {to_text(slope)}"
            steps = (step, *(s for p in shown for s in p.steps))
            return Derivation(steps, tuple(sorted({t for p in shown for t in p.trust})))
    return None


def _peaks(body: Expr, var: str, domain: Domain, inner: Domain) -> list[Expr]:
    """Zeros of the derivative that are proved to lie inside, and closed ends."""
    found = exact_extremum_candidates(body, var, Assumptions({var: inner})) or ()
    ends = [e for e, closed in ((domain.lo, domain.lo_closed), (domain.hi, domain.hi_closed)) if e and closed]
    return [*(p for p in found[:_FEW] if _lies_inside(p, inner)), *ends]


def _sign(slope: Expr, op: str, var: str, part: Domain) -> Derivation | None:
    return prove_relation(slope, op, num(0), Assumptions({var: part}))


def _lies_inside(peak: Expr, domain: Domain) -> bool:
    """Whether a point is proved to lie between the ends."""
    below = domain.lo is None or prove_relation(domain.lo, "<", peak, Assumptions()) is not None
    return below and (domain.hi is None or prove_relation(peak, "<", domain.hi, Assumptions()) is not None)

"""A smooth formula as a sum of lines and sigmoids: read off where it is written so, the rest by its poles."""

from __future__ import annotations

from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.domain import Domain
from gateproof.theory.finite_gate_entire import entire_reason
from gateproof.theory.finite_gate_form import Reason, with_form
from gateproof.theory.finite_gate_poles import difference_sum
from gateproof.theory.finite_gate_sum import GateSum, UndecidedError, merged
from gateproof.theory.finite_gate_terms import addends, terms
from gateproof.theory.formula.nodes import App, Expr


@bounded
def soft_sum(expr: Expr, var: str, domain: Domain) -> GateSum | Reason | None:
    """The merged sum of a formula without kinks, why there is none, or None where it is not decided."""
    try:
        known, rest = terms(expr, var)
        if rest is not None:
            more, rest = _by_parts(rest, var, domain)
            known = known.plus(more)
        if rest is None:
            return merged(known)
        # Sums of gates are gates: the rest decides.
        found = with_form(rest, var, domain, difference_sum)
        if found is None:
            found = entire_reason(rest, var)
        return merged(known.plus(found)) if isinstance(found, GateSum) else found
    except UndecidedError:
        return None


def _by_parts(rest: Expr, var: str, domain: Domain) -> tuple[GateSum, Expr | None]:
    """The terms of a sum that are gates by themselves, and what is left: each in its own exponential."""
    parts = addends(rest, var)
    if len(parts) < 2:
        return GateSum(), rest
    total, left = GateSum(), list[Expr]()
    for part in parts:
        found = with_form(part, var, domain, difference_sum)
        if isinstance(found, GateSum):
            total = total.plus(found)
        else:
            left.append(part)
    if len(left) < 2:
        return total, left[0] if left else None
    return total, App("add", tuple(left))

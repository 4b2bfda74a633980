"""A smooth formula as a sum of lines and sigmoids: read off where it is written so, the rest by its poles."""

from __future__ import annotations

from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.domain import Domain
from gateproof.theory.finite_gate_entire import entire_reason
from gateproof.theory.finite_gate_form import Reason, with_form
from gateproof.theory.finite_gate_poles import difference_sum
from gateproof.theory.finite_gate_sum import GateSum, UndecidedError, merged
from gateproof.theory.finite_gate_terms import terms
from gateproof.theory.formula.nodes import Expr


@bounded
def soft_sum(expr: Expr, var: str, domain: Domain) -> GateSum | Reason | None:
    """The merged sum of a formula without kinks, why there is none, or None where it is not decided."""
    try:
        known, rest = terms(expr, var)
        if rest is None:
            return merged(known)
        # Sums of gates are gates: the rest decides.
        found = with_form(rest, var, domain, difference_sum)
        if found is None:
            found = entire_reason(rest, var)
        return merged(known.plus(found)) if isinstance(found, GateSum) else found
    except UndecidedError:
        return None

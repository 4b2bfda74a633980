"""A positive parameter scaled away: x = y/tau, both sides times a power of tau."""

from __future__ import annotations

from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num, Var, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

_POWERS = (1, 0, -1, 2, -2, 3)


@bounded
def remove_parameter(
    lhs: Expr, op: str, rhs: Expr, assumptions: Assumptions
) -> tuple[Expr, Expr, Assumptions, Derivation] | None:
    """An equivalent relation with one name less, or None.

    For a parameter tau in (0, oo) and a name x whose domain is kept by positive factors:
    where tau**k f(x/tau, tau) = f(x, 1) for both sides f, the relation for all tau is that
    for tau = 1. Both identities are proved, so both sides are defined as well.
    """
    domains = assumptions.domains
    bound = {name for fact in assumptions.facts for name in free_names(fact)}
    for tau, domain in reversed(list(domains.items())):
        if tau in bound or not _is_positive_line(domain):
            continue
        for x, other in domains.items():
            if x == tau or x in bound or not _is_scale_free(other):
                continue
            found = _scaled(lhs, op, rhs, assumptions, tau, x)
            if found is not None:
                return found
    return None


def _is_positive_line(domain: Domain) -> bool:
    lo_zero = isinstance(domain.lo, Num) and domain.lo.value == 0 and not domain.lo_closed
    return lo_zero and domain.hi is None and not domain.integer and not domain.without


def _is_scale_free(domain: Domain) -> bool:
    points = [p for p in (domain.lo, domain.hi, *domain.without) if p is not None]
    return not domain.integer and all(isinstance(p, Num) and p.value == 0 for p in points)


def _scaled(
    lhs: Expr, op: str, rhs: Expr, assumptions: Assumptions, tau: str, x: str
) -> tuple[Expr, Expr, Assumptions, Derivation] | None:
    if x not in free_names(lhs) | free_names(rhs):
        return None
    small = {x: App("div", (Var(x), Var(tau)))}
    sides = (lhs, rhs)
    targets = tuple(substitute(s, {tau: num(1)}) for s in sides)
    for k in _POWERS:
        factor = App("pow", (Var(tau), num(k)))
        steps: list[str] = []
        trust: set[str] = set()
        for side, target in zip(sides, targets, strict=True):
            moved = substitute(side, small)
            whole = moved if k == 0 else App("mul", (factor, moved))
            shown = prove_relation(whole, "==", target, assumptions)
            if shown is None:
                break
            steps.append(f"{to_text(whole)} = {to_text(target)}")
            trust |= set(shown.trust)
        else:
            first = f"for {tau} > 0 put {x}/{tau} for {x}"
            first += f" and multiply both sides by {to_text(factor)} > 0" if k else ""
            last = f"so for all {tau} it is: {to_text(targets[0])} {op} {to_text(targets[1])}"
            rest = Assumptions(
                {name: d for name, d in assumptions.domains.items() if name != tau},
                assumptions.facts,
            )
            derivation = Derivation((first, *steps, last), tuple(sorted(trust)))
            return targets[0], targets[1], rest, derivation
    return None

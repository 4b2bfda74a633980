"""Integrals by the fundamental theorem.

Where F' = f on the open interval and f is continuous there, the integral of f from lo
to hi is lim F at hi minus lim F at lo, as soon as both limits are finite.
"""

from __future__ import annotations

from gateproof.theory.exact import calculus
from gateproof.theory.exact.antiderivatives import antiderivative
from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.infinity import side
from gateproof.theory.exact.limits import NoLimit, limit
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Integral, Rel, Var
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names


@bounded
def prove_integral(integral: Integral, value: Expr, assumptions: Assumptions) -> Derivation | None:
    """A proof that the integral converges and equals ``value``, or None.

    The ends must be in order: lo < hi for all values of the names.
    """
    body, var = integral.body, integral.var
    if var in free_names(value) or var in free_names(integral.lo) | free_names(integral.hi):
        return None
    inner = _inside(integral, assumptions)
    if inner is None or prove_defined(body, inner) is None:
        return None
    for primitive in _candidates(integral, value):
        shown = _by_primitive(integral, value, primitive, assumptions, inner)
        if shown is not None:
            return shown
    return None


def _inside(integral: Integral, assumptions: Assumptions) -> Assumptions | None:
    """Assumptions with the variable strictly between the ends."""
    facts = list(assumptions.facts)
    lo, hi, var = integral.lo, integral.hi, Var(integral.var)
    if side(lo) > 0 or side(hi) < 0 or integral.var in assumptions.domains:
        return None
    finite = not side(lo) and not side(hi)
    if finite and prove_relation(lo, "<", hi, assumptions) is None:
        return None
    for end in (lo, hi):
        if not side(end) and prove_defined(end, assumptions) is None:
            return None
    if not side(lo):
        facts.append(Rel((">",), (var, lo)))
    if not side(hi):
        facts.append(Rel(("<",), (var, hi)))
    domain = Domain(None if side(lo) or free_names(lo) else lo, None if side(hi) or free_names(hi) else hi)
    return Assumptions({**assumptions.domains, integral.var: domain}, tuple(facts))


def _candidates(integral: Integral, value: Expr) -> list[Expr]:
    found: list[Expr] = []
    var = Var(integral.var)
    if isinstance(integral.hi, Var) and integral.hi.name not in free_names(integral.body):
        found.append(substitute(value, {integral.hi.name: var}))
    if isinstance(integral.lo, Var) and integral.lo.name not in free_names(integral.body):
        found.append(App("neg", (substitute(value, {integral.lo.name: var}),)))
    table = antiderivative(integral.body, integral.var)
    if table is not None:
        found.append(table)
    return found


def _by_primitive(
    integral: Integral, value: Expr, primitive: Expr, assumptions: Assumptions, inner: Assumptions
) -> Derivation | None:
    var = integral.var
    if prove_defined(primitive, inner) is None or not is_primitive(primitive, integral.body, var, inner):
        return None
    ends: list[tuple[Expr, Derivation]] = []
    for end, direction in ((integral.hi, "-"), (integral.lo, "+")):
        found = limit(primitive, var, end, direction, assumptions)
        if found is None or isinstance(found, NoLimit) or side(found[0]):
            return None
        ends.append(found)
    difference = App("add", (ends[0][0], App("neg", (ends[1][0],))))
    equal = prove_relation(difference, "==", value, assumptions)
    if equal is None:
        return None
    first = f"({to_text(primitive)})' = {to_text(integral.body)} between the ends"
    steps = (first, *ends[0][1].steps, *ends[1][1].steps, *equal.steps)
    trust = {*ends[0][1].trust, *ends[1][1].trust, *equal.trust}
    return Derivation(steps, tuple(sorted(trust)))


def is_primitive(primitive: Expr, body: Expr, var: str, inner: Assumptions) -> bool:
    """Whether both are smooth between the ends and one is the other's derivative."""

    def check(ws: Workspace) -> bool:
        f, g = ws.form(primitive), ws.form(body)
        if not calculus.is_regular(ws, f, smooth=True):
            return False
        if not calculus.is_regular(ws, g, smooth=False):
            return False
        difference = ws.sub(calculus.of_frac(ws, f, var), g)
        return difference.is_zero or ws.signs.of_frac(difference) == {0}

    return in_workspace(inner, check) is True

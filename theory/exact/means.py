"""Integrals and normal means in closed form: one door for the engine and the numerics."""

from __future__ import annotations

from gateproof.theory.exact.definite import NoIntegral, integral_value
from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.gaussian import gauss_value
from gateproof.theory.exact.gaussian_pairs import gauss2_value
from gateproof.theory.exact.infinity import side
from gateproof.theory.formula.nodes import (
    Expr,
    Extremum,
    Gauss,
    Gauss2,
    Integral,
    IntervalSet,
    NamedSet,
    Node,
    rebuild,
)
from gateproof.theory.formula.scopes import free_names

Mean = Integral | Gauss | Gauss2


def holds_mean(node: Node) -> bool:
    """Whether an integral or a normal mean stands anywhere in the node."""
    return any(isinstance(n, Mean) for n in node.walk())


def mean_value(node: Mean, given: Assumptions) -> tuple[Expr, Derivation] | NoIntegral | None:
    """The value with its derivation, NoIntegral where it provably does not exist, or None.

    Values are core expressions, ``oo`` or ``-oo``; the result of gauss2 may hold means over one variable.
    """
    if any(holds_mean(child) for child in node.children()):
        return None
    if isinstance(node, Integral):
        return integral_value(node, given)
    return gauss_value(node, given) if isinstance(node, Gauss) else gauss2_value(node, given)


def reduced(node: Expr, given: Assumptions) -> tuple[Expr, tuple[str, ...]] | NoIntegral:
    """The expression with every mean that has a closed form replaced, innermost first, and the steps."""
    steps: list[str] = []
    missing: list[NoIntegral] = []

    def visit(part: Node, known: Assumptions) -> Node:
        inner = _inside(part, known)
        done = rebuild(part, lambda child: visit(child, inner))
        assert isinstance(done, Node)
        if missing or not isinstance(done, Mean):
            return done
        found = mean_value(done, known)
        if isinstance(found, NoIntegral):
            missing.append(found)
        if not isinstance(found, tuple):
            return done
        steps.extend(found[1].steps)
        return visit(found[0], known) if holds_mean(found[0]) else found[0]

    result = visit(node, given)
    if missing:
        return missing[0]
    assert isinstance(result, Expr)
    return result, tuple(steps)


def _inside(node: Node, given: Assumptions) -> Assumptions:
    """What is known inside of a supremum over real intervals: its names are in them."""
    if not isinstance(node, Extremum):
        return given
    domains = dict(given.domains)
    for bind in node.scope.binds:
        within = bind.within
        if isinstance(within, NamedSet) and within.name == "R":
            domains[bind.name] = Domain()
        elif isinstance(within, IntervalSet) and not free_names(within):
            lo, hi = (None if side(e) else e for e in (within.lo, within.hi))
            domains[bind.name] = Domain(
                lo, hi, within.lo_closed and lo is not None, within.hi_closed and hi is not None
            )
    return Assumptions(domains, given.facts)

"""``integrate(f, t, a, b) == value`` by the fundamental theorem of calculus."""

from __future__ import annotations

from gateproof.proofs_check.engine.calculus import Elimination
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.outcome import PROVED, NotYetError, Outcome
from gateproof.proofs_check.engine.relation import decide_relation
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.critical import equal_constants
from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.integrals import prove_integral
from gateproof.theory.exact.limits import limit
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Integral, Rel, Var, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names


def decide_integral(space: Space, integral: Integral, value: Expr, context: Context) -> Outcome:
    """Prove by an antiderivative; refute by a derivative or a starting value that differs."""
    target = Elimination(space).expr(value)
    proof = prove_integral(integral, target, space.assumptions())
    if proof is not None:
        return Outcome(True, PROVED, "fundamental theorem of calculus", proof.trust, proof.steps)
    refutation = _refute(space, integral, target, context)
    if refutation is not None:
        return refutation
    raise NotYetError("integrate: no antiderivative was found, and no enclosure of integrals is there yet")


def _refute(space: Space, integral: Integral, target: Expr, context: Context) -> Outcome | None:
    """With a free upper end x both sides are functions of x: compare slopes, then starting values."""
    upper = integral.hi
    if not isinstance(upper, Var) or upper.name not in space.domains or free_names(integral.lo):
        return None
    if kinks(target, upper.name) or kinks(integral.body, integral.var):
        return None
    slope = derivative(target, upper.name)
    if slope is None:
        return None
    integrand = substitute(integral.body, {integral.var: upper})
    same_slope = decide_relation(space, Rel(("==",), (slope, integrand)), context.deeper())
    if same_slope.truth is False:
        step = f"the derivative of {to_text(target)} is not {to_text(integrand)}"
        return Outcome(
            False,
            method="fundamental theorem of calculus",
            trust=same_slope.trust,
            steps=(step, *same_slope.steps),
            witness=same_slope.witness,
        )
    start = limit(target, upper.name, integral.lo, "", Assumptions())
    if same_slope.truth is not True or not isinstance(start, tuple):
        return None
    if equal_constants(start[0], num(0)) is True:
        return None
    if prove_relation(start[0], "!=", num(0), Assumptions()) is None:
        return None
    step = f"{to_text(target)} tends to {to_text(start[0])}, not 0, where the integral starts"
    return Outcome(
        False,
        method="fundamental theorem of calculus",
        trust=("flint",),
        steps=(step,),
        witness={upper.name: f"-> {to_text(integral.lo)}"},
    )

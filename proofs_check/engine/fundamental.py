"""``integrate(f, t, a, x) == value`` for a free end x, by the fundamental theorem of calculus."""

from __future__ import annotations

from gateproof.numerics.points import compare
from gateproof.proofs_check.engine.calculus import Elimination
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.outcome import PROVED, Outcome
from gateproof.proofs_check.engine.relation import decide_relation
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.critical import equal_constants
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.definite import integral_value
from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.infinity import side
from gateproof.theory.exact.integrals import prove_integral
from gateproof.theory.exact.limits import limit
from gateproof.theory.exact.means import holds_mean
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Integral, Rel, Var, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names


def by_fundamental_theorem(space: Space, relation: Rel, context: Context) -> Outcome | None:
    """Prove ``integral == value`` with the value as a primitive; refute it by slopes or starting values.

    The integrand must be known to be defined between the ends.
    """
    integral = next((t for t in relation.terms if isinstance(t, Integral)), None)
    if integral is None or relation.ops != ("==",):
        return None
    value = relation.terms[1 - relation.terms.index(integral)]
    if holds_mean(value) or holds_mean(integral.body):
        return None
    work = Elimination(space)
    target = work.expr(value)
    if work.owed:
        return None
    proof = prove_integral(integral, target, space.assumptions())
    if proof is not None:
        return Outcome(True, PROVED, "fundamental theorem of calculus", proof.trust, proof.steps)
    return _refute(space, integral, target, context)


def _refute(space: Space, integral: Integral, target: Expr, context: Context) -> Outcome | None:
    """With a free upper end x both sides are functions of x: compare slopes, then starting values."""
    upper = integral.hi
    if not isinstance(upper, Var) or upper.name not in space.domains or free_names(integral.lo):
        return None
    if kinks(target, upper.name) or kinks(integral.body, integral.var):
        return None
    slope = derivative(target, upper.name)
    if slope is None or not _exists(space, integral, upper.name):
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
    if not _starts_there(space.domains[upper.name], integral.lo):
        return None
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


def _exists(space: Space, integral: Integral, name: str) -> bool:
    """Whether the integral is shown to be a number for every upper end of an interval.

    The integrand is defined, so without kinks continuous, on a line that holds all ends.
    """
    domain = space.domains[name]
    if domain.integer or domain.without or space.facts:
        return False
    if domain.lo is not None and domain.hi is not None and compare(domain.lo, domain.hi) != -1:
        return False
    if side(integral.lo) < 0:
        found = integral_value(Integral(integral.body, integral.var, integral.lo, num(0)), Assumptions())
        return prove_defined(integral.body, Assumptions({integral.var: Domain()})) is not None and (
            isinstance(found, tuple) and not side(found[0])
        )
    if side(integral.lo):
        return False
    line = Domain(integral.lo, None, lo_closed=True) if _starts_there(domain, integral.lo) else Domain()
    return prove_defined(integral.body, Assumptions({integral.var: line})) is not None


def _starts_there(domain: Domain, lo: Expr) -> bool:
    """Whether the domain of the upper end starts exactly where the integral does."""
    if side(lo):
        return domain.lo is None
    return domain.lo is not None and (domain.lo == lo or equal_constants(domain.lo, lo) is True)

"""argmax, argmin and zeros over an interval without some points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import enclosure
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.holes import intervals
from gateproof.proofs_check.engine.outcome import CERTIFIED, Outcome, conjunction, undecided
from gateproof.proofs_check.engine.reached import decide_general_maximum, greatest, lies_in, near_value
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.critical import equal_constants
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Bind, Const, Expr, Extremum, IntervalSet, Rel, Scope
from gateproof.theory.formula.printer import to_text

Part = Callable[[Extremum, tuple[Expr, ...]], Outcome]
_OO = Const("oo")


def zeros_with_holes(
    node: Extremum, body: Expr, space: Space, items: tuple[Expr, ...], decide: Part, context: Context
) -> Outcome:
    """The zeros on each of the intervals left; ``decide`` holds those on one against points."""
    defined = decide_defined(space, body, context)
    if defined.truth is not True:
        return defined
    ((name, domain),) = space.domains.items()
    parts = intervals(domain)
    left = list(items)
    outcomes = []
    for part in parts:
        own = tuple(i for i in items if lies_in(i, part))
        left = [i for i in left if i not in own]
        bind = Bind(name, IntervalSet(*_ends(part), part.lo_closed, part.hi_closed))
        outcomes.append(decide(replace(node, scope=Scope((bind,), ())), own))
    outside = _first_outside(left, domain)
    if outside is not None:
        step = f"{to_text(outside)} is not in the set"
        return Outcome(False, CERTIFIED, "order of the numbers", ("arb",), (step,))
    if left:
        return undecided(f"whether {to_text(left[0])} is in the set was not decided")
    return conjunction(outcomes)


def _ends(part: Domain) -> tuple[Expr, Expr]:
    return (
        part.lo if part.lo is not None else App("neg", (_OO,)),
        part.hi if part.hi is not None else _OO,
    )


def _first_outside(items: list[Expr], domain: Domain) -> Expr | None:
    """An item that is seen not to lie in the domain: taken out, or beyond an end."""
    for item in items:
        if any(equal_constants(item, hole) is True for hole in domain.without):
            return item
        lo, hi = enclosure(item)
        below = domain.lo is not None and hi < enclosure(domain.lo)[0]
        above = domain.hi is not None and enclosure(domain.hi)[1] < lo
        if below or above:
            return item
    return None


def argmax_with_holes(
    node: Extremum, body: Expr, space: Space, items: tuple[Expr, ...], context: Context
) -> Outcome:
    """The points given have one value and all others less, or a point beside them is at least as good."""
    from gateproof.proofs_check.engine.closed import decide_constants
    from gateproof.proofs_check.engine.relation import decide_relation

    defined = decide_defined(space, body, context)
    if defined.truth is not True:
        return defined
    ((name, domain),) = space.domains.items()
    up = node.op == "argmax"
    values = [substitute(body, {name: item}) for item in items]
    if items and all(lies_in(i, domain) for i in items):
        same = all(equal_constants(v, values[0]) is True for v in values[1:])
        elsewhere = space.with_domain(name, replace(domain, without=(*domain.without, *items)))
        less = Rel(("<" if up else ">",), (body, values[0]))
        found = decide_relation(elsewhere, less, context.deeper()) if same else undecided("")
        if found.truth is True:
            return found
    best = greatest(space, body, up, context)
    if best is None:
        for value in values:
            _must_be_attained(node, body, space, up, value, context)
        return undecided(f"{node.op}: a point with the best value was not found")
    point, proof = best
    wrong = _first_outside(list(items), domain)
    for item, value in zip(items, values, strict=True):
        if wrong is None and decide_constants("!=", value, substitute(body, point)).truth is True:
            wrong = item
    lo, hi = enclosure(point[name])
    if wrong is None and not all(hi < enclosure(i)[0] or enclosure(i)[1] < lo for i in items):
        return undecided(f"{node.op}: whether there are other points was not decided")
    step = f"{to_text(point[name])} is one of them"
    if wrong is not None:
        step = f"{to_text(wrong)} is not one of them"
    return replace(proof, truth=False, steps=(*proof.steps, step), witness={name: to_text(point[name])})


def _must_be_attained(
    node: Extremum, body: Expr, space: Space, up: bool, value: Expr, context: Context
) -> None:
    """Raise IllPosedError where the value bounds all others and is only approached."""

    def supremum() -> Outcome:
        return near_value(space, body, up, value, context) or undecided("")

    try:
        enclosure(value)
    except NumericsError:
        return
    decide_general_maximum(space, body, up, "==", value, to_text(node), supremum, context)

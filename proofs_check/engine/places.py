"""argmax, argmin or zeros against a printed number: one point, in the rounding interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateproof.proofs_check.engine.calculus import Elimination
from gateproof.proofs_check.engine.closed import settle
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.extremum import Side
from gateproof.proofs_check.engine.outcome import CERTIFIED, IllPosedError, Outcome, undecided
from gateproof.proofs_check.engine.place_certificates import elsewhere_certificate, place_certificate
from gateproof.proofs_check.engine.root_certificates import Places, resting_on, zeros_certificate
from gateproof.proofs_check.engine.sets import isolated, only_one, points_text
from gateproof.proofs_check.engine.space import build
from gateproof.theory.formula.nodes import Extremum, Printed, Rel

_SETS = ("argmax", "argmin", "zeros")


def is_printed_place(relation: Rel) -> bool:
    """Whether the relation sets a set of points against a printed number."""
    kinds = [isinstance(t, Printed) or (isinstance(t, Extremum) and t.op in _SETS) for t in relation.terms]
    return all(kinds) and len({type(t) for t in relation.terms}) == 2


def decide_printed_place(relation: Rel, context: Context) -> Outcome:
    """Decide ``argmax(...) == p~``: exactly one point, and it rounds to p."""
    node, printed = relation.terms
    if isinstance(node, Printed):
        node, printed = printed, node
    if not isinstance(node, Extremum) or not isinstance(printed, Printed):
        raise IllPosedError("two printed numbers are compared")
    if relation.ops != ("==",):
        raise IllPosedError(f"{node.op} is a set and has no order")
    work = Elimination(build(node.scope))
    body = work.expr(node.body)
    settle(work, node.op, context)
    side, places = isolated(node, body, context)
    if isinstance(places, str):
        return undecided(places)
    return _judge(side, places, printed, context)


def _judge(side: Side, places: Places, printed: Printed, context: Context) -> Outcome:
    shown = points_text(places)
    outside = [p for p in places if p[1] < printed.lo or p[0] > printed.hi]
    step = f"all points lie in {shown}"
    if not places or len(outside) == len(places):
        text = f"{step}; none rounds to {printed.text}"
        none = Outcome(
            False, method="certified enclosure", trust=("arb",), steps=(text,), witness={"points": shown}
        )
        return resting_on(none, _none_in(side, places, printed, context))
    within = len(places) == 1 and printed.lo <= places[0][0] and places[0][1] <= printed.hi
    if within and side.node.op == "zeros":
        # An isolating interval holds exactly one zero.
        one = Outcome(True, CERTIFIED, "isolated zeros", ("arb",), (f"{step}, and there is one",))
        return resting_on(one, _zeros_certificate(side, places))
    if within:
        (lo, hi), text = places[0], f"{step}, and there is one"
        document = place_certificate(side, (lo + hi) / 2, printed.lo, printed.hi, context)
        if document is not None or only_one(side, lo, hi, context).truth is True:
            one = Outcome(True, CERTIFIED, "certified enclosure", ("arb",), (text,))
            return resting_on(one, document)
    return undecided(f"{step}; whether exactly one of them counts was not proved")


def _none_in(side: Side, places: Places, printed: Printed, context: Context) -> Mapping[str, Any] | None:
    if side.node.op == "zeros" or not places:
        return _zeros_certificate(side, places)
    (lo, hi), *_ = places
    return elsewhere_certificate(side, (lo + hi) / 2, printed.lo, printed.hi, context)


def _zeros_certificate(side: Side, places: Places) -> Mapping[str, Any] | None:
    if side.node.op != "zeros":
        return None
    return zeros_certificate(side.body, side.name, side.space.domains[side.name], places)

"""The value of a nested supremum or infimum, as ``certify`` prints it."""

from __future__ import annotations

from fractions import Fraction

from gateproof.numerics.bounds import Budget
from gateproof.numerics.errors import NotImplementedOperator
from gateproof.numerics.minimax import minimax
from gateproof.numerics.ranges import Range
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.formula.nodes import App, Expr, Extremum, IntervalSet, NamedSet
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Digits beyond which a nested extremum is not pursued.
MAX_DIGITS = 9
#: The same over several names, where boxes are many.
MAX_JOINT = 4
_VALUES = ("sup", "inf")


def nested_enclosure(node: Extremum, digits: int, budget: Budget) -> tuple[Fraction, Fraction] | str:
    """Bounds of ``inf(sup(...))`` or ``sup(inf(...))``, or the reason why there are none.

    Raises NotImplementedOperator for other nests.
    """
    if len(node.scope.binds) > 1 and not isinstance(node.body, Extremum):
        return _of_several(node, digits, budget)
    inner = node.body
    if not isinstance(inner, Extremum) or {node.op, inner.op} != set(_VALUES):
        raise NotImplementedOperator(f"{node.op} of an expression with another extremum inside")
    if any(isinstance(n, Extremum) for n in inner.body.walk()):
        raise NotImplementedOperator("extrema nested three deep")
    within, around = ranges_of(inner), ranges_of(node)
    domains = {n: Domain(r.lo, r.hi, r.lo_closed, r.hi_closed) for n, r in (*around, *within)}
    if prove_defined(inner.body, Assumptions(domains)) is None:
        return f"that {to_text(inner.body)} has a value everywhere was not proved"
    body: Expr = inner.body if node.op == "inf" else App("neg", (inner.body,))
    found = minimax(body, within, around, min(digits, MAX_DIGITS), budget)
    if found.status != "ok" or found.lower is None or found.upper is None:
        return found.reason or "the inner value is infinite where it was looked at"
    ends = found.lower, found.upper
    return ends if node.op == "inf" else (-ends[1], -ends[0])


def _of_several(node: Extremum, digits: int, budget: Budget) -> tuple[Fraction, Fraction] | str:
    """A supremum or infimum over several names."""
    around = ranges_of(node)
    domains = {n: Domain(r.lo, r.hi, r.lo_closed, r.hi_closed) for n, r in around}
    if node.op not in _VALUES:
        raise NotImplementedOperator(f"{node.op} over several names")
    if prove_defined(node.body, Assumptions(domains)) is None:
        return f"that {to_text(node.body)} has a value everywhere was not proved"
    body = node.body if node.op == "inf" else App("neg", (node.body,))
    found = minimax(body, (), around, min(digits, MAX_JOINT), budget)
    if found.lower is None or found.upper is None:
        return found.reason or "no finite value was found"
    return (found.lower, found.upper) if node.op == "inf" else (-found.upper, -found.lower)


def ranges_of(node: Extremum) -> tuple[tuple[str, Range], ...]:
    """Where each name of an extremum ranges. Raises NotImplementedOperator."""
    if node.scope.conditions:
        raise NotImplementedOperator(f"{node.op} with conditions")
    found: list[tuple[str, Range]] = []
    for bind in node.scope.binds:
        within = bind.within
        if free_names(within):
            raise NotImplementedOperator(f"the set of {bind.name} depends on another name")
        if isinstance(within, NamedSet) and within.name == "R":
            found.append((bind.name, Range()))
        elif isinstance(within, IntervalSet):
            ends = [None if _infinite(e) else e for e in (within.lo, within.hi)]
            closed = within.lo_closed and ends[0] is not None, within.hi_closed and ends[1] is not None
            found.append((bind.name, Range(ends[0], ends[1], *closed)))
        else:
            raise NotImplementedOperator(f"{node.op} over {to_text(within)}")
    return tuple(found)


def _infinite(end: Expr) -> bool:
    return to_text(end) in ("oo", "-oo")

"""Nested extrema: ``inf(sup(f, x in S), t in T)`` against a closed value."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.decimals import decimal_enclosure
from gateproof.numerics.minimax import Minimax, from_above, minimax
from gateproof.numerics.points import enclosure
from gateproof.numerics.ranges import Range
from gateproof.proofs_check.engine.boxes import accept
from gateproof.proofs_check.engine.calculus import Elimination
from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.gate_bounds import closest_point, decide_gate_bound
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import (
    CERTIFIED,
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    composite,
    negation,
    undecided,
)
from gateproof.proofs_check.engine.space import Space, build, infinite_sign, is_empty
from gateproof.theory.formula.nodes import App, Exists, Expr, Extremum, Rel, Scope
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Digits tried in turn.
_LADDER = (4, 6, 9)
#: With so many parameters boxes in all of them no longer reach.
MANY = 3
_VALUES = ("sup", "inf")
#: A body, and where the inner and the outer names range.
_Parts = tuple[Expr, tuple[tuple[str, Range], ...], tuple[tuple[str, Range], ...]]
_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def is_nested(node: Extremum) -> bool:
    """Whether the body of a supremum or infimum is itself one, and nothing else."""
    return isinstance(node.body, Extremum)


def joined(node: Extremum) -> Extremum | None:
    """A supremum of a supremum as one over all names, else None."""
    inner = node.body
    if not isinstance(inner, Extremum) or inner.op != node.op or node.op not in _VALUES:
        return None
    scope = Scope((*node.scope.binds, *inner.scope.binds), (*node.scope.conditions, *inner.scope.conditions))
    return Extremum(node.op, inner.body, scope)


def of_extremum(stmt: Exists) -> tuple[Extremum, str, Expr] | None:
    """``exists t: sup(f) <= c`` as the infimum of suprema that decides it, else None.

    That infimum is below c, or a supremum at one t is at most c, or there is no such t.
    """
    body = stmt.body
    if not isinstance(body, Rel) or len(body.ops) != 1:
        return None
    (op,), (a, b) = body.ops, body.terms
    if isinstance(b, Extremum):
        op, a, b = _MIRROR[op], b, a
    wanted = {"sup": ("<", "<="), "inf": (">", ">=")}
    if not isinstance(a, Extremum) or op not in wanted.get(a.op, ()) or free_names(b) or infinite_sign(b):
        return None
    if any(isinstance(n, Extremum) for n in (*a.body.walk(), *b.walk())):
        return None
    return Extremum("inf" if a.op == "sup" else "sup", a, stmt.scope), op, b


def decide_nested(node: Extremum, op: str, bound: Expr, context: Context) -> Outcome:
    """Decide ``node op bound`` for an infimum of suprema or a supremum of infima."""
    if op == "!=":
        return negation(decide_nested(node, "==", bound, context))
    down = node.op == "inf"
    sign = infinite_sign(bound)
    found = Minimax("unknown")
    parts = _taken_apart(node, context)
    if down and not sign and isinstance(node.body, Extremum) and node.body.op == "sup":
        over_gates = decide_gate_bound(*parts, op, enclosure(bound, 256))
        if over_gates is not None:
            return over_gates
        near = None
        if len(parts[2]) >= MANY:
            near = _at_the_closest_gate(parts, op, enclosure(bound, 256), context)
        if near is not None:
            return _outcome(node, near[0], near[1], rests_on_point=True)
    for digits in _LADDER:
        found = minimax(*parts, digits, context.budget())
        if found.status == "infinite":
            return undecided(f"{to_text(node)}: the inner value is infinite where it was looked at")
        if sign:
            return _against_infinity(node, op, sign, found)
        lo, hi = enclosure(bound, 256)
        decided = _compared(op, found, lo, hi) if down else _compared(_MIRROR[op], found, -hi, -lo)
        if decided is not None:
            return _outcome(node, found, decided[0], rests_on_point=decided[1])
        if found.reason:
            break
    if found.lower is None or found.upper is None:
        return undecided(f"{to_text(node)} was not enclosed: {found.reason}")
    text = _value(node, found, 12)
    return undecided(f"{to_text(node)} lies in [{text['lo']}, {text['hi']}], which does not tell")


def _at_the_closest_gate(
    parts: _Parts, op: str, bound: tuple[Fraction, Fraction], context: Context
) -> tuple[Minimax, bool] | None:
    """The infimum from above by one gate near the best of its family, where that decides; and the truth."""
    point = closest_point(*parts)
    if point is None:
        return None
    found = from_above(*parts[:2], point, context.budget())
    decided = _compared(op, found, *bound)
    return None if decided is None or not decided[1] else (found, decided[0])


def enclosed(node: Extremum, digits: int, context: Context) -> Minimax:
    """The enclosure of an infimum of suprema, or of minus a supremum of infima."""
    body, inner, outer = _taken_apart(node, context)
    return minimax(body, inner, outer, digits, context.budget())


def _against_infinity(node: Extremum, op: str, sign: int, found: Minimax) -> Outcome:
    if found.upper is None or found.lower is None:
        return undecided(f"whether {to_text(node)} is finite was not decided")
    truth = {"==": False, "<": sign > 0, "<=": sign > 0, ">": sign < 0, ">=": sign < 0}[op]
    return _outcome(node, found, truth, rests_on_point=False)


def _taken_apart(
    node: Extremum, context: Context
) -> tuple[Expr, tuple[tuple[str, Range], ...], tuple[tuple[str, Range], ...]]:
    """The body (negated for a supremum of infima) and where its names range."""
    inner = node.body
    if not isinstance(inner, Extremum) or node.op not in _VALUES or inner.op not in _VALUES:
        raise NotYetError(f"{node.op} of {inner.op if isinstance(inner, Extremum) else 'arithmetic'}")
    if any(isinstance(n, Extremum) for n in inner.body.walk()):
        raise NotYetError("extrema nested three deep")
    parts = [_ranges(n) for n in (inner, node)]
    together = Space({**parts[1][0].domains, **parts[0][0].domains})
    work = Elimination(together)
    body = work.expr(inner.body)
    if work.owed:
        raise NotYetError(f"{node.op} of a derivative with kinks")
    found = decide_defined(together, body, context)
    if found.ill_posed:
        raise IllPosedError(found.reason)
    if found.truth is not True:
        raise UndecidedError(found.reason)
    if node.op == "sup":
        body = App("neg", (body,))
    return body, parts[0][1], parts[1][1]


def _ranges(node: Extremum) -> tuple[Space, tuple[tuple[str, Range], ...]]:
    for bind in node.scope.binds:
        if free_names(bind.within):
            raise NotYetError(f"the set of {bind.name} depends on another name")
    space = absorbed(build(node.scope))
    if any(is_empty(d) for d in space.domains.values()):
        raise IllPosedError(f"{to_text(node)} ranges over nothing")
    if space.facts or space.vectors:
        raise NotYetError(f"a nested {node.op} with conditions or vectors")
    ranges = []
    for name, domain in space.domains.items():
        if domain.integer or domain.without:
            raise NotYetError(f"a nested {node.op} over integers or a set with holes")
        ranges.append((name, Range(domain.lo, domain.hi, domain.lo_closed, domain.hi_closed)))
    return space, tuple(ranges)


def _compared(op: str, found: Minimax, lo: Fraction, hi: Fraction) -> tuple[bool, bool] | None:
    """The truth of ``value op bound``, value in [lower, upper], bound in [lo, hi]; whether upper shows it."""
    lower, upper = found.lower, found.upper
    if lower is not None and lower > hi:
        return op in (">", ">="), False
    if upper is not None and upper < lo:
        return op in ("<", "<="), True
    if lower is not None and lower >= hi and op in (">=", "<"):
        return op == ">=", False
    if upper is not None and upper <= lo and op in ("<=", ">"):
        return op == "<=", True
    if op == "==" and lower == upper == lo == hi:
        return True, False
    return None


def _value(node: Extremum, found: Minimax, digits: int) -> dict[str, str]:
    assert found.lower is not None
    assert found.upper is not None
    ends = (-found.upper, -found.lower) if node.op == "sup" else (found.lower, found.upper)
    return decimal_enclosure(*ends, digits)


def _outcome(node: Extremum, found: Minimax, truth: bool, *, rests_on_point: bool) -> Outcome:
    """What was found; one point of the parameters suffices for a bound from its side."""
    certificate: Mapping[str, Any] | None = found.certificate if rests_on_point else None
    if certificate is not None and accept(certificate) is not None:
        return undecided("the certificate of the inner value was not accepted by the checker")
    if not rests_on_point:
        certificate = _from_below(found)
    at = {n: rational_text(v) for n, v in (found.point or {}).items()}
    known = found.lower is not None and found.upper is not None
    return Outcome(
        truth,
        CERTIFIED,
        "one point of the parameters" if rests_on_point else "branch and bound over the parameters",
        ("arb", "mpfr") if certificate is not None else ("arb",),
        _steps(node, found, at),
        _value(node, found, 12) if known else None,
        witness=at if at and not truth else None,
        certificate=certificate,
    )


def _from_below(found: Minimax) -> Mapping[str, Any] | None:
    """The certificate of a lower bound, and of an upper one that is the same; None if not accepted."""
    parts = [*found.below]
    if found.lower == found.upper and found.certificate is not None:
        parts.append(found.certificate)
    joint = composite(parts, "for all parameters: at some point of the inner names the body is at least that")
    whole = found.below and joint is not None and accept(joint) is None
    return joint if whole else None


def _steps(node: Extremum, found: Minimax, at: dict[str, str]) -> tuple[str, ...]:
    inner = node.body
    assert isinstance(inner, Extremum)
    up = node.op == "sup"
    steps: list[str] = []
    if found.upper is not None:
        where = ", ".join(f"{n} = {v}" for n, v in at.items())
        end = -found.upper if up else found.upper
        text = decimal_enclosure(end, end, 12)["lo" if up else "hi"]
        steps.append(f"at {where} the {inner.op} is at {'least' if up else 'most'} {text}")
    if found.lower is not None:
        end = -found.lower if up else found.lower
        text = decimal_enclosure(end, end, 12)["hi" if up else "lo"]
        names, points = (", ".join(b.name for b in n.scope.binds) for n in (node, inner))
        steps.append(
            f"for every {names} the {inner.op} is at {'most' if up else 'least'} {text}, "
            f"by the values at {len(found.witnesses)} points of {points} on {found.boxes} boxes of {names}, "
            "which reach to infinity where the set does"
        )
    return tuple(steps)

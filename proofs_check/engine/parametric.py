"""Extrema that depend on names of the statement: ``for t in T: sup(f(x, t), x in S) <= b(t)``.

Where the extremum is an expression in the other names (the value at an exact critical point, at
an end, or a limit there, which is proved to bound all others) the statement is one on that
expression. Otherwise a bound on the supremum is a bound on f for all names together.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import islice

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.minimax import minimax
from gateproof.numerics.ranges import Range
from gateproof.proofs_check.engine.boxes import accept
from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.continuity import continuous
from gateproof.proofs_check.engine.existence_under import decide_exists_under
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import (
    CERTIFIED,
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    composite,
    conjunction,
    merged_trust,
    undecided,
)
from gateproof.proofs_check.engine.parametric_exact import (
    Exact,
    Part,
    exactly,
    membership_of,
    taken_apart,
    widely,
)
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space, build, infinite_sign, is_empty
from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute, substitute_node
from gateproof.theory.formula.nodes import App, Exists, Expr, Extremum, FiniteSet, Num, Rel, Scope, Var, num
from gateproof.theory.formula.printer import to_text

_FLIP = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SETS = ("argmax", "argmin", "zeros")
#: Points of the other names at which the statement is decided on its own first.
SINGLE = 5
#: Digits to which a supremum is followed over the other names where boxes decide.
DIGITS = 2


def decide_parametric(space: Space, relation: Rel, context: Context) -> Outcome:
    """Decide a relation of an extremum with an expression, for all of the other names."""
    (op,), (a, b) = relation.ops, relation.terms
    if isinstance(b, Extremum) and not isinstance(a, Extremum):
        op, a, b = _FLIP[op], b, a
    if not isinstance(a, Extremum) or any(isinstance(n, Extremum) for n in (*a.body.walk(), *b.walk())):
        raise NotYetError("arithmetic or a nest of extrema that depend on other names")
    if a.op in _SETS and op != "==":
        raise IllPosedError(f"{a.op} is a set and has no order")
    single = _at_single_points(space, Rel((op,), (a, b)), context)
    if single is not None:
        if single.truth is False:
            _has_meaning(space, a, context)
        return single
    part = taken_apart(space, a, context)
    if a.op in _SETS:
        items = b.items if isinstance(b, FiniteSet) else (b,)
        return _set(part, items, context)
    if isinstance(b, FiniteSet):
        raise IllPosedError(f"{a.op} is a number and is compared with a set")
    exact = exactly(part, context)
    if exact is not None:
        return _with_value(part, exact, op, b, context)
    if a.op in ("max", "min"):
        return undecided(f"whether {to_text(a)} is attained for all of the other names was not decided")
    if infinite_sign(b):
        return undecided(f"whether {to_text(a)} is finite was not decided")
    return _bounded(part, op, b, context)


def _has_meaning(space: Space, node: Extremum, context: Context) -> None:
    """Raise IllPosedError where the extremum certainly has none for some values of the other names."""
    with suppress(NotYetError, UndecidedError, NumericsError):
        taken_apart(space, node, context)
    for point in islice(points(space, (node,), context.settings.seed, SINGLE * 4), SINGLE * 4):
        scope = substitute_node(node.scope, {n: Num(v) for n, v in point.items()})
        assert isinstance(scope, Scope)
        inner = absorbed(build(scope))
        if any(is_empty(domain) for domain in inner.domains.values()):
            at = ", ".join(f"{n} = {rational_text(v)}" for n, v in point.items())
            raise IllPosedError(f"at {at}: {to_text(node)} ranges over nothing")


def _at_single_points(space: Space, relation: Rel, context: Context) -> Outcome | None:
    """A point of the other names at which the statement is false or has no meaning."""
    from gateproof.proofs_check.engine.statements import forall

    unsure = 0
    wide = list(points(space, (relation,), context.settings.seed, SINGLE * 8))
    for point in wide[: SINGLE - 2] + wide[SINGLE :: max(1, len(wide) // 2)][:2]:
        at = substitute_node(relation, {n: Num(v) for n, v in point.items()})
        assert isinstance(at, Rel)
        where = {n: rational_text(v) for n, v in point.items()}
        text = ", ".join(f"{n} = {v}" for n, v in where.items())
        try:
            found = forall(Space(), at, context.deeper())
        except IllPosedError as error:
            raise IllPosedError(f"at {text}: {error}") from None
        except (NotYetError, UndecidedError, NumericsError):
            found = undecided("")
        if found.ill_posed:
            return replace(found, reason=f"at {text}: {found.reason}", witness=where)
        if found.truth is False:
            witness = {**(found.witness or {}), **where}
            return replace(found, steps=(f"at {text}:", *found.steps), witness=witness)
        unsure += found.truth is None
        if unsure > 1:
            return None
    return None


def _with_value(part: Part, exact: Exact, op: str, bound: Expr, context: Context) -> Outcome:
    """The relation of the exact value with the bound."""
    from gateproof.proofs_check.engine.statements import forall

    if part.node.op in ("max", "min") and exact.place is None:
        return undecided(f"whether {to_text(part.node)} is attained was not decided")
    if infinite_sign(exact.value):
        own, other = infinite_sign(exact.value), infinite_sign(bound)
        order = (own > other) - (own < other)
        truth = {"==": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0}
        truth |= {">": order > 0, ">=": order >= 0}
        return replace(exact.shown, truth=truth[op], method="limit")
    found = forall(part.outer, Rel((op,), (exact.value, bound)), context.deeper())
    step = f"so {to_text(part.node)} = {to_text(exact.value)}"
    trust = merged_trust(exact.shown, found)
    if found.truth is not True:
        return replace(found, steps=(*exact.shown.steps, step, *found.steps), trust=trust)
    together = conjunction([exact.shown, found])
    return replace(together, steps=(*exact.shown.steps, step, *found.steps), method="exact critical point")


def _bounded(part: Part, op: str, bound: Expr, context: Context) -> Outcome:
    """The supremum against a bound without its exact value."""
    inward = op if part.up else _FLIP[op]
    if inward == "<=":
        return _within(part, bound, context)
    if inward == ">=":
        return _reaches(part, bound, context)
    if inward == "==":
        outcomes = [_within(part, bound, context)]
        if outcomes[0].truth is True:
            outcomes.append(_reaches(part, bound, context))
        return conjunction(outcomes)
    if inward == "<":
        for margin in (Num(Fraction(1, 1000)), Num(Fraction(1, 10**6))):
            lower = App("mul", (App("add", (num(1), App("neg", (margin,)))), bound))
            positive = prove_relation(bound, ">", num(0), part.outer.assumptions())
            if part.up and positive is not None:
                found = _within(part, lower, context)
                if found.truth is True:
                    return found
    return undecided(f"{to_text(part.node)} {op} {to_text(bound)} needs the exact value, which was not found")


def _within(part: Part, bound: Expr, context: Context) -> Outcome:
    relation = Rel(("<=" if part.up else ">=",), (part.body, bound))
    return widely(part.together, relation, context)


def _reaches(part: Part, bound: Expr, context: Context) -> Outcome:
    relation = Rel((">=" if part.up else "<=",), (part.body, bound))
    found = decide_exists_under(part.outer, Exists(part.node.scope, relation), context)
    if found.truth is True:
        return found
    ranges = [_ranges(s) for s in (part.inner, part.outer)]
    if ranges[0] is None or ranges[1] is None:
        return undecided(f"that {to_text(bound)} is reached for all of the other names was not proved")
    gap = App("add", (part.body, App("neg", (bound,))))
    gap = gap if part.up else App("neg", (gap,))
    least = minimax(gap, ranges[0], ranges[1], DIGITS, context.budget())
    if least.lower is not None and least.lower >= 0:
        names = ", ".join(part.outer.domains)
        step = f"{to_text(relation)} at one of {len(least.witnesses)} points on each of {least.boxes} boxes"
        joint = composite([*least.below]) if least.below else None
        checked = joint is not None and accept(joint) is None
        return Outcome(
            True,
            CERTIFIED,
            "branch and bound over the parameters",
            ("arb", "mpfr") if checked else ("arb",),
            (f"{step} of {names}",),
            certificate=joint if checked else None,
        )
    if least.upper is not None and least.upper < 0 and least.point is not None:
        at = {n: rational_text(v) for n, v in least.point.items()}
        where = ", ".join(f"{n} = {v}" for n, v in at.items())
        step = f"at {where} the {part.node.op} does not reach {to_text(bound)}"
        kept = least.certificate
        if kept is not None and accept(kept) is None:
            trust = ("arb", "mpfr")
            method = "one point of the parameters"
            return Outcome(False, CERTIFIED, method, trust, (step,), witness=at, certificate=kept)
    return undecided(f"that {to_text(bound)} is reached for all of the other names was not proved")


def _ranges(space: Space) -> tuple[tuple[str, Range], ...] | None:
    if space.facts or any(d.integer or d.without for d in space.domains.values()):
        return None
    return tuple((n, Range(d.lo, d.hi, d.lo_closed, d.hi_closed)) for n, d in space.domains.items())


def _set(part: Part, items: tuple[Expr, ...], context: Context) -> Outcome:
    """argmax, argmin or zeros as expressions in the other names."""
    from gateproof.proofs_check.engine.statements import forall

    name = part.name
    if name is None or part.inner.domains[name].integer:
        raise NotYetError(f"{part.node.op} over several names or integers, which depends on other names")
    outcomes = [forall(part.outer, membership_of(part, item), context.deeper()) for item in items]
    values = [substitute(part.body, {name: item}) for item in items]
    target = num(0) if part.node.op == "zeros" else values[0]
    outcomes += [forall(part.outer, Rel(("==",), (v, target)), context.deeper()) for v in values]
    for found in outcomes:
        if found.truth is not True:
            return found if found.truth is False else undecided(f"{part.node.op}: {found.reason}")
    alone = _alone(part, name, items, target)
    if alone is None:
        return undecided(f"that {part.node.op} has no other element was not proved")
    together = conjunction([*outcomes, alone])
    return replace(together, method="exact derivative sign", steps=(*together.steps, *alone.steps))


def _alone(part: Part, name: str, items: tuple[Expr, ...], target: Expr) -> Outcome | None:
    """No other point has the value: by the sign of the slope (or of the body) on either side."""
    given = part.together
    if len(items) == 1:
        below = given.given(Rel(("<",), (Var(name), items[0]))).assumptions()
        above = given.given(Rel((">",), (Var(name), items[0]))).assumptions()
        if part.node.op == "zeros":
            return _signed(part.body, below, above, ("<", ">"), ("<", ">"))
        # A slope of one sign says something on an interval without holes, of a body without jumps.
        whole = not part.inner.facts and not part.inner.domains[name].without
        smooth = whole and not kinks(part.body, name) and continuous(part.body, name, given).truth is True
        slope = derivative(part.body, name) if smooth else None
        if slope is not None:
            rising, falling = (">",), ("<",)
            first, second = (rising, falling) if part.up else (falling, rising)
            found = _signed(slope, below, above, first, second)
            if found is not None:
                return found
    apart = given.given(*(Rel(("!=",), (Var(name), item)) for item in items)).assumptions()
    op = "!=" if part.node.op == "zeros" else "<" if part.up else ">"
    proof = prove_relation(part.body, op, target, apart, defined=True)
    return None if proof is None else Outcome(True, "proved", "symbolic proof", proof.trust, proof.steps)


def _signed(
    expr: Expr, below: Assumptions, above: Assumptions, first: tuple[str, ...], second: tuple[str, ...]
) -> Outcome | None:
    steps: list[str] = []
    trust: list[str] = []
    for given, ops in ((below, first), (above, second)):
        for op in ops:
            proof = prove_relation(expr, op, num(0), given, defined=True)
            if proof is not None:
                steps += proof.steps
                trust += proof.trust
                break
        else:
            return None
    return Outcome(True, "proved", "symbolic proof", tuple(dict.fromkeys(trust)), tuple(steps))

"""Maxima over several names, under conditions, or over a set with holes: by a point with the greatest value.

At a point c of the set with f <= f(c) on all of it the maximum is f(c). Where f < b on all of it and the
supremum is b, there is no maximum. A continuous f comes as near as one likes to each of its values on the
closure of a set of intervals, ends and holes filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import enclosure
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.outcome import IllPosedError, NotYetError, Outcome, UndecidedError
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.critical import exact_extremum_candidates
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.library import substitute, substitute_node
from gateproof.theory.formula.nodes import App, Const, Expr, Num, Rel, Stmt, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text

#: Points tried, and points for which it is asked whether they are the greatest.
TRIED, ASKED = 600, 3
_ROOT = App("div", (num(1), App("sqrt", (num(2),))))
_PLAIN = tuple(num(Fraction(v)) for v in ("0", "1", "-1", "1/2", "-1/2", "2", "1/3"))
_USUAL = (*_PLAIN, _ROOT, App("neg", (_ROOT,)))
#: Functions that are continuous wherever they have a value.
_EXPONENTIAL = ("exp", "log", "sinh", "cosh", "tanh", "sech", "asinh", "sigmoid", "softplus")
_CONTINUOUS = frozenset(
    (
        "add",
        "mul",
        "neg",
        "div",
        "abs",
        "max",
        "min",
        "sqrt",
        "sin",
        "cos",
        "atan",
        "erf",
        "erfc",
        *_EXPONENTIAL,
    )
)
Point = dict[str, Expr]


def greatest(space: Space, body: Expr, up: bool, context: Context) -> tuple[Point, Outcome] | None:
    """A point of the set whose value is at least (``up``) or at most all others, with the proof; or None."""
    from gateproof.proofs_check.engine.relation import decide_relation

    if space.vectors:
        return None
    for point in islice(_best(space, body, up, context), ASKED):
        bound = substitute(body, point)
        found = decide_relation(space, Rel(("<=" if up else ">=",), (body, bound)), context.deeper())
        if found.truth is True:
            where = ", ".join(f"{n} = {to_text(v)}" for n, v in point.items())
            return point, replace(found, steps=(*found.steps, f"reached at {where}"))
    return None


def _best(space: Space, body: Expr, up: bool, context: Context) -> Iterator[Point]:
    """Points of the set, those with the best values first."""
    valued: list[tuple[Fraction, int, Point]] = []
    tried: list[Point] = list(islice(_candidates(space, body), TRIED))
    samples = points(space, (body,), context.settings.seed, 40)
    tried.extend({n: Num(v) for n, v in sample.items()} for sample in samples)
    for k, point in enumerate(tried):
        if not _inside(point, space):
            continue
        try:
            lo, hi = enclosure(substitute(body, point))
        except NumericsError:
            continue
        value = (lo + hi) / 2
        valued.append((-value if up else value, k, point))
    for _, _, point in sorted(valued, key=lambda v: v[:2]):
        yield point


def _candidates(space: Space, body: Expr) -> Iterator[Point]:
    columns: list[list[Expr]] = []
    for name, domain in space.domains.items():
        column = [e for e in (domain.lo, domain.hi) if e is not None]
        if len(space.domains) == 1 and not space.facts:
            column += exact_extremum_candidates(body, name, space.assumptions()) or ()
        columns.append(list(dict.fromkeys((*column, *_USUAL))))
    for values in product(*columns):
        yield dict(zip(space.domains, values, strict=True))


def _inside(point: Point, space: Space) -> bool:
    return all(lies_in(point[n], d) for n, d in space.domains.items()) and all(
        _holds(substitute_node(f, dict(point))) for f in space.facts
    )


def lies_in(value: Expr, domain: Domain) -> bool:
    """Whether a closed value is seen to lie in a domain."""
    exact = constant_value(value)
    if domain.integer and (exact is None or exact.denominator != 1):
        return False
    conditions = [Rel(("!=",), (value, p)) for p in domain.without]
    if domain.lo is not None:
        conditions.append(Rel(("<=" if domain.lo_closed else "<",), (domain.lo, value)))
    if domain.hi is not None:
        conditions.append(Rel(("<=" if domain.hi_closed else "<",), (value, domain.hi)))
    return all(_holds(c) for c in conditions)


def _holds(stmt: object) -> bool:
    from gateproof.proofs_check.engine.statements import forall
    from gateproof.proofs_check.records import Settings

    assert isinstance(stmt, Stmt)
    try:
        return forall(Space(), stmt, Context(Settings())).truth is True
    except (NumericsError, NotYetError, UndecidedError, IllPosedError):
        return False


def closure(space: Space, body: Expr, context: Context) -> Space | None:
    """The space with its ends and holes filled in, where the body is continuous there; or None."""
    if space.facts or space.vectors or any(d.integer for d in space.domains.values()):
        return None
    if not all(_is_continuous(n) for n in body.walk()):
        return None
    filled = {n: Domain(d.lo, d.hi, d.lo is not None, d.hi is not None) for n, d in space.domains.items()}
    wide = Space(filled)
    return wide if decide_defined(wide, body, context).truth is True else None


def _is_continuous(node: object) -> bool:
    if isinstance(node, Num | Const | Var):
        return True
    if not isinstance(node, App):
        return False
    if node.head == "pow":
        power = constant_value(node.args[1])
        return power is not None and power.denominator == 1
    return node.head in _CONTINUOUS


def near_value(space: Space, body: Expr, up: bool, bound: Expr, context: Context) -> Outcome | None:
    """The supremum is at least the bound, by a value on the closure of the set; or None."""
    from gateproof.proofs_check.engine.closed import decide_constants

    if space.vectors:
        return None
    wide = closure(space, body, context) or space
    for point in islice(_best(wide, body, up, context), ASKED):
        found = decide_constants(">=" if up else "<=", substitute(body, point), bound)
        if found.truth is True:
            where = ", ".join(f"{n} = {to_text(v)}" for n, v in point.items())
            step = f"the value at {where} is reached"
            if wide is not space:
                step = f"the function is continuous, so it comes near its value at {where}"
            return replace(found, steps=(*found.steps, step))
    return None


def falls_short(space: Space, body: Expr, up: bool, bound: Expr, context: Context) -> Outcome | None:
    """The supremum is less than the bound, as it is the value at a point; or None."""
    from gateproof.proofs_check.engine.closed import decide_constants

    found = greatest(space, body, up, context)
    if found is None:
        return None
    value = decide_constants(">=" if up else "<=", substitute(body, found[0]), bound)
    if value.truth is not False:
        return None
    return replace(found[1], truth=False, steps=(*found[1].steps, *value.steps), witness=None)


def decide_general_maximum(
    space: Space,
    body: Expr,
    up: bool,
    op: str,
    bound: Expr,
    shown: str,
    supremum: Callable[[], Outcome],
    context: Context,
) -> Outcome | None:
    """``max op bound``; ``supremum`` decides whether the bound is the supremum. None where not decided."""
    from gateproof.proofs_check.engine.closed import decide_constants
    from gateproof.proofs_check.engine.relation import decide_relation

    found = greatest(space, body, up, context)
    if found is not None:
        point, proof = found
        value = decide_constants(op, substitute(body, point), bound)
        steps = (*proof.steps, *value.steps)
        trust = tuple(dict.fromkeys((*proof.trust, *value.trust)))
        return replace(value, rigor=proof.rigor, trust=trust, steps=steps, certificate=proof.certificate)
    if supremum().truth is True:
        beyond = Rel(("<" if up else ">",), (body, bound))
        if decide_relation(space, beyond, context.deeper()).truth is True:
            raise IllPosedError(f"{shown}: not attained, so there is no {'max' if up else 'min'}")
    return None

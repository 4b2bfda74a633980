"""Closed relations between values with integrals in them, by enclosures at rising precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import evaluate_interval
from gateproof.numerics.decimals import agreed_digits, decimal_enclosure
from gateproof.numerics.errors import MaybeUndefined, NotImplementedOperator, NotReal, Undefined
from gateproof.numerics.integral import Value
from gateproof.numerics.means import enclosed
from gateproof.numerics.precision import precision
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.outcome import (
    CERTIFIED,
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    undecided,
)
from gateproof.theory.exact.infinity import INFINITY, MINUS_INFINITY
from gateproof.theory.exact.means import Mean
from gateproof.theory.formula.nodes import App, Expr, Node, Rel, Var, rebuild
from gateproof.theory.formula.printer import to_text

#: Digits to which integrals are enclosed in turn.
LADDER = (8, 16, 32, 50)
HOLDS = {"==": (0,), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (1, 0)}


def decide_closed_means(relation: Rel, context: Context, decide: Callable[[Rel], Outcome]) -> Outcome:
    """Decide ``a op b`` by the sign of a - b; ``decide`` takes the relation where a side is infinite."""
    (op,), (a, b) = relation.ops, relation.terms
    reached = 0
    for digits in LADDER:
        values: dict[Node, Value] = {}
        for node in relation.walk():
            if isinstance(node, Mean) and node not in values:
                values[node] = _value(node, digits, context)
        infinite = {n: v.sign for n, v in values.items() if v.status == "infinite"}
        if infinite:
            return _infinite(relation, infinite, decide)
        gap = _gap(a, b, values, digits)
        if gap is None:
            continue
        sign = 1 if gap[0] > 0 else -1 if gap[1] < 0 else None
        if sign is not None:
            return _outcome(relation, sign in HOLDS[op], values, gap, digits)
        reached = max(reached, _agreed(a, values, gap, digits))
    if reached:
        return undecided(f"agree to {reached} digits")
    return undecided("the enclosures of the integrals do not settle it")


def _value(node: Mean, digits: int, context: Context) -> Value:
    try:
        found = enclosed(node, digits, context.budget())
    except NotImplementedOperator as error:
        raise NotYetError(error.name) from None
    if found.status == "undefined":
        raise IllPosedError(f"{to_text(node)} has no value: {found.reason}")
    if found.status == "unknown":
        raise UndecidedError(f"{to_text(node)}: {found.reason}")
    return found


def _infinite(relation: Rel, infinite: dict[Node, int], decide: Callable[[Rel], Outcome]) -> Outcome:
    """A side that is an infinite integral and nothing else is oo or -oo."""
    terms = [
        (INFINITY if infinite[t] > 0 else MINUS_INFINITY) if t in infinite else t for t in relation.terms
    ]
    if any(n in infinite for t in terms for n in t.walk()):
        raise NotYetError("arithmetic with an infinite integral")
    found = decide(Rel(relation.ops, tuple(terms)))
    steps = [f"{to_text(n)} = {'-' if sign < 0 else ''}oo by its tail" for n, sign in infinite.items()]
    trust = tuple(dict.fromkeys((*found.trust, "arb")))
    return replace(found, rigor=CERTIFIED, steps=(*steps, *found.steps), trust=trust)


def value_interval(
    expr: Expr,
    values: dict[Node, Value],
    bits: int,
    box: Mapping[str, tuple[Fraction, Fraction]] | None = None,
) -> iv.Interval:
    """The expression with enclosures for its integrals and names. Raises as interval evaluation does."""
    env: dict[str, iv.Interval] = {}
    names: dict[Node, str] = {}

    def visit(part: Node) -> Node:
        if part in values:
            return Var(names.setdefault(part, f"mean {len(names)}"))
        done = rebuild(part, visit)
        assert isinstance(done, Node)
        return done

    plain = visit(expr)
    assert isinstance(plain, Expr)
    with precision(bits):
        for name, (low, high) in (box or {}).items():
            env[name] = iv.down(iv.rational(low)), iv.up(iv.rational(high))
        for node, name in names.items():
            ends = values[node].enclosure
            assert ends is not None
            lo, hi = (iv.rational(e) for e in ends)
            env[name] = iv.down(lo), iv.up(hi)
        return evaluate_interval(plain, env, bits)


def _gap(a: Expr, b: Expr, values: dict[Node, Value], digits: int) -> tuple[Fraction, Fraction] | None:
    """Bounds of a - b; None where parts of it are not seen to be defined at this precision."""
    try:
        found = value_interval(App("add", (a, App("neg", (b,)))), values, 4 * digits + 64)
    except Undefined as error:
        raise IllPosedError(f"a side has no value: {error}") from None
    except NotReal:
        raise NotYetError("arithmetic with infinite values") from None
    except MaybeUndefined:
        return None
    if not all(e.is_finite() and iv.moderate(e) for e in found):
        return None
    return iv.to_fraction(found[0]), iv.to_fraction(found[1])


def _agreed(a: Expr, values: dict[Node, Value], gap: tuple[Fraction, Fraction], digits: int) -> int:
    side = _gap(a, a, values, digits)
    size = value_interval(a, values, 4 * digits + 64)
    if side is None or not all(e.is_finite() for e in size):
        return 0
    middle = iv.to_fraction(size[0])
    return min(digits, agreed_digits(middle, middle + gap[1] - gap[0]))


def _outcome(
    relation: Rel, truth: bool, values: dict[Node, Value], gap: tuple[Fraction, Fraction], digits: int
) -> Outcome:
    from gateproof.proofs_check.engine.integral_certificates import certified_values

    steps = []
    for node, value in values.items():
        assert value.enclosure is not None
        shown = decimal_enclosure(*value.enclosure, digits)
        steps.append(f"{to_text(node)} lies in [{shown['lo']}, {shown['hi']}]")
    apart = decimal_enclosure(*gap, 6)
    steps.append(f"left side minus right side lies in [{apart['lo']}, {apart['hi']}]")
    known = certified_values(relation, values)
    if known is not None:
        steps.append(f"re-checked with MPFR, the integrals to a relative tolerance of {float(known[1]):g}")
    return Outcome(
        truth,
        CERTIFIED,
        "certified quadrature",
        ("arb", "mpfr") if known is not None else ("arb",),
        tuple(steps),
        value=_shown(relation, values, digits),
        certificate=None if known is None else known[0],
    )


def _shown(relation: Rel, values: dict[Node, Value], digits: int) -> dict[str, str] | None:
    """The value of the first side that holds an integral."""
    side = next(t for t in relation.terms if any(n in values for n in t.walk()))
    try:
        found = value_interval(side, values, 4 * digits + 64)
    except (Undefined, MaybeUndefined, NotReal):
        return None
    if not all(e.is_finite() and iv.moderate(e) for e in found):
        return None
    return decimal_enclosure(iv.to_fraction(found[0]), iv.to_fraction(found[1]), digits)

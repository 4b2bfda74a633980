"""Bounds that hold under conditions between several names.

A name whose upper limit is a condition linear in it, and in which the gap falls, may be put at that limit.
Else boxes: those where a condition fails are left out, on the others the gap must have its sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import evaluate_interval
from gateproof.numerics.certificate import Bounds, Tree, range_certificate, ratio
from gateproof.numerics.errors import MaybeUndefined, NotReal, NumericsError, Undefined
from gateproof.numerics.precision import precision
from gateproof.proofs_check.engine.boxes import accept, box_of
from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.outcome import CERTIFIED, Outcome, conjunction
from gateproof.proofs_check.engine.space import Space, is_empty
from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import And, App, Expr, Num, Rel, Where, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Boxes that one bound may take, and sizes of a box that may hold all that the conditions allow.
BOXES, SIZES, MAX_NAMES = 4_000, (2, 10, 100), 4
_BITS = 64
_Box = dict[str, tuple[Fraction, Fraction]]


def nonnegative_under(space: Space, gap: Expr, *, strict: bool, context: Context) -> Outcome | None:
    """``gap >= 0`` (``> 0``) on a space with conditions; None where not shown."""
    if not space.facts or space.vectors or not 2 <= len(space.domains) <= MAX_NAMES or context.depth > 3:
        return None
    return _at_a_limit(space, gap, strict, context) or _by_boxes(space, gap, strict, context)


def _at_a_limit(space: Space, gap: Expr, strict: bool, context: Context) -> Outcome | None:
    from gateproof.proofs_check.engine.relation import decide_relation

    for fact in space.facts:
        if not isinstance(fact, Rel) or len(fact.ops) != 1 or fact.ops[0] not in ("<", "<=", ">", ">="):
            continue
        left, right = fact.terms
        difference = App("add", (left, App("neg", (right,))))
        for name in sorted(free_names(fact) & set(space.domains)):
            domain = space.domains[name]
            rate = _rate(difference, name)
            if not rate or domain.integer or domain.without or kinks(gap, name):
                continue
            root = App("mul", (num(-1 / rate), substitute(difference, {name: num(0)})))
            upper = (rate > 0) == (fact.ops[0][0] == "<")
            slope = derivative(gap, name)
            if slope is None:
                continue
            falls = Rel(("<=" if upper else ">=",), (slope, num(0)))
            if decide_relation(_up_to(space, name, fact, upper), falls, context.deeper()).truth is not True:
                continue
            rest = _without(space, name, root, domain, upper)
            if rest is None:
                continue
            there = Rel((">" if strict else ">=",), (substitute(gap, {name: root}), num(0)))
            found = decide_relation(rest, there, context.deeper())
            if found.truth is True:
                step = f"{to_text(gap)} is least at {name} = {to_text(root)}, where {to_text(fact)} ends"
                return replace(found, steps=(*found.steps, step))
    return None


def _up_to(space: Space, name: str, fact: Rel, upper: bool) -> Space:
    """All points between one of the space and the limit of the name there; its other limits are dropped."""
    domain = space.domains[name]
    loose = replace(domain, hi=None, hi_closed=False) if upper else replace(domain, lo=None, lo_closed=False)
    facts = (*(f for f in space.facts if name not in free_names(f)), fact)
    return replace(space.with_domain(name, loose), facts=facts)


def _rate(difference: Expr, name: str) -> Fraction | None:
    """The rational factor of the name in an expression that is linear in it."""
    slope = derivative(difference, name)
    return None if slope is None else constant_value(slope)


def _without(space: Space, name: str, root: Expr, domain: Domain, upper: bool) -> Space | None:
    """The other names, where the limit lies on the right side of the other end of the name."""
    facts = [f for f in space.facts if name not in free_names(f)]
    end = domain.lo if upper else domain.hi
    if end is not None:
        facts.append(Rel(("<=",), (end, root) if upper else (root, end)))
    rest = absorbed(replace(space.without(name), facts=tuple(facts)))
    return None if any(is_empty(d) for d in rest.domains.values()) else rest


def _by_boxes(space: Space, gap: Expr, strict: bool, context: Context) -> Outcome | None:
    start = box_of(space)
    if start is None:
        return None
    shown: list[Outcome] = []
    box: _Box = {}
    for name, (lo, hi) in start.items():
        low = lo if lo is not None else _limit(space, name, -1, shown, context)
        high = hi if hi is not None else _limit(space, name, 1, shown, context)
        if low is None or high is None:
            return None
        box[name] = (low, high)
    facts = tuple(f for f in space.facts if isinstance(f, Rel) and len(f.ops) == 1)
    count = [0]
    tree = _tree(facts, gap, strict, box, count)
    if tree is None:
        return None
    certificate = _certificate(facts, gap, strict, box, tree)
    sign = ">" if strict else ">="
    step = f"{to_text(gap)} {sign} 0 on each of {count[0]} boxes, or a condition fails on all of it"
    trust = ("arb", "mpfr") if certificate is not None else ("arb",)
    method = "ball arithmetic under conditions"
    found = Outcome(True, CERTIFIED, method, trust, (step,), certificate=certificate)
    return conjunction([found, *shown]) if shown else found


def _tree(facts: tuple[Rel, ...], gap: Expr, strict: bool, part: _Box, count: list[int]) -> Tree | None:
    """Boxes on which the gap has its sign or a condition fails; None where too many are needed."""
    count[0] += 1
    if count[0] > BOXES:
        return None
    if any(_fails(f, part) for f in facts):
        return ["leaf", "natural"]
    ends = _range(gap, part)
    if ends is not None and (ends[0] > 0 if strict else ends[0] >= 0):
        return ["leaf", "natural"]
    widest = max(part, key=lambda n: part[n][1] - part[n][0])
    low, high = part[widest]
    if low == high:
        return None
    middle = (low + high) / 2
    first = _tree(facts, gap, strict, {**part, widest: (low, middle)}, count)
    second = None if first is None else _tree(facts, gap, strict, {**part, widest: (middle, high)}, count)
    return None if second is None else ["split", widest, ratio(middle), first, second]


def _certificate(
    facts: tuple[Rel, ...], gap: Expr, strict: bool, box: _Box, tree: Tree
) -> Mapping[str, Any] | None:
    """An accepted certificate of the gap where all conditions hold, and of 1 elsewhere; or None."""
    condition = facts[0] if len(facts) == 1 else And(facts)
    known = Where(condition, gap, num(1)) if facts else gap
    bounds = Bounds(lower=Fraction(0), lower_strict=strict)
    document = range_certificate(known, box, bounds, tree, bits=2 * _BITS, text=to_text(known))
    return document if accept(document) is None else None


def _limit(space: Space, name: str, sign: int, shown: list[Outcome], context: Context) -> Fraction | None:
    """A number beyond which one of the conditions fails, whatever the other names are."""
    from gateproof.proofs_check.engine.relation import decide_relation

    opposite = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
    for size in SIZES:
        end = Num(Fraction(sign * size))
        beyond = Domain(end, None, True, False) if sign > 0 else Domain(None, end, False, True)
        for fact in space.facts:
            if not isinstance(fact, Rel) or fact.ops[0] not in opposite or len(fact.ops) != 1:
                continue
            outside = Space({**space.domains, name: beyond})
            found = decide_relation(outside, Rel((opposite[fact.ops[0]],), fact.terms), context.deeper())
            if found.truth is True:
                shown.append(found)
                return Fraction(sign * size)
    return None


def _range(expr: Expr, box: _Box) -> tuple[Fraction, Fraction] | None:
    with precision(_BITS):
        env = {n: (iv.down(iv.rational(lo)), iv.up(iv.rational(hi))) for n, (lo, hi) in box.items()}
        try:
            low, high = evaluate_interval(expr, env, _BITS)
        except (Undefined, MaybeUndefined, NotReal, NumericsError):
            return None
        if not all(e.is_finite() and iv.moderate(e) for e in (low, high)):
            return None
        return iv.to_fraction(low), iv.to_fraction(high)


def _fails(fact: Rel, box: _Box) -> bool:
    """Whether a condition is false on all of a box."""
    left, right = fact.terms
    ends = _range(App("add", (left, App("neg", (right,)))), box)
    if ends is None:
        return False
    low, high = ends
    (op,) = fact.ops
    return {
        "<": low >= 0,
        "<=": low > 0,
        ">": high <= 0,
        ">=": high < 0,
        "==": low > 0 or high < 0,
        "!=": low == high == 0,
    }[op]

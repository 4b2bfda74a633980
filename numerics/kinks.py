"""An interval cut where abs, sign, max, min and conditions change over, with a smooth formula on each part.

Arguments that are linear in the variable change at rational points; the others are followed by Taylor
enclosures down to boxes so small that what happens inside of them does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import compiled, names_in
from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.forms import Line, outer
from gateproof.numerics.jets import jet, side
from gateproof.numerics.special import special_points
from gateproof.theory.exact.kernels import minus, plus
from gateproof.theory.formula.nodes import And, App, Expr, Node, Not, Or, Rel, Where, num, rebuild

#: Boxes looked at for one interval.
BOXES = 6_000
Signs = Mapping[Expr, int]


@dataclass(frozen=True)
class Part:
    """Between lo and hi the function is ``smooth``; or, in a small box, only ``spread`` bounds its values."""

    lo: Fraction
    hi: Fraction
    smooth: Expr | None
    spread: arb | None = None


def corners(node: Node) -> list[Expr]:
    """The arguments whose sign the node itself switches on."""
    if isinstance(node, Rel):
        return [plus(a, minus(b)) for a, b in pairwise(node.terms)]
    if isinstance(node, App) and node.head in ("abs", "sign"):
        return [node.args[0]]
    if isinstance(node, App) and node.head in ("max", "min"):
        return [plus(a, minus(b)) for a, b in combinations(dict.fromkeys(node.args), 2)]
    return []


def parts(body: Expr, var: str, lo: Fraction, hi: Fraction, tolerance: Fraction) -> list[Part] | None:
    """The interval in parts, ascending, or None where the boxes run out.

    What is left undecided has a width whose product with its spread is below the tolerance.
    Works at flint's current precision; the body must be defined on the interval, and names
    beside the variable are not allowed.
    """
    arguments = list(dict.fromkeys(c for n in body.walk() for c in corners(n) if var in names_in(c)))
    cuts = [k for k in special_points(body, var) if lo < k < hi]
    ends = [lo, *cuts, hi]
    if not arguments:
        return [Part(a, b, taken(body, {})) for a, b in pairwise(ends)]
    lines = [Line(a, var) for a in arguments]
    found: list[Part] = []
    stack = [(a, b) for a, b in reversed(list(pairwise(ends)))]
    left = BOXES
    while stack:
        a, b = stack.pop()
        left -= 1
        if left < 0:
            return None
        signs = {e: _sign(line, a, b) for e, line in zip(arguments, lines, strict=True)}
        if all(signs.values()):
            found.append(Part(a, b, taken(body, {k: v for k, v in signs.items() if v})))
            continue
        spread = _spread(body, var, a, b)
        if spread is not None and bool(spread * iv.rational(b - a) < iv.rational(tolerance)):
            found.append(Part(a, b, None, spread))
            continue
        middle = (a + b) / 2
        stack += [(middle, b), (a, middle)]
    return _merged(found)


def _sign(line: Line, lo: Fraction, hi: Fraction) -> int:
    """The sign inside the box (it may be 0 at its ends), 0 where undecided."""
    found = jet(line, lo, hi)
    if found is None:
        try:
            return side(line.natural(lo, hi))
        except (MaybeUndefined, Undefined):
            return 0
    if side(found.value):
        return side(found.value)
    slope = side(found.slope)
    if not slope:
        return 0
    try:
        at_lo, at_hi = line.value(lo), line.value(hi)
    except (MaybeUndefined, Undefined):
        return 0
    # Monotone: the sign at the end that it comes from, or goes to, is the sign inside.
    if (slope > 0 and at_lo[0] >= 0) or (slope < 0 and at_hi[0] >= 0):
        return 1
    if (slope > 0 and at_hi[1] <= 0) or (slope < 0 and at_lo[1] <= 0):
        return -1
    return 0


def _spread(body: Expr, var: str, lo: Fraction, hi: Fraction) -> arb | None:
    """A bound on the absolute values on the box."""
    try:
        value = compiled(body)({var: outer(lo, hi)})
    except (MaybeUndefined, Undefined):
        return None
    size = max(-value[0], value[1], arb(0))
    return size if size.is_finite() else None


def _merged(found: list[Part]) -> list[Part]:
    joined: list[Part] = []
    for part in found:
        last = joined[-1] if joined else None
        if last is not None and part.smooth is not None and last.smooth == part.smooth and last.hi == part.lo:
            joined[-1] = Part(last.lo, part.hi, part.smooth)
        else:
            joined.append(part)
    return joined


def taken(node: Expr, signs: Signs) -> Expr:
    """The formula with every corner replaced by what it is for these signs of its arguments."""
    found = _taken(node, signs)
    assert isinstance(found, Expr)
    return found


def _taken(node: Node, signs: Signs) -> Node:
    keys = corners(node)
    done = rebuild(node, lambda child: _taken(child, signs))
    assert isinstance(done, Node)
    if isinstance(node, Where) and isinstance(done, Where):
        truth = _truth(node.cond, signs)
        return done if truth is None else done.then if truth else done.other
    if isinstance(done, App) and done.head in ("max", "min") and not keys:
        return done.args[0]
    if not isinstance(done, App) or any(k not in signs for k in keys) or not keys:
        return done
    if done.head == "abs":
        return done.args[0] if signs[keys[0]] > 0 else minus(done.args[0])
    if done.head == "sign":
        return num(signs[keys[0]])
    return _extreme(node, done, signs)


def _extreme(node: Node, done: App, signs: Signs) -> Expr:
    """The largest (or smallest) argument, by the signs of the differences of those given."""
    assert isinstance(node, App)
    places = {a: i for i, a in enumerate(node.args)}
    best, *others = dict.fromkeys(node.args)
    for other in others:
        if signs[plus(best, minus(other))] != (1 if done.head == "max" else -1):
            best = other
    return done.args[places[best]]


def _truth(cond: Node, signs: Signs) -> bool | None:
    """The truth of a condition, None where the signs do not tell."""
    if isinstance(cond, Not):
        inner = _truth(cond.part, signs)
        return None if inner is None else not inner
    if isinstance(cond, And | Or):
        truths, deciding = [_truth(p, signs) for p in cond.parts], isinstance(cond, Or)
        return deciding if deciding in truths else None if None in truths else not deciding
    keys = corners(cond)
    if not isinstance(cond, Rel) or any(k not in signs for k in keys):
        return None
    holds = {"<": (-1,), "<=": (-1,), "==": (), "!=": (-1, 1), ">": (1,), ">=": (1,)}
    return all(signs[k] in holds[op] for k, op in zip(keys, cond.ops, strict=True))

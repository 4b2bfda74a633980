"""The parts of an interval between the kinks that are known as rational points, with a formula for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from gateproof.numerics.ball import compiled, names_in
from gateproof.numerics.errors import MaybeUndefined
from gateproof.numerics.exact_point import exact_truth, exact_value
from gateproof.numerics.forms import Line, outer
from gateproof.numerics.kinks import corners, taken
from gateproof.numerics.results import Enclosure
from gateproof.numerics.special import special_points
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.piecewise import resolve
from gateproof.theory.formula.nodes import App, Expr, Node, Num, Where, rebuild
from gateproof.theory.formula.powers import linear

#: All zeros of an expression between two numbers, ascending enclosures; None where they were not isolated.
Turns = Callable[[Expr, Fraction, Fraction], tuple[Enclosure, ...] | None]


@dataclass(frozen=True)
class Piece:
    """For lo < x < hi the function is ``line``; ``signs`` are those of corners' arguments that were used.

    A ``narrow`` one holds one zero of a corner's argument, and nothing is taken in it.
    """

    lo: Fraction
    hi: Fraction
    line: Line
    signs: Mapping[Expr, int]
    narrow: bool = False

    @property
    def constant(self) -> bool:
        """Whether the variable has dropped out."""
        return self.line.constant

    @cached_property
    def jumps(self) -> bool:
        """Whether the formula may jump, at the ends as well: there it says nothing of the values inside."""
        return any(_jumps(n) for n in self.line.expr.walk())


def pieces(line: Line, lo: Fraction, hi: Fraction, turns: Turns | None = None) -> list[Piece]:
    """The interval cut where a corner (abs, sign, max, min, a condition) changes over.

    The sign of a linear argument at one point inside a part is its sign in the whole part. What is
    taken may have linear arguments that had corners before: so each part is looked at again.
    With ``turns`` the same holds of other arguments; their zeros lie in pieces of their own, ``narrow``.
    """
    var = line.var
    found: list[Piece] = []
    todo = [Piece(lo, hi, line, {})]
    while todo:
        part = todo.pop()
        expr = part.line.expr
        cuts = [part.lo, *(k for k in special_points(expr, var) if part.lo < k < part.hi), part.hi]
        if len(cuts) > 2:
            todo += [replace(part, lo=a, hi=b) for a, b in pairwise(cuts)]
            continue
        signs = _signs(expr, var, (part.lo + part.hi) / 2)
        smooth = taken(expr, signs) if signs else expr
        if smooth == expr and turns is not None:
            cut = _turned(part, turns)
            if isinstance(cut, list):
                found += [p for p in cut if p.narrow]
                todo += [p for p in cut if not p.narrow]
                continue
            signs = cut
            smooth = taken(expr, signs)
        if smooth == expr:
            found.append(part)
        else:
            todo.append(replace(part, line=Line(smooth, var, line.order), signs={**part.signs, **signs}))
    return sorted(found, key=lambda p: p.lo)


def opened(piece: Piece) -> Piece:
    """The piece with the cases that the prover decides inside of it: at an end another may stand."""
    line = piece.line
    if not piece.jumps:
        return piece
    found = resolve(line.expr, Assumptions({line.var: Domain(Num(piece.lo), Num(piece.hi), False, False)}))
    return replace(piece, line=Line(found, line.var, line.order)) if isinstance(found, Expr) else piece


def _turned(part: Piece, turns: Turns) -> list[Piece] | dict[Expr, int]:
    """The piece cut at the zeros of an argument, or the signs of those without a zero inside."""
    expr, var = part.line.expr, part.line.var
    signs: dict[Expr, int] = {}
    for corner in dict.fromkeys(c for n in expr.walk() for c in corners(n)):
        if var not in names_in(corner) or any(_jumps(n) for n in corner.walk()):
            continue
        places = turns(corner, part.lo, part.hi)
        if places is None:
            continue
        inside = [(a, b) for a, b in places if part.lo < b and a < part.hi]
        if inside:
            cut, at = [], part.lo
            for a, b in inside:
                low, high = max(a, part.lo), min(b, part.hi)
                cut += [replace(part, lo=at, hi=low)] if at < low else []
                cut += [replace(part, lo=low, hi=high, narrow=True)] if low < high else []
                at = high
            cut += [replace(part, lo=at)] if at < part.hi else []
            return cut
        with suppress(MaybeUndefined):
            value = compiled(corner)({var: outer(*((part.lo + part.hi) / 2,) * 2)})
            if value[0] > 0 or value[1] < 0:
                signs[corner] = 1 if value[0] > 0 else -1
    return signs


def _jumps(node: Node) -> bool:
    return isinstance(node, Where) or (isinstance(node, App) and node.head == "sign")


def _signs(expr: Expr, var: str, x: Fraction) -> dict[Expr, int]:
    """The signs at a point of the arguments of corners that are linear, where they are not 0."""
    found = {}
    for corner in dict.fromkeys(c for n in expr.walk() for c in corners(n)):
        bend = linear(corner, var) if var in names_in(corner) else None
        if bend is not None and (value := bend[0] * x + bend[1]):
            found[corner] = (value > 0) - (value < 0)
    return found


def at_kink(expr: Expr, var: str, x: Fraction, signs: Mapping[Expr, int]) -> Expr:
    """The formula as it stands at x itself: conditions and signs as they are there, the rest as in a piece.

    Where this is the piece's own formula, the value at x is the limit from the piece.
    """

    def visit(node: Node) -> Node:
        if isinstance(node, Where):
            truth = exact_truth(node.cond, {var: x})
            if truth is not None:
                return visit(node.then if truth else node.other)
        if isinstance(node, App) and node.head == "sign":
            value = exact_value(node, {var: x})
            if value is not None:
                return Num(value)
        done = rebuild(node, visit)
        assert isinstance(done, Node)
        return done

    there: Node = visit(expr)
    while True:
        assert isinstance(there, Expr)
        done = taken(there, signs)
        if done == there:
            return done
        there = done

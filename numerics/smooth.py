"""The parts of an interval between the kinks that are known as rational points, with a formula for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from gateproof.numerics.ball import names_in
from gateproof.numerics.exact_point import exact_truth, exact_value
from gateproof.numerics.forms import Line
from gateproof.numerics.kinks import corners, taken
from gateproof.numerics.special import special_points
from gateproof.theory.formula.nodes import App, Expr, Node, Num, Where, rebuild
from gateproof.theory.formula.powers import linear


@dataclass(frozen=True)
class Piece:
    """For lo < x < hi the function is ``line``; ``signs`` are those of corners' arguments that were used."""

    lo: Fraction
    hi: Fraction
    line: Line
    signs: Mapping[Expr, int]

    @property
    def constant(self) -> bool:
        """Whether the variable has dropped out."""
        return self.line.constant


def pieces(line: Line, lo: Fraction, hi: Fraction) -> list[Piece]:
    """The interval cut where a corner (abs, sign, max, min, a condition) with a linear argument changes over.

    The sign of a linear argument at one point inside a part is its sign in the whole part. What is
    taken may have linear arguments that had corners before: so each part is looked at again.
    """
    var = line.var
    found: list[Piece] = []
    todo = [Piece(lo, hi, line, {})]
    while todo:
        part = todo.pop()
        cuts = [part.lo, *(k for k in special_points(part.line.expr, var) if part.lo < k < part.hi), part.hi]
        if len(cuts) > 2:
            todo += [Piece(a, b, part.line, part.signs) for a, b in reversed(list(pairwise(cuts)))]
            continue
        signs = _signs(part.line.expr, var, (part.lo + part.hi) / 2)
        smooth = taken(part.line.expr, signs) if signs else part.line.expr
        if smooth == part.line.expr:
            found.append(part)
        else:
            todo.append(Piece(part.lo, part.hi, Line(smooth, var, line.order), {**part.signs, **signs}))
    return found


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

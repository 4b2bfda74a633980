"""An expression as it is on a box where abs, max and min are decided, ends where both sides meet included."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import compiled
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.interval import Interval
from gateproof.numerics.special import special_points
from gateproof.theory.exact.derivative import neg
from gateproof.theory.formula.nodes import App, Expr, Node, num, rebuild
from gateproof.theory.formula.powers import linear

#: Pairs of branches looked at in one node.
MOST = 32


class Decider:
    """The branches of one core expression; each combination met is written out once.

    On [0, 1] abs(x) is x: intervals with exact ends see it, balls, whose radius is rounded, do not.
    """

    def __init__(self, expr: Expr) -> None:
        self.expr = expr
        self.kinks = tuple(dict.fromkeys(n for n in expr.walk() if _bends(n)))
        self.known: dict[tuple[int | None, ...], Expr] = {}

    def on(self, env: Mapping[str, Interval]) -> Expr:
        """The expression on the box, undecided parts left as they are."""
        if not self.kinks:
            return self.expr
        choice = tuple(_choice(n, env) for n in self.kinks)
        found = self.known.get(choice)
        if found is None:
            found = self.known[choice] = self._written(dict(zip(self.kinks, choice, strict=True)))
        return found

    def _written(self, choice: Mapping[Node, int | None]) -> Expr:
        def visit(node: Node) -> Node:
            side = choice.get(node)
            done = rebuild(node, visit)
            if side is None or not isinstance(done, App):
                assert isinstance(done, Node)
                return done
            if done.head == "abs":
                return done.args[0] if side > 0 else neg(done.args[0])
            return done.args[side]

        done = visit(self.expr)
        assert isinstance(done, Expr)
        return done


def bends(expr: Expr, name: str) -> tuple[Fraction, ...]:
    """Where two branches of abs, max or min may meet, nested ones included, as far as linear in the name."""
    found = set(special_points(expr, name))
    for node in dict.fromkeys(n for n in expr.walk() if _bends(n)):
        assert isinstance(node, App)
        sides = [_branches(a) for a in node.args]
        pairs: list[tuple[Expr, Expr]] = [(a, num(0)) for a in sides[0]] if node.head == "abs" else []
        pairs += [(a, b) for i, first in enumerate(sides) for s in sides[i + 1 :] for a in first for b in s]
        for a, b in pairs[:MOST]:
            line = linear(App("add", (a, neg(b))), name)
            if line is not None and line[0]:
                found.add(-line[1] / line[0])
    return tuple(sorted(found))


def _branches(node: Expr) -> list[Expr]:
    if not isinstance(node, App) or not _bends(node):
        return [node]
    inner = [b for a in node.args for b in _branches(a)][:MOST]
    return inner if node.head != "abs" else [*inner, *(neg(b) for b in inner)]


def _bends(node: Node) -> bool:
    return isinstance(node, App) and node.head in ("abs", "max", "min")


def _choice(node: Node, env: Mapping[str, Interval]) -> int | None:
    """The sign of the argument of abs, the place of the largest (least) argument of max (min)."""
    assert isinstance(node, App)
    try:
        values = [compiled(a)(env) for a in node.args]
    except NumericsError:
        return None
    if node.head == "abs":
        (lo, hi) = values[0]
        return 1 if lo >= 0 else -1 if hi <= 0 else None
    if node.head == "min":
        values = [iv.neg(v) for v in values]
    for k, (lo, _) in enumerate(values):
        if all(lo >= v[1] for j, v in enumerate(values) if j != k):
            return k
    return None

"""A formula in plain floats over lists of points, for sampling; parts without parameters are kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from gateproof.numerics.ball import names_in
from gateproof.numerics.errors import NotImplementedOperator
from gateproof.numerics.special_float import special_float
from gateproof.theory.formula.nodes import And, App, Const, Expr, Node, Not, Num, Or, Rel, Stmt, Var, Where

List = list[float]
NAN = math.nan


def _sigmoid(x: float) -> float:
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    e = math.exp(x)
    return e / (1 + e)


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _sech(x: float) -> float:
    e = math.exp(-abs(x))
    return 2 * e / (1 + e * e)


_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "neg": lambda x: -x, "abs": abs, "sign": lambda x: float((x > 0) - (x < 0)), "exp": math.exp,
    "log": math.log, "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tan": math.tan,
    "asin": math.asin, "acos": math.acos, "atan": math.atan, "sinh": math.sinh, "cosh": math.cosh,
    "tanh": math.tanh, "sech": _sech, "asinh": math.asinh, "acosh": math.acosh, "atanh": math.atanh,
    "sigmoid": _sigmoid, "softplus": _softplus, "erf": math.erf, "erfc": math.erfc,
}  # fmt: skip
_PAIRS: dict[str, Callable[[float, float], float]] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b if not (a < 0 and b != int(b)) else NAN,
    "max": max,
    "min": min,
}
_RELATIONS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip


class Columns:
    """A core formula in one variable and parameters; what has no parameters is worked out once."""

    def __init__(self, body: Expr, var: str, parameters: tuple[str, ...]) -> None:
        self.body, self.var, self.parameters = body, var, frozenset(parameters)
        self.fixed = {n for n in body.walk() if isinstance(n, Expr) and not names_in(n) & self.parameters}

    def prepared(self, points: Sequence[float]) -> dict[Node, List]:
        """What does not depend on parameters, at the points."""
        known: dict[Node, List] = {Var(self.var): list(points)}
        self._fixed_parts(self.body, known, len(points))
        return known

    def values(self, prepared: object, drawn: Mapping[str, float]) -> List:
        """The formula at the points, for these parameters; nan where it has no value."""
        assert isinstance(prepared, dict)
        known: dict[Node, List] = dict(prepared)
        count = len(known[Var(self.var)])
        for name, value in drawn.items():
            known[Var(name)] = [value] * count
        return self._of(self.body, known, count)

    def _fixed_parts(self, node: Node, known: dict[Node, List], count: int) -> None:
        if isinstance(node, Expr) and node in self.fixed:
            self._of(node, known, count)
            return
        for child in node.children():
            self._fixed_parts(child, known, count)

    def _of(self, node: Expr, known: dict[Node, List], count: int) -> List:
        found = known.get(node)
        if found is None:
            found = known[node] = self._computed(node, known, count)
        return found

    def _computed(self, node: Expr, known: dict[Node, List], count: int) -> List:
        if isinstance(node, Num):
            return [node.value.numerator / node.value.denominator] * count
        if isinstance(node, Const) and node.name in ("pi", "e"):
            return [math.pi if node.name == "pi" else math.e] * count
        if isinstance(node, Where):
            truth = self._truth(node.cond, known, count)
            then, other = (self._of(n, known, count) for n in (node.then, node.other))
            return [a if t else b for t, a, b in zip(truth, then, other, strict=True)]
        if not isinstance(node, App):
            raise NotImplementedOperator(type(node).__name__.lower())
        args = [self._of(a, known, count) for a in node.args]
        if node.head in _FUNCTIONS and len(args) == 1:
            return [_safe(_FUNCTIONS[node.head], x) for x in args[0]]
        special = special_float(node.head)
        if special is not None:
            return [_safe(special, x) for x in args[0]]
        pair, value = _PAIRS[node.head], args[0]
        if node.head == "add":
            return [sum(row) for row in zip(*args, strict=True)]
        if node.head == "mul":
            return [math.prod(row) for row in zip(*args, strict=True)]
        for other in args[1:]:
            value = [_safe(pair, a, b) for a, b in zip(value, other, strict=True)]
        return value

    def _truth(self, cond: Stmt, known: dict[Node, List], count: int) -> list[bool]:
        if isinstance(cond, Not):
            return [not t for t in self._truth(cond.part, known, count)]
        if isinstance(cond, And | Or):
            rows = zip(*(self._truth(p, known, count) for p in cond.parts), strict=True)
            return [all(r) if isinstance(cond, And) else any(r) for r in rows]
        if not isinstance(cond, Rel):
            raise NotImplementedOperator(type(cond).__name__.lower())
        terms = [self._of(t, known, count) for t in cond.terms]
        rows = zip(*terms, strict=True)
        return [all(_RELATIONS[op](a, b) for op, a, b in zip(cond.ops, r, r[1:], strict=False)) for r in rows]


def _safe(function: Callable[..., float], *args: float) -> float:
    try:
        return function(*args)
    except OverflowError:
        return math.inf
    except (ValueError, ZeroDivisionError):
        return NAN

"""Lines times sigmoids read off a formula that is written as a sum of them, each with its own sharpness."""

from __future__ import annotations

from gateproof.theory.exact.kernels import ONE, ZERO, linear_in, minus, over, plus, times
from gateproof.theory.finite_gate_sum import GateSum, Step, sign
from gateproof.theory.formula.nodes import App, Expr, Var, num
from gateproof.theory.formula.scopes import free_names


def terms(expr: Expr, var: str) -> tuple[GateSum, Expr | None]:
    """(s, rest) with expr = s + rest; None for the rest where nothing is left.

    Sums are taken apart, and products by constants and by the name; what is no sigmoid or tanh of a line
    stays in the rest. Raises UndecidedError.
    """
    if var not in free_names(expr):
        return GateSum(intercept=expr), None
    if isinstance(expr, Var):
        return GateSum(slope=ONE), None
    if isinstance(expr, App):
        if expr.head == "add":
            return _sum([terms(a, var) for a in expr.args])
        if expr.head == "neg":
            return _scaled(terms(expr.args[0], var), num(-1))
        if expr.head == "div" and var not in free_names(expr.args[1]):
            return _scaled(terms(expr.args[0], var), over(ONE, expr.args[1]))
        if expr.head == "mul":
            return _product(expr, var)
        if expr.head in ("sigmoid", "tanh"):
            found = _sigmoid(expr, var)
            if found is not None:
                return found, None
    return GateSum(), expr


def addends(expr: Expr, var: str) -> tuple[Expr, ...]:
    """The terms of a sum, through signs and constant factors."""
    if not isinstance(expr, App):
        return (expr,)
    if expr.head == "add":
        return tuple(t for a in expr.args for t in addends(a, var))
    if expr.head == "neg":
        return tuple(times(num(-1), t) for t in addends(expr.args[0], var))
    if expr.head == "div" and var not in free_names(expr.args[1]):
        return tuple(over(t, expr.args[1]) for t in addends(expr.args[0], var))
    if expr.head == "mul":
        moving = [a for a in expr.args if var in free_names(a)]
        if len(moving) == 1:
            constants = [a for a in expr.args if var not in free_names(a)]
            return tuple(times(*constants, t) for t in addends(moving[0], var))
    return (expr,)


def _sum(parts: list[tuple[GateSum, Expr | None]]) -> tuple[GateSum, Expr | None]:
    total, left = GateSum(), list[Expr]()
    for known, rest in parts:
        total = total.plus(known)
        left += [] if rest is None else [rest]
    if len(left) < 2:
        return total, left[0] if left else None
    return total, App("add", tuple(left))


def _scaled(part: tuple[GateSum, Expr | None], c: Expr) -> tuple[GateSum, Expr | None]:
    known, rest = part
    return known.scaled(c), None if rest is None else times(c, rest)


def _product(expr: App, var: str) -> tuple[GateSum, Expr | None]:
    constants = [a for a in expr.args if var not in free_names(a)]
    moving = [a for a in expr.args if var in free_names(a)]
    c = times(*constants) if constants else ONE
    if len(moving) == 1:
        return _scaled(terms(moving[0], var), c)
    if len(moving) == 2:
        for line, other in ((moving[0], moving[1]), (moving[1], moving[0])):
            found = linear_in(line, var)
            if found is None:
                continue
            known, rest = terms(other, var)
            if not known.level:
                break
            whole = known.by_x().scaled(found[0]).plus(known.scaled(found[1]))
            kept = None if rest is None else times(line, rest)
            return _scaled((whole, kept), c)
    return GateSum(), expr


def _sigmoid(expr: App, var: str) -> GateSum | None:
    """sigmoid(u), or tanh(u) = 2 sigmoid(2 u) - 1, of a line u; sigmoid(-u) = 1 - sigmoid(u)."""
    found = linear_in(expr.args[0], var)
    if found is None:
        return None
    a, b = found
    turn = sign(a)
    if turn == 0:
        return None
    if expr.head == "tanh":
        a = times(num(2), a)
        b = times(num(2), b)
    weight: Expr = num(2) if expr.head == "tanh" else ONE
    start: Expr = num(-1) if expr.head == "tanh" else ZERO
    if turn < 0:
        a, b = minus(a), minus(b)
        weight, start = minus(weight), plus(start, weight)
    return GateSum(intercept=start, steps=(Step(a, minus(over(b, a)), ZERO, weight),))

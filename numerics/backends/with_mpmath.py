"""mpmath: its current number of digits, all of them right, tails included."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gateproof.numerics.backends.filled import limit_at
from gateproof.numerics.backends.with_balls import exact
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import at_point
from gateproof.theory.formula.nodes import And, App, Const, Expr, Node, Not, Num, Or, Rel, Var, Where

_GUARD = 24
MAX_BITS = 6000


def run(expr: Expr, names: tuple[str, ...], args: tuple[Any, ...]) -> Any:
    """The value at mpmath's current precision; not-a-number where there is no real one.

    Takes mpmath numbers, Python numbers, rationals and decimal strings. The working precision is doubled
    until two results agree.
    """
    from mpmath import mp

    points: list[Fraction] = []
    for a in args:
        number = mp.mpf(a) if isinstance(a, float) else a
        if hasattr(number, "_mpf_") and not mp.isfinite(number):
            return _at_infinity(expr, names, args)
        point = exact(number)
        if point is None:
            raise TypeError("a number is expected, found a ball")
        points.append(point)
    where = dict(zip(names, points, strict=True))
    value = _agreed(expr, where)
    if value is None and len(names) == 1:
        found = limit_at(expr, names[0], points[0])
        value = _agreed(found, {}) if found is not None else None
    return mp.nan if value is None else +value


def _at_infinity(expr: Expr, names: tuple[str, ...], args: tuple[Any, ...]) -> Any:
    from mpmath import mp

    x = mp.mpf(args[0])
    if len(names) != 1 or mp.isnan(x):
        return mp.nan
    found = limit_at(expr, names[0], None, 1 if x > 0 else -1)
    if found is None:
        return mp.nan
    if found == Const("oo"):
        return mp.inf
    if found == App("neg", (Const("oo"),)):
        return -mp.inf
    value = _agreed(found, {})
    return mp.nan if value is None else +value


def _agreed(expr: Expr, where: dict[str, Fraction]) -> Any:
    """The value to the current precision, or None where there is no real one."""
    from mpmath import mp

    wanted = mp.prec
    bits = wanted + _GUARD
    before: Any = None
    while bits <= max(MAX_BITS, 8 * wanted):
        with mp.workprec(bits):
            env = {n: mp.mpf(p.numerator) / p.denominator for n, p in where.items()}
            value = _value(expr, env, {})
            if value is None:
                return None
            close = before is not None and abs(value - before) <= abs(value) * mp.mpf(2) ** (-wanted - 4)
        if close and (value or _is_zero(expr, where)):
            return value
        if not value and _is_zero(expr, where):
            return value
        before = value
        bits *= 2
    return before


def _is_zero(expr: Expr, where: dict[str, Fraction]) -> bool:
    try:
        return bool(at_point(expr, where, 128).is_zero())
    except NumericsError:
        return False


def _value(node: Expr, env: dict[str, Any], known: dict[Node, Any]) -> Any:
    """The value at the working precision; None where it is not a real number."""
    if node in known:
        return known[node]
    from mpmath import mp

    try:
        value = _new(node, env, known)
        if value is not None and not (isinstance(value, mp.mpf) and mp.isfinite(value)):
            value = mp.mpf(value.real) if mp.isfinite(value) and value.imag == 0 else None
    except (ZeroDivisionError, ValueError, OverflowError):
        value = None
    known[node] = value
    return value


def _new(node: Expr, env: dict[str, Any], known: dict[Node, Any]) -> Any:
    from mpmath import mp

    if isinstance(node, Num):
        return mp.mpf(node.value.numerator) / node.value.denominator
    if isinstance(node, Const):
        return {"pi": +mp.pi, "e": +mp.e}.get(node.name)
    if isinstance(node, Var):
        return env[node.name]
    if isinstance(node, Where):
        truth = _truth(node.cond, env, known)
        return None if truth is None else _value(node.then if truth else node.other, env, known)
    assert isinstance(node, App)
    args = [_value(a, env, known) for a in node.args]
    if any(a is None for a in args):
        return None
    return _apply(node.head, args)


def _apply(head: str, args: list[Any]) -> Any:
    from mpmath import mp

    u = args[0]
    if head == "add":
        return mp.fsum(args)
    if head == "mul":
        return mp.fprod(args)
    if head == "div":
        return u / args[1]
    if head == "pow":
        return u ** (int(args[1]) if args[1] == int(args[1]) and abs(args[1]) < 10**6 else args[1])
    if head in ("max", "min"):
        return max(args) if head == "max" else min(args)
    if head == "neg":
        return -u
    if head == "abs":
        return abs(u)
    if head == "sigmoid":
        return 1 / (1 + mp.exp(-u)) if u > 0 else mp.exp(u) / (1 + mp.exp(u))
    if head == "softplus":
        return (u if u > 0 else 0) + mp.log1p(mp.exp(-abs(u)))
    return getattr(mp, head)(u)


def _truth(node: Node, env: dict[str, Any], known: dict[Node, Any]) -> bool | None:
    if isinstance(node, Rel):
        values = [_end(t, env, known) for t in node.terms]
        if any(v is None for v in values):
            return None
        return all(_TESTS[op](a, b) for op, a, b in zip(node.ops, values, values[1:], strict=False))
    if isinstance(node, And | Or):
        parts = [_truth(p, env, known) for p in node.parts]
        stop = isinstance(node, Or)
        return stop if stop in parts else None if None in parts else not stop
    assert isinstance(node, Not)
    inner = _truth(node.part, env, known)
    return None if inner is None else not inner


def _end(node: Expr, env: dict[str, Any], known: dict[Node, Any]) -> Any:
    from mpmath import mp

    if node == Const("oo"):
        return mp.inf
    if node == App("neg", (Const("oo"),)):
        return -mp.inf
    return _value(node, env, known)


_TESTS = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip

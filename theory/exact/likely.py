"""Whether a candidate can be a primitive, by floats: no verdict, only which exact work is worth its while."""

from __future__ import annotations

import math
from collections.abc import Callable

from gateproof.theory.formula.nodes import App, Const, Expr, Num, Var
from gateproof.theory.formula.scopes import free_names

#: Values of the variable; others get values between 0 and 1.
PLACES = (0.31, -0.42, 0.73, 1.37, 2.61, -1.9)
STEP = 1e-4
#: Ratios that are constant differ by less than a central difference errs by.
CLOSE = 1e-5

_FUNCTIONS: dict[str, Callable[[float], float]] = {
    **{
        n: getattr(math, n)
        for n in (
            "exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
            "asinh", "acosh", "atanh", "erf", "erfc",
        )
    },
    "abs": abs,
    "neg": lambda x: -x,
    "sech": lambda x: 1 / math.cosh(x),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "softplus": lambda x: math.log1p(math.exp(x)),
}  # fmt: skip


class Likely:
    """One integrand at a few places."""

    def __init__(self, term: Expr, var: str) -> None:
        self.var = var
        others = {n: 0.37 + 0.11 * k for k, n in enumerate(sorted(free_names(term) - {var}))}
        self.at: list[tuple[dict[str, float], float]] = []
        for x in PLACES:
            env = {**others, var: x}
            value = _value(term, env)
            if value is not None and value != 0:
                self.at.append((env, value))

    def primitive(self, shape: Expr) -> bool:
        """False only where the slopes of a candidate are seen to be no multiple of the integrand."""
        ratios = []
        for env, value in self.at:
            sides = [_value(shape, {**env, self.var: env[self.var] + h}) for h in (STEP, -STEP)]
            if None not in sides:
                ratios.append((sides[0] - sides[1]) / (2 * STEP * value))  # type: ignore[operator]
        return len(ratios) < 2 or all(
            abs(r - ratios[0]) <= CLOSE * (1 + abs(r) + abs(ratios[0])) for r in ratios
        )


def _value(expr: Expr, env: dict[str, float]) -> float | None:
    try:
        found = _of(expr, env)
    except (ValueError, OverflowError, ZeroDivisionError, KeyError, TypeError):
        return None
    return found if math.isfinite(found) else None


def _of(expr: Expr, env: dict[str, float]) -> float:
    if isinstance(expr, Num):
        return float(expr.value)
    if isinstance(expr, Var):
        return env[expr.name]
    if isinstance(expr, Const):
        return {"pi": math.pi, "e": math.e}[expr.name]
    if not isinstance(expr, App):
        raise KeyError
    args = [_of(a, env) for a in expr.args]
    if expr.head == "add":
        return math.fsum(args)
    if expr.head == "mul":
        return math.prod(args)
    if expr.head == "div":
        return args[0] / args[1]
    if expr.head == "pow":
        found = args[0] ** args[1]
        if isinstance(found, complex):
            raise ValueError
        return float(found)
    return _FUNCTIONS[expr.head](*args)

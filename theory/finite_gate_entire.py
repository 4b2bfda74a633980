"""Entire functions: a difference gate without poles is a line.

Of sigmoids with one threshold theta that of the largest sharpness tau has a pole at theta + i pi/tau that no
other one has, and a real line beside it does not vanish there. So a sum without poles has no sigmoids.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from gateproof.theory.exact import balls
from gateproof.theory.exact.kernels import minus, plus, times
from gateproof.theory.finite_gate_form import Reason
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Const, Expr, Num, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

_ENTIRE = ("add", "mul", "neg", "exp", "sin", "cos", "sinh", "cosh", "erf", "erfc")
#: Places at which values are compared with a line.
_PLACES = (-2, -1, 0, 1, 3)


def entire_reason(expr: Expr, var: str) -> Reason | None:
    """Why an entire function that is no line is no difference gate; None where it is not seen to be one."""
    if not is_entire(expr, var) or not _bent(expr, var):
        return None
    return Reason(
        f"{to_text(expr)} is an entire function and no line; a difference gate without poles is a line",
        every=False,
    )


def is_entire(expr: Expr, var: str) -> bool:
    """Whether a formula is visibly analytic in the whole plane."""
    if var not in free_names(expr):
        return expr != Const("oo")
    if isinstance(expr, Var):
        return True
    if not isinstance(expr, App):
        return False
    if expr.head == "div":
        return is_entire(expr.args[0], var) and balls.sign_of_constant(expr.args[1]) is not None
    if expr.head == "pow":
        n = constant_value(expr.args[1])
        return n is not None and n.denominator == 1 and n >= 0 and is_entire(expr.args[0], var)
    return expr.head in _ENTIRE and all(is_entire(a, var) for a in expr.args)


def _bent(expr: Expr, var: str) -> bool:
    """Whether three of its values are not on a line."""
    values = {p: substitute(expr, {var: num(p)}) for p in _PLACES}
    for a, b, c in combinations(_PLACES, 3):
        mean = plus(
            times(Num(Fraction(c - b, c - a)), values[a]), times(Num(Fraction(b - a, c - a)), values[c])
        )
        if balls.sign_of_constant(plus(values[b], minus(mean))) is not None:
            return True
    return False

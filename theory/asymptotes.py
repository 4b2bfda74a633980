"""Asymptotes: the line that a function approaches at an end, or why there is none.

The tail form (:mod:`gateproof.theory.exact.tails`) gives lines with rational coefficients;
otherwise the slope is the limit of f(x)/x and the intercept that of f(x) - slope*x, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.limits import limit
from gateproof.theory.exact.tails import Expansion, tail_form
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Const, Expr, Num, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.periods import Period, period_of

Number = Fraction | Expr

PERIODIC = "periodic"
WAVES = "oscillates about a line"
FASTER = "grows faster than any line"
AWAY = "leaves every line of its slope"
NO_VALUES = "has no values there"

_ORDERS = ("log(x)", "sqrt(x)", "x**2", "x**3", "exp(x)")


@dataclass(frozen=True)
class Asymptote:
    """The line that the function approaches: slope * x + intercept.

    Rational coefficients are fractions, others closed expressions.
    """

    slope: Number
    intercept: Number


@dataclass(frozen=True)
class NoAsymptote:
    """No line is approached, and why: one of the five reasons of this module.

    ``like`` is the order of growth of what is left after the slope, where it was found
    ('log(x)', 'x**2'; of |x| at the left end); ``slope`` that of the line left or waved about.
    """

    reason: str
    like: str = ""
    slope: Number | None = None


def asymptote(expr: Expr, var: str, side: str) -> Asymptote | NoAsymptote | None:
    """The line at '+' or '-' infinity, or the reason that there is none; None where not decided."""
    found = _by_tail(expr, var, side)
    if found is not None:
        return found
    mirrored = expr if side == "+" else substitute(expr, {var: App("neg", (Var(var),))})
    far = _by_limits(mirrored, var)
    if far is None:
        wave = period_of(expr, var)
        return None if wave is None else _waves(wave)
    if side == "+":
        return far
    if isinstance(far, Asymptote):
        return Asymptote(_negative(far.slope), far.intercept)
    return NoAsymptote(far.reason, far.like, None if far.slope is None else _negative(far.slope))


def _waves(wave: Period) -> NoAsymptote:
    return NoAsymptote(WAVES if wave.slope else PERIODIC, slope=wave.slope)


def _by_tail(expr: Expr, var: str, side: str) -> Asymptote | None:
    form = tail_form(expr, var, side, Fraction(16))
    if not isinstance(form, Expansion) or any(t.k >= 0 and t.a == 0 and t.c > 0 for t in form.remainder):
        return None
    if any(k not in (0, 1) for k, c in form.poly.items() if c):
        return None
    slope = form.poly.get(1, Fraction(0))
    # The left tail is expanded in -x.
    return Asymptote(slope if side == "+" else -slope, form.poly.get(0, Fraction(0)))


def _by_limits(expr: Expr, var: str) -> Asymptote | NoAsymptote | None:
    """The same for x -> oo."""
    slope = _limit(App("div", (expr, Var(var))), var)
    if slope is None:
        return None
    if _infinite(slope):
        return NoAsymptote(FASTER, _order(expr, var))
    rest = expr if slope == num(0) else App("add", (expr, App("neg", (App("mul", (slope, Var(var))),))))
    intercept = _limit(rest, var)
    if intercept is None:
        intercept = _by_slope(expr, var)
    if intercept is None:
        return None
    if _infinite(intercept):
        return NoAsymptote(AWAY, _order(rest, var), _number(slope))
    return Asymptote(_number(slope), _number(intercept))


def _by_slope(expr: Expr, var: str) -> Expr | None:
    """The limit of f - x f', which is that of f - slope*x by de l'Hospital's rule for (f/x - slope)/(1/x)."""
    bend = derivative(expr, var)
    if bend is None:
        return None
    return _limit(App("add", (expr, App("neg", (App("mul", (Var(var), bend)),)))), var)


def _limit(expr: Expr, var: str) -> Expr | None:
    found = limit(expr, var, Const("oo"), "", Assumptions())
    return found[0] if isinstance(found, tuple) else None


def _infinite(value: Expr) -> bool:
    return to_text(value) in ("oo", "-oo")


def _order(expr: Expr, var: str) -> str:
    """The order of growth: the first of a list whose ratio has a limit that is finite and not 0."""
    from gateproof.theory.formula import expand, parse_expr

    for text in _ORDERS:
        scale = substitute(expand(parse_expr(text)), {"x": Var(var)})
        ratio = _limit(App("div", (expr, scale)), var)
        if ratio is not None and ratio != num(0) and not _infinite(ratio):
            return text
    return ""


def _number(value: Expr) -> Number:
    exact = constant_value(value)
    return value if exact is None else exact


def _negative(value: Number) -> Number:
    if isinstance(value, Fraction):
        return -value
    if isinstance(value, App) and value.head == "neg":
        return value.args[0]
    return App("neg", (value,))


def as_expr(value: Number) -> Expr:
    """A coefficient as a closed expression."""
    return Num(value) if isinstance(value, Fraction) else value

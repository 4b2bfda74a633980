"""What normal means leave out beyond a cut: bounds of E f(u)^2 over |u| >= cut."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import Evaluator, compiled
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.meanfield.activation import X
from gateproof.numerics.meanfield.certified_panels import LOW, Span
from gateproof.numerics.points import at_point
from gateproof.numerics.precision import precision
from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.tails import Expansion, Term, tail_form
from gateproof.theory.formula.nodes import App, Expr, Var, num

#: Where a formula's tail form may start, and rates of exponential growth that are tried.
STARTS, RATES = (16, 64, 256), (0, 1, 2, 4, 8)


class NoTailBound(ArithmeticError):
    """The growth of the formula was not bounded, so its normal means may be infinite."""


@dataclass(frozen=True)
class Growth:
    """|f(x)| <= size (|x|/start)^power exp(rate |x|) for |x| >= start, on one side."""

    start: int
    size: arb
    power: int
    rate: int


@lru_cache(maxsize=512)
def growth(expr: Expr, side: str) -> Growth:
    """How fast |f| grows to the side '+' or '-'. Raises NoTailBound."""
    found = _by_form(expr, side)
    if found is not None:
        return found
    slope = derivative(expr, X)
    steep = None if slope is None else _by_form(slope, side)
    if steep is None:
        raise NoTailBound("the activation's growth is not bounded by an exponential of x")
    # From the start on f changes by at most x sup |f'|; a larger power or rate than needed is harmless.
    start = Fraction(steep.start if side == "+" else -steep.start)
    with precision(LOW):
        at = abs(at_point(expr, {X: start}, LOW)) + steep.size * steep.start
        return Growth(steep.start, arb(at.upper()), steep.power + 1, steep.rate)


def _by_form(expr: Expr, side: str) -> Growth | None:
    """The growth of an expression that has a tail form."""
    for rate in RATES:
        fall = App("exp", (App("mul", (num(-rate if side == "+" else rate), Var(X))),))
        body = App("mul", (expr, fall)) if rate else expr
        for start in STARTS:
            form = tail_form(body, X, side, Fraction(start))
            if isinstance(form, Expansion):
                terms = [Term(abs(c), k, Fraction(0)) for k, c in form.poly.items()] + [*form.remainder]
                with precision(LOW):
                    size = sum((_at_start(t, start) for t in terms), arb(0))
                # x^k exp(-a x) falls from k/a on.
                power = max([0, *(t.k for t in terms if t.a * start < t.k)])
                return Growth(start, arb(size.upper()), power, rate)
    return None


def _at_start(term: Term, start: int) -> arb:
    return iv.rational(term.c) * arb(start) ** term.k * (-iv.rational(term.a) * start).exp()


def tail(expr: Expr, side: str, cut: arb, span: Span, far: Growth) -> float:
    """A bound of E f^2 (1 + u^2/q + u^4/q^2) over u beyond the cut (> 0), for all variances of the span.

    Infinite where the cut is too near for one.
    """
    with precision(LOW):
        total, a = arb(0), arb(cut.lower())
        run = compiled(expr)
        while a < far.start:
            b = min(2 * a, arb(far.start))
            box = (a, b) if side == "+" else (-b, -a)
            total += _top(run, box, 3) ** 2 * _weight(b, span) * _beyond(a, span)
            a = b
        # The logarithm of x^m exp(2 rate x - x^2/(2 q)) falls at least at this rate beyond a.
        m = 2 * far.power + 4
        fall = a / span.hi - m / a - 2 * far.rate
        if not fall > 0:
            return inf
        top = (far.size * (a / far.start) ** far.power * (far.rate * a).exp()) ** 2
        total += top * _weight(a, span) * _density(a, span) / fall
        try:
            return float(total.upper()) * (1 + 1e-15) + 1e-308
        except OverflowError:
            return inf


def beyond(cut: arb, span: Span) -> float:
    """A bound of P(u > cut), cut > 0, for all variances of the span."""
    with precision(LOW):
        return float(_beyond(arb(cut.lower()), span).upper()) * (1 + 1e-15) + 1e-308


def _weight(x: arb, span: Span) -> arb:
    far = x * x / span.lo
    return 1 + far + far * far


def _density(x: arb, span: Span) -> arb:
    return (-x * x / (2 * span.hi)).exp() / (2 * arb.pi() * span.lo).sqrt()


def _beyond(x: arb, span: Span) -> arb:
    """P(u > x) is at most q/x times the density."""
    return _density(x, span) * span.hi / x


def largest(expr: Expr, box: tuple[arb, arb]) -> arb:
    """An upper bound of |f| on a box with exact ends. Raises NoTailBound."""
    return _top(compiled(expr), box, 3)


def _top(run: Evaluator, box: tuple[arb, arb], depth: int) -> arb:
    """An upper bound of |f| on a box."""
    try:
        lo, hi = run({X: box})
        size = arb((-lo).max(hi).max(arb(0)).upper())
        if size.is_finite():
            return size
    except NumericsError:
        pass
    if not depth:
        raise NoTailBound("the activation was not bounded on a part of the line")
    middle = arb(((box[0] + box[1]) / 2).mid())
    return _top(run, (box[0], middle), depth - 1).max(_top(run, (middle, box[1]), depth - 1))

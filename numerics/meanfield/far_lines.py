"""The asymptotes of an activation as the means of large variances need them.

With r the function of the two lines, one kink at 0, E r(u)^2 = A q + B sqrt(q) + C; and what phi differs
from r by is bounded in the mean: int x^2 |phi^2 - r^2| dx, int x^2 |phi'^2 - r'^2| dx.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.integral import rest_beyond
from gateproof.numerics.meanfield.activation import Phi, X
from gateproof.numerics.meanfield.certified_tails import NoTailBound, largest
from gateproof.numerics.points import at_point, enclosure
from gateproof.numerics.precision import precision
from gateproof.theory.asymptotes import Asymptote, as_expr
from gateproof.theory.exact.kernels import exponential, minus, plus, raised, times
from gateproof.theory.exact.tails import Expansion, Term, tail_form
from gateproof.theory.formula.nodes import App, Expr, Num, Var, num

#: Bits of the coefficients, boxes a side of a bound, and where the tails of the bounds start.
BITS, CELLS, START = 160, 256, 16


@dataclass(frozen=True)
class Lines:
    """E r^2 = A q + B sqrt(q) + C, with bounds of int x^2 |phi^2 - r^2| and int x^2 |phi'^2 - r'^2|.

    ``exact_a`` is A where it is rational.
    """

    a: arb
    b: arb
    c: arb
    loose: tuple[arb, arb]
    exact_a: Fraction | None


@lru_cache(maxsize=128)
def lines(phi: Phi) -> Lines | None:
    """The asymptotes' numbers, or None where there are none or phi approaches them too slowly."""
    if not isinstance(phi.left, Asymptote) or not isinstance(phi.right, Asymptote):
        return None
    sides = [(as_expr(s.slope), as_expr(s.intercept)) for s in (phi.left, phi.right)]
    loose = [arb(0), arb(0)]
    for (slope, level), side in zip(sides, "-+", strict=True):
        line = plus(times(slope, Var(X)), level)
        for k, (f, r) in enumerate(((phi.expr, line), (phi.slope, slope))):
            g = times(plus(f, minus(r)), plus(f, r))
            rest = rest_beyond(times(raised(Var(X), 2), g), X, side, Fraction(START))
            if rest is None and not k:
                rest = _by_slope(phi, side, slope, level)
            bound = None if rest is None else _moment(g, side, rest)
            if bound is None:
                return None
            loose[k] += bound
    with precision(BITS):
        (al, bl), (ar, br) = [(at_point(s, {}, BITS), at_point(c, {}, BITS)) for s, c in sides]
        a = (al * al + ar * ar) / 2
        b = 2 * (ar * br - al * bl) / (2 * arb.pi()).sqrt()
        c = (bl * bl + br * br) / 2
    slopes = phi.left.slope, phi.right.slope
    exact = [s for s in slopes if isinstance(s, Fraction)]
    known = sum((s * s for s in exact), Fraction(0)) / 2 if len(exact) == 2 else None
    return Lines(a, b, c, (loose[0], loose[1]), known)


def distance(phi: Phi, side: str, slope: Expr) -> list[Term] | None:
    """Terms that bound |phi - r| beyond START, by int |phi' - r'|; x^k exp(-a x) has k < a START, or k <= -1.

    It serves lines with an irrational intercept, which no tail form takes away exactly.
    """
    form = tail_form(plus(phi.slope, minus(slope)), X, side, Fraction(START))
    if not isinstance(form, Expansion) or any(k > -2 for k, c in form.poly.items() if c):
        return None
    terms = []
    for c, k, a in (*(Term(abs(c), k, Fraction(0)) for k, c in form.poly.items() if c), *form.remainder):
        if a * START > max(k, 0):
            # The logarithm of x^k exp(-a x) falls at least at the rate a - k/START.
            terms.append(Term(c / (a - Fraction(max(k, 0), START)), k, a))
        elif not a and k <= -2:
            terms.append(Term(c / (-k - 1), k + 1, Fraction(0)))
        else:
            return None
    return terms


def _by_slope(phi: Phi, side: str, slope: Expr, level: Expr) -> Fraction | None:
    """A bound of the integral of x^2 |phi^2 - r^2| beyond START, from |phi - r| <= int |phi' - r'|."""
    terms = distance(phi, side, slope)
    if terms is None:
        return None
    x = Var(X)
    off = plus(*(times(Num(t.c), App("pow", (x, num(t.k))), exponential(times(Num(-t.a), x))) for t in terms))
    steep, high = (Num(2 * max(abs(e) for e in enclosure(v))) for v in (slope, level))
    # All terms fall, so that |phi + r| <= 2 |r| + |phi - r| at START.
    ceiling = sum((t.c * Fraction(START) ** t.k for t in terms), Fraction(0))
    body = times(raised(x, 2), off, plus(times(steep, x), high, Num(ceiling)))
    return rest_beyond(body, X, "+", Fraction(START))


def _moment(g: Expr, side: str, rest: Fraction) -> arb | None:
    """A bound of the integral of x^2 |g| over one half line; ``rest`` is that beyond START."""
    near = within(g, side)
    return None if near is None else arb((near + iv.rational(rest)).upper())


def within(g: Expr, side: str) -> arb | None:
    """A bound of the integral of x^2 |g| over one side of 0 up to START, or None."""
    with precision(64):
        total, step = arb(0), arb(START) / CELLS
        try:
            for k in range(CELLS):
                lo, hi = step * k, step * (k + 1)
                box = (iv.down(lo), iv.up(hi)) if side == "+" else (iv.down(-hi), iv.up(-lo))
                total += step * hi * hi * largest(g, box)
        except (NoTailBound, NumericsError):
            return None
        return arb(total.upper())

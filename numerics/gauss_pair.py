"""Means over two correlated normal variables, enclosed: sums of products of a function of u and one of v.

An integral over x within one over w, u = s x, v = s w, with density exp(-(w - c x)^2/(2 d^2))/(d sqrt(2 pi))
for w given x, d^2 = 1 - c^2. What lies outside of [-L, L] in x or w is at most
sqrt(E g^2 [abs(x) > L]) sqrt(E h^2) and the same with g and h exchanged (Cauchy and Schwarz).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from flint import acb, arb

from gateproof.numerics import interval as iv
from gateproof.numerics.bounds import Budget
from gateproof.numerics.complex_ball import Evaluator, compiled_complex
from gateproof.numerics.errors import MaybeUndefined, NotReal, Undefined
from gateproof.numerics.gauss import density_form, gaussian, scale_of, sign_of
from gateproof.numerics.integral import Value, rest_beyond
from gateproof.numerics.points import at_point, compare, enclosure, rational_bounds
from gateproof.numerics.precision import precision
from gateproof.numerics.special import special_points
from gateproof.theory.exact.gaussian_pairs import products
from gateproof.theory.exact.kernels import minus, plus, raised, root
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Gauss2, Var, num

_TWO = num(2)
#: Evaluations of one inner integral, and of the outer one between two kinks.
_INNER, _OUTER = 3_000, 4_000
#: Digits that are aimed at.
_PAIR_DIGITS = 12


@dataclass(frozen=True)
class _Law:
    """Deviation s, correlation c and d = sqrt(1 - c^2) as balls, the tolerance, and the cut L."""

    s: arb
    c: arb
    d: arb
    tolerance: arb
    cut: Fraction


@lru_cache(maxsize=256)
def gaussian_pair(node: Gauss2, digits: int, budget: Budget | None = None) -> Value:
    """The mean of a sum of products over two correlated normal variables."""
    budget = budget or Budget()
    try:
        q = sign_of(node.q)
        ends = [compare(node.c, num(k)) for k in (-1, 1)]
        if q is None or None in ends:
            return Value("unknown", reason="the variance or the correlation is not known well enough")
        if q < 0:
            return Value("undefined", reason="the variance is negative")
        if ends[0] == -1 or ends[1] == 1:
            return Value("undefined", reason="the correlation lies outside [-1, 1]")
        if q == 0:
            at = substitute(node.body, {node.u: num(0), node.v: num(0)})
            return Value("ok", rational_bounds(at_point(at, {}, 4 * digits + 64)))
        if 0 in ends:
            other = Var(node.u) if ends[1] == 0 else minus(Var(node.u))
            return gaussian(substitute(node.body, {node.v: other}), node.u, node.q, num(0), digits, budget)
        return _products(node, min(digits, _PAIR_DIGITS), budget)
    except (Undefined, NotReal) as error:
        return Value("undefined", reason=str(error))
    except MaybeUndefined as error:
        return Value("unknown", reason=f"may be undefined: {error}")


def _products(node: Gauss2, digits: int, budget: Budget) -> Value:
    pairs = products(node)
    if pairs is None:
        return Value("unknown", reason="gauss2 of a body that is no sum of products g(u)*h(v)")
    lo = hi = Fraction(0)
    for c, g, h in pairs:
        found = _product(node, g, h, digits, budget)
        if found.enclosure is None:
            return found
        scale = enclosure(c)
        ends = [a * b for a in scale for b in found.enclosure]
        lo, hi = lo + min(ends), hi + max(ends)
    return Value("ok", (lo, hi))


def _product(node: Gauss2, g: Expr, h: Expr, digits: int, budget: Budget) -> Value:
    """E g(u) h(v)."""
    squares = []
    for f, name in ((g, node.u), (h, node.v)):
        found = gaussian(App("pow", (f, _TWO)), name, node.q, num(0), 8, budget)
        if found.enclosure is None:
            return found
        squares.append(max(found.enclosure[1], Fraction(1, 10**40)))
    size = _root_above(squares[0] * squares[1])
    tolerance = size / 10 ** (digits + 1)
    bits = int(3.4 * digits) + 60
    cut = _cut(node, g, h, squares, tolerance)
    if cut is None:
        return Value("unknown", reason="the tail of a mean over two variables")
    length, outside = cut
    with precision(bits):
        s, c = at_point(root(node.q), {}, bits), at_point(node.c, {}, bits)
        law = _Law(
            s,
            c,
            at_point(root(plus(num(1), minus(raised(node.c, 2)))), {}, bits),
            iv.rational(tolerance),
            length,
        )
        total = _outer(g, node.u, h, node.v, law)
        if not total.is_finite() or bool(total.rad() > iv.rational(size) / 100):
            return Value("unknown", reason="quadrature over two variables did not converge")
        total += arb(0, iv.up(iv.rational(outside)))
        return Value("ok", rational_bounds(total))


def _root_above(x: Fraction) -> Fraction:
    with precision(64):
        return rational_bounds(arb(iv.rational(x).sqrt().upper()))[1]


def _cut(
    node: Gauss2, g: Expr, h: Expr, squares: list[Fraction], tolerance: Fraction
) -> tuple[Fraction, Fraction] | None:
    """L in units of the deviation, with a bound on what lies outside."""
    ratio = scale_of(node.q) / enclosure(root(node.q), 64)[0] * Fraction(101, 100)
    for start in map(Fraction, (6, 8, 10, 12, 16, 24, 32)):
        outside = Fraction(0)
        for f, name, other in ((g, node.u, squares[1]), (h, node.v, squares[0])):
            form = density_form(App("pow", (f, _TWO)), name, node.q, num(0))
            for side in "-+":
                rest = rest_beyond(form, name, side, start)
                if rest is None:
                    break
                outside += _root_above(rest * other)
            else:
                continue
            break
        else:
            if outside <= tolerance:
                return start * ratio, outside
    return None


def _outer(g: Expr, u: str, h: Expr, v: str, law: _Law) -> arb:
    """The integral over x of g(s x) exp(-x^2/2)/sqrt(2 pi) times the inner one."""
    run = compiled_complex(g)
    inner = _Inner(compiled_complex(h), v, law, _cuts(h, v, law))
    norm = 1 / (2 * arb.pi()).sqrt()

    def integrand(x: acb, analytic: bool) -> acb:
        value = run({u: law.s * x}, bool(analytic))
        return value * (-x * x / 2).exp() * norm * inner.at(x) if value.is_finite() else value

    total = arb(0)
    ends = _cuts(g, u, law)
    for a, b in pairwise(ends):
        found = acb.integral(
            integrand, acb(a), acb(b), rel_tol=arb(0), abs_tol=law.tolerance / len(ends), eval_limit=_OUTER
        )
        total += found.real
    return total


def _cuts(f: Expr, name: str, law: _Law) -> list[arb]:
    """-L, the kinks in units of the deviation, and L."""
    length = iv.rational(law.cut)
    found = [iv.rational(k) / law.s for k in special_points(f, name)]
    inside = [k for k in found if bool(k > -length) and bool(k < length)]
    return [-length, *inside, length]


class _Inner:
    """The mean of h(s w) given x, for complex balls x."""

    def __init__(self, run: Evaluator, name: str, law: _Law, ends: list[arb]) -> None:
        self.run, self.name, self.law, self.ends = run, name, law, ends
        self.norm = 1 / (law.d * (2 * arb.pi()).sqrt())
        self.tolerance = law.tolerance / 50

    def at(self, x: acb) -> acb:
        """The integral over w at x."""
        law, name, run = self.law, self.name, self.run
        centre, spread = law.c * x, -1 / (2 * law.d * law.d)

        def integrand(w: acb, analytic: bool) -> acb:
            value = run({name: law.s * w}, bool(analytic))
            off = w - centre
            return value * (spread * off * off).exp() * self.norm

        exact = x.real.rad() < self.tolerance and x.imag.rad() < self.tolerance
        limit = _INNER if exact else 150
        tolerance = self.tolerance if exact else arb(2) ** -10
        total = acb(0)
        for a, b in pairwise(self.ends):
            total += acb.integral(
                integrand, acb(a), acb(b), rel_tol=tolerance, abs_tol=tolerance, eval_limit=limit
            )
        return total

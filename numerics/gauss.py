"""Means over normal variables, enclosed.

One variable: z = m0 + s t with rational m0 and s near the mean and the deviation, so that kinks at rational
places stay rational and the tails start near 1; then an integral over t. Two variables: sums of products
of a function of u and one of v, as an integral over x within one over w, u = s x, v = s w, with density
exp(-(w - c x)^2/(2 d^2))/(d sqrt(2 pi)) for w given x, d^2 = 1 - c^2; what lies outside of [-L, L] in x or
w is at most sqrt(E g^2 [abs(x) > L]) sqrt(E h^2) and the same with g and h exchanged (Cauchy and Schwarz).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from flint import acb, arb

from gateproof.numerics import interval as iv
from gateproof.numerics.bounds import Budget
from gateproof.numerics.complex_ball import Evaluator, compiled_complex
from gateproof.numerics.errors import MaybeUndefined, NotReal, Undefined
from gateproof.numerics.integral import Range, Stop, Value, Work, must_be_defined, over, rest_beyond
from gateproof.numerics.points import at_point, compare, enclosure, rational_bounds
from gateproof.numerics.precision import precision
from gateproof.numerics.quadrature import Path, integrate
from gateproof.numerics.special import special_points
from gateproof.theory.exact.gaussian_pairs import products
from gateproof.theory.exact.kernels import PI, ZERO, exponential, kernels, minus, plus, raised, root, times
from gateproof.theory.exact.kernels import over as quotient
from gateproof.theory.exact.primitives import written
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Gauss, Gauss2, Num, Var, num
from gateproof.theory.formula.powers import constant_value

_TWO = num(2)
#: Evaluations of one inner integral, and of the outer one between two kinks.
_INNER, _OUTER = 3_000, 4_000
#: Evaluations where the variance is a box: the width of the box bounds what more of them can give.
_BOXED = 600
#: Digits that are aimed at in two variables.
_PAIR_DIGITS = 12


def density_form(body: Expr, var: str, q: Expr, mean: Expr, like: Expr | None = None) -> Expr:
    """The integrand over t in R whose integral is the mean, for a variance > 0.

    The variance is closed, or ``like`` is a closed one near it.
    """
    scale, centre = _scale(like or q), _centre(mean, like or q)
    z = plus(centre, times(Num(scale), Var(var)))
    merged = _merged(body, var, q, mean)
    if merged is not None:
        return App("mul", (Num(scale), substitute(merged, {var: z})))
    off = plus(z, minus(mean))
    bell = exponential(quotient(minus(raised(off, 2)), times(_TWO, q)))
    weight = quotient(Num(scale), root(times(_TWO, PI, q)))
    return App("mul", (weight, substitute(body, {var: z}), bell))


def _merged(body: Expr, var: str, q: Expr, mean: Expr) -> Expr | None:
    """Body times density in ``var`` with one exponential a term, where the body holds exp(a z^2).

    Apart, one factor grows and the other falls faster than any exponential of z.
    """
    found = kernels(body, var)
    if found is None or all(t.quad == ZERO for t in found):
        return None
    twice = times(_TWO, q)
    weight = quotient(exponential(quotient(minus(raised(mean, 2)), twice)), root(times(PI, twice)))
    terms = []
    for t in found:
        quad = _sum_of(t.quad, quotient(num(1), twice))
        terms.append(written(replace(t, quad=quad, lin=plus(t.lin, quotient(mean, q))), Var(var)))
    return times(weight, plus(*terms))


def _sum_of(a: Expr, b: Expr) -> Expr:
    whole = plus(a, b)
    value = constant_value(whole)
    return whole if value is None else Num(value)


def _scale(q: Expr) -> Fraction:
    """A power of 2 near the square root of the variance."""
    lo, hi = enclosure(q, 64)
    size = max(hi, lo)
    power = (size.numerator.bit_length() - size.denominator.bit_length()) // 2
    return Fraction(2) ** power


def _centre(mean: Expr, q: Expr) -> Expr:
    """The mean where it is rational, else a rational near it."""
    if constant_value(mean) is not None:
        return mean
    step = _scale(q) / 16
    return Num(step * round(enclosure(mean)[0] / step))


def sign_of(expr: Expr) -> int | None:
    """The sign of a closed expression, or None."""
    return compare(expr, num(0))


@lru_cache(maxsize=512)
def gaussian(body: Expr, var: str, q: Expr, mean: Expr, digits: int, budget: Budget | None = None) -> Value:
    """The mean of the body for a normal variable; variance and mean are closed core expressions."""
    try:
        sign = sign_of(q)
        if sign is None:
            return Value("unknown", reason="the sign of the variance is not known")
        if sign < 0:
            return Value("undefined", reason="the variance is negative")
        if sign == 0:
            at = substitute(body, {var: mean})
            return Value("ok", rational_bounds(at_point(at, {}, 4 * digits + 64)))
        return over(Range(density_form(body, var, q, mean), var, None, None), digits, budget or Budget())
    except (Undefined, NotReal) as error:
        return Value("undefined", reason=str(error))
    except MaybeUndefined as error:
        return Value("unknown", reason=f"may be undefined: {error}")


def gaussian_over(node: Gauss, name: str, lo: Fraction, hi: Fraction, digits: int) -> Value:
    """Bounds of a mean for every variance in [lo, hi], lo > 0; ``name`` is the variance.

    Body and mean do not depend on it. Beyond the deviation of the largest variance the density
    exp(-x^2/(2 q))/sqrt(2 pi q) grows with q, so the tails are those of the largest.
    """
    if node.q != Var(name):
        return gaussian(node.body, node.var, node.q, node.mean, digits)
    largest = Num(hi)
    on = Range(density_form(node.body, node.var, largest, node.mean), node.var, None, None)
    try:
        must_be_defined(Range(node.body, node.var, None, None), Budget())
        with precision(64):
            bound = 1 + 2 * iv.rational(hi).sqrt() / iv.rational(_scale(largest))
            beyond = rational_bounds(arb(bound.upper()))[1]
        cuts = Work(on).tails(Fraction(1, 10**digits), beyond)
        at = {side: cut for side, cut, _ in cuts}
        path = Path(
            density_form(node.body, node.var, node.q, node.mean, largest), node.var, -at["-"], at["+"]
        )
        bits = 4 * digits + 64
        with precision(bits):
            q = iv.rational(lo).union(iv.rational(hi))
            total = integrate(path, bits, arb(10) ** -digits, {name: q}, _BOXED)
            for _, _, rest in cuts:
                total += arb(0, rest)
        return (
            Value("ok", rational_bounds(total)) if total.is_finite() else Value("unknown", reason="too wide")
        )
    except Stop as stop:
        return stop.value
    except (Undefined, NotReal, MaybeUndefined) as error:
        return Value("unknown", reason=str(error))


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
    ratio = _scale(node.q) / enclosure(root(node.q), 64)[0] * Fraction(101, 100)
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

"""Large variances where phi approaches its asymptotes slowly, or grows like a logarithm.

Slow approach. With r the function of the two asymptotes, slopes a, E r^2 = A q + B sqrt(q) + C,
g = phi'^2 - a^2 of order x^-2 and |phi^2 - r^2| <= M:

    V = A q + B sqrt(q) + R,  |R - C| <= M,      D = A + I(q)/sqrt(2 pi q),  I(q) = int g exp(-x^2/(2 q)) dx,
    |I(q) - I(Q)| <= int |g| min(1, x^2/(2 Q)) dx    for q >= Q.

Slow growth. With |x phi'(x)| <= K for all x, Minkowski's inequality for d/dq phi(sqrt(q) z) gives

    sqrt(V(q)) <= sqrt(V(Q)) + K log(q/Q)/2,      and sqrt(q) D(q) grows with q.

Put q = Q r^2, r >= 1, s <= Q. Then (q - s) D(q) >= r (Q - s) D(Q), and sqrt(r) m - sqrt(V(Q)) - K log r > 0
for all r where it holds at r = 1 and m = sqrt((Q - s) D(Q)) >= 2 K, its slope being (m sqrt(r)/2 - K)/r.
In the same way w V(q) + s < q where it holds at Q and sqrt(Q - s) >= sqrt(w) K.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.meanfield.activation import Phi, X
from gateproof.numerics.meanfield.certified_tails import NoTailBound, growth, largest
from gateproof.numerics.meanfield.far_lines import BITS, CELLS, START, distance, within
from gateproof.numerics.points import at_point, rational_bounds
from gateproof.numerics.precision import precision
from gateproof.theory.asymptotes import Asymptote, as_expr
from gateproof.theory.exact.kernels import minus, plus, times
from gateproof.theory.exact.tails import Expansion, Term, tail_form
from gateproof.theory.formula.nodes import Expr, Var


def supremum(expr: Expr, sides: str = "+-") -> arb | None:
    """An upper bound of |f| on R, or on half of it; None where f is not seen to be bounded."""
    try:
        far = [growth(expr, side) for side in sides]
        if any(g.power or g.rate for g in far):
            return None
        with precision(64):
            sizes = [g.size for g in far]
            for g, side in zip(far, sides, strict=True):
                step = arb(g.start) / CELLS
                for k in range(CELLS):
                    lo, hi = step * k, step * (k + 1)
                    box = (iv.down(lo), iv.up(hi)) if side == "+" else (iv.down(-hi), iv.up(-lo))
                    sizes.append(largest(expr, box))
            return arb(max(sizes).upper())
    except (NoTailBound, NumericsError):
        return None


@lru_cache(maxsize=128)
def elasticity(phi: Phi) -> arb | None:
    """K, an upper bound of |x phi'(x)|; None where it is not seen to be bounded."""
    return None if phi.has_jump else supremum(times(Var(X), phi.slope))


@dataclass(frozen=True)
class SlowLines:
    """A, B, M and, of int x^2 |g|, the part within START; ``terms`` bound |g| beyond it, both sides."""

    a: arb
    b: arb
    top: arb
    inner: arb
    terms: tuple[Term, ...]

    def loose(self, q: arb) -> arb:
        """A bound of int |g| min(1, x^2/(2 q)) dx; 2 q >= START^2."""
        total = self.inner / (2 * q)
        for c, k, a in self.terms:
            total += iv.rational(c) * _capped(k, a, q)
        return arb(total.upper())


def _capped(k: int, a: Fraction, q: arb) -> arb:
    """A bound of the integral of x^k exp(-a x) min(1, x^2/(2 q)) over x >= START."""
    start = arb(START)
    if a > 0:
        # The logarithm of x^(k + 2) exp(-a x) falls at least at this rate.
        rate = iv.rational(a - Fraction(max(k + 2, 0), START))
        return start ** (k + 2) * (-iv.rational(a) * start).exp() / rate / (2 * q)
    end = (2 * q).sqrt()
    near = (end / start).log() if k == -3 else (end ** (k + 3) - start ** (k + 3)) / (k + 3)
    return near / (2 * q) + end ** (k + 1) / (-k - 1)


@lru_cache(maxsize=128)
def slow_lines(phi: Phi) -> SlowLines | None:
    """The numbers, or None where phi does not approach lines even so."""
    if not isinstance(phi.left, Asymptote) or not isinstance(phi.right, Asymptote) or phi.has_jump:
        return None
    ends = [(as_expr(e.slope), as_expr(e.intercept)) for e in (phi.left, phi.right)]
    top, inner, terms = arb(0), arb(0), []
    for (slope, level), side in zip(ends, "-+", strict=True):
        energy = times(plus(phi.slope, minus(slope)), plus(phi.slope, slope))
        form = tail_form(energy, X, side, Fraction(START))
        if not isinstance(form, Expansion) or not all(_falls(t) for t in (*_exact(form), *form.remainder)):
            return None
        terms += [*_exact(form), *form.remainder]
        near = within(energy, side)
        off = _apart(phi, side, slope, level)
        if near is None or off is None:
            return None
        inner, top = inner + near, top.max(off)
    with precision(BITS):
        (al, bl), (ar, br) = [(at_point(s, {}, BITS), at_point(c, {}, BITS)) for s, c in ends]
        a, b = (al * al + ar * ar) / 2, 2 * (ar * br - al * bl) / (2 * arb.pi()).sqrt()
        # R - C is at most M, and C at most the larger level squared.
        return SlowLines(a, b, top + (bl * bl).max(br * br), inner, tuple(terms))


def _exact(form: Expansion) -> list[Term]:
    return [Term(abs(c), k, Fraction(0)) for k, c in form.poly.items() if c]


def _falls(term: Term) -> bool:
    return term.k <= -2 if term.a == 0 else term.a * START > term.k + 2


def _apart(phi: Phi, side: str, slope: Expr, level: Expr) -> arb | None:
    """A bound of |phi^2 - r^2| on one side of 0."""
    line = plus(times(slope, Var(X)), level)
    whole = times(plus(phi.expr, minus(line)), plus(phi.expr, line))
    known = supremum(whole, side)
    if known is not None:
        return known
    # An irrational level is not taken away exactly: |phi - r| <= sum c x^k exp(-a x) beyond START.
    terms = distance(phi, side, slope)
    if terms is None or any(t.a * START < t.k + 1 for t in terms):
        return None
    off = sum((t.c * Fraction(START) ** t.k for t in terms), Fraction(0))
    steep, high = (max(abs(e) for e in rational_bounds(at_point(v, {}, BITS))) for v in (slope, level))
    with precision(64):
        beyond = iv.rational(off * (2 * steep * START + 2 * high + off))
        step = arb(START) / CELLS
        try:
            for k in range(CELLS):
                lo, hi = step * k, step * (k + 1)
                box = (iv.down(lo), iv.up(hi)) if side == "+" else (iv.down(-hi), iv.up(-lo))
                beyond = beyond.max(largest(whole, box))
        except (NoTailBound, NumericsError):
            return None
        return arb(beyond.upper())

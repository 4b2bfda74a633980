"""Lines on either side of 0 whose squares are taken away from an activation's before means are formed.

With r(x) = a x + b, (a, b) on each side of 0,

    E r(u)^2 = A q + B sqrt(q) + C,    A = sum a^2/2,    B = 2 (a+ b+ - a- b-)/sqrt(2 pi),    C = sum b^2/2,
    E r(u) = M sqrt(q) + N,            M = (a+ - a-)/sqrt(2 pi),    N = (b+ + b-)/2,

and what is left, phi^2 - r^2 and phi'^2 - a^2, is small against phi^2 for small variances where r is the
tangent at 0, for large ones where r is the asymptotes: means over a wide ball q stay narrow,
and the line is cut off where it is negligible, however large the variance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.meanfield.activation import Phi, X
from gateproof.numerics.meanfield.near_zero import sides, vanishes
from gateproof.numerics.points import at_point
from gateproof.numerics.precision import precision
from gateproof.theory.asymptotes import Asymptote, as_expr
from gateproof.theory.exact.kernels import minus, plus, times
from gateproof.theory.exact.tails import Expansion, Term, tail_form
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Var, num

#: Where the line may be cut off.
ENDS = (16, 64, 256)


@dataclass(frozen=True)
class Base:
    """Slope and level of the lines, left and right, as closed expressions; ``far``: phi tends to them."""

    left: tuple[Expr, Expr]
    right: tuple[Expr, Expr]
    far: bool = False

    def line(self, side: str) -> Expr:
        """a x + b on the side '+' or '-'."""
        slope, level = self.right if side == "+" else self.left
        return plus(times(slope, Var(X)), level)

    def slope(self, side: str) -> Expr:
        """a."""
        return (self.right if side == "+" else self.left)[0]

    def numbers(self, bits: int) -> tuple[tuple[arb, arb], tuple[arb, arb]]:
        """(a, b) left and right in balls."""
        (a, b), (c, d) = (tuple(at_point(e, {}, bits) for e in s) for s in (self.left, self.right))
        return (a, b), (c, d)


#: No lines.
NONE = Base((num(0), num(0)), (num(0), num(0)))


def bases(phi: Phi) -> tuple[Base, ...]:
    """What may be taken away: nothing, the tangents at 0, the asymptotes."""
    found = [NONE]
    if not phi.has_jump:
        at = sides(phi)
        level = num(0) if vanishes(phi) else substitute(phi.expr, {X: num(0)})
        found.append(Base((at.left[0], level), (at.right[0], level)))
    if isinstance(phi.left, Asymptote) and isinstance(phi.right, Asymptote):
        ends = [(as_expr(s.slope), as_expr(s.intercept)) for s in (phi.left, phi.right)]
        found.append(Base(ends[0], ends[1], far=True))
    return tuple(base for base in found if _has_values(base))


def _has_values(base: Base) -> bool:
    """Whether the numbers are found: a slope at 0 may be written as 0/0."""
    try:
        return all(v.is_finite() for side in base.numbers(64) for v in side)
    except NumericsError:
        return False


def ends(phi: Phi, base: Base, *, half: bool) -> Iterator[tuple[int, list[float]]]:
    """Where the line may be cut off, with errors of the three rows: phi^2 - r^2, phi'^2 - a^2, phi - r.

    What is left out is at most its supremum beyond, which 1 + z^2 + z^4 weighs by 1 + 1 + 3.
    """
    for end in ENDS if base.far else ():
        errors = [0.0, 0.0, 0.0]
        for side in ("+",) if half else ("+", "-"):
            line, slope = base.line(side), base.slope(side)
            off = plus(phi.expr, minus(line))
            rows = (
                times(off, plus(phi.expr, line)),
                times(plus(phi.slope, minus(slope)), plus(phi.slope, slope)),
            )
            for k, row in enumerate((*rows, off)):
                errors[k] += 5 * _beyond(row, side, end)
        yield end, errors


@lru_cache(maxsize=512)
def _beyond(expr: Expr, side: str, start: int) -> float:
    """A bound of |f| beyond the start, infinite where none is found."""
    form = tail_form(expr, X, side, Fraction(start))
    if not isinstance(form, Expansion):
        return inf
    terms = [Term(abs(c), k, Fraction(0)) for k, c in form.poly.items() if c] + [*form.remainder]
    if any(t.c and t.a * start < t.k for t in terms):
        return inf
    with precision(64):
        parts = (iv.rational(t.c) * arb(start) ** t.k * (-iv.rational(t.a) * start).exp() for t in terms)
        return float(sum(parts, arb(0)).upper()) * (1 + 1e-15) + 1e-308


Jet = tuple[arb, arb, arb]


@dataclass(frozen=True)
class Level:
    """A, B, C, M and N."""

    a: arb
    b: arb
    c: arb
    m: arb
    n: arb

    def jets(self, q: arb) -> tuple[Jet, Jet, Jet]:
        """E r^2, E r'^2 and E r with two derivatives in q."""
        root = q.sqrt()
        value = self.a * q + self.b * root + self.c
        return (
            (value, self.a + self.b / (2 * root), -self.b / (4 * q * root)),
            (self.a, arb(0), arb(0)),
            (self.m * root + self.n, self.m / (2 * root), -self.m / (4 * q * root)),
        )


def level(numbers: tuple[tuple[arb, arb], tuple[arb, arb]], *, odd: bool) -> Level:
    """The means' coefficients."""
    (al, bl), (ar, br) = numbers
    root = (2 * arb.pi()).sqrt()
    mean = (arb(0), arb(0)) if odd else ((ar - al) / root, (bl + br) / 2)
    return Level((al * al + ar * ar) / 2, 2 * (ar * br - al * bl) / root, (bl * bl + br * br) / 2, *mean)

"""Lines on either side of 0 whose squares are taken away from an activation's before means are formed.

With r(x) = a x + b, (a, b) on each side of 0,

    E r(u)^2 = A q + B sqrt(q) + C,    A = sum a^2/2,    B = 2 (a+ b+ - a- b-)/sqrt(2 pi),    C = sum b^2/2,

and what is left, phi^2 - r^2 and phi'^2 - a^2, is small against phi^2 for small variances where r is the
tangent at 0 (phi(0) = 0), for large ones where r is the asymptotes: means over a wide ball q stay narrow.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from gateproof.numerics.meanfield.activation import Phi, X
from gateproof.numerics.meanfield.near_zero import sides, vanishes
from gateproof.numerics.points import at_point
from gateproof.theory.asymptotes import Asymptote, as_expr
from gateproof.theory.exact.kernels import plus, times
from gateproof.theory.formula.nodes import Expr, Var, num


@dataclass(frozen=True)
class Base:
    """Slope and level of the lines, left and right, as closed expressions."""

    left: tuple[Expr, Expr]
    right: tuple[Expr, Expr]

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
    """What may be taken away: nothing, the tangents at 0 where phi(0) = 0, the asymptotes."""
    found = [NONE]
    if not phi.has_jump and vanishes(phi):
        at = sides(phi)
        found.append(Base((at.left[0], num(0)), (at.right[0], num(0))))
    if isinstance(phi.left, Asymptote) and isinstance(phi.right, Asymptote):
        ends = [(as_expr(s.slope), as_expr(s.intercept)) for s in (phi.left, phi.right)]
        found.append(Base(ends[0], ends[1]))
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Level:
    """A, B and C."""

    a: arb
    b: arb
    c: arb

    def jets(self, q: arb) -> tuple[tuple[arb, arb, arb], arb]:
        """E r^2 with two derivatives in q, and E r'^2."""
        root = q.sqrt()
        value = self.a * q + self.b * root + self.c
        return (value, self.a + self.b / (2 * root), -self.b / (4 * q * root)), self.a


def level(numbers: tuple[tuple[arb, arb], tuple[arb, arb]]) -> Level:
    """The means' coefficients."""
    (al, bl), (ar, br) = numbers
    return Level(
        (al * al + ar * ar) / 2, 2 * (ar * br - al * bl) / (2 * arb.pi()).sqrt(), (bl * bl + br * br) / 2
    )

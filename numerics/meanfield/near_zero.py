"""Small variances: the expansion of V at q = 0, and the sign of the maps' curves for all q in (0, q0].

On each side of 0, phi(x) = phi(0) + a1 x + a2 x^2 + a3 x^3 + .. with one-sided coefficients. For phi(0) = 0,

    V = A0 q + k q^(3/2) + m q^2 + ..,   A0 = (a1+^2 + a1-^2)/2,   k = 2 sqrt(2/pi) (a1+ a2+ - a1- a2-),
    m = (3/2) sum of (a2^2 + 2 a1 a3) over both sides,

and D tends to A0 too. With h in the range of phi''' between 0 and x, (phi/x)^2 = (a1 + a2 x + h x^2/6)^2
encloses V/q for all q in (0, q0] by cells of the standard normal z = x/sqrt(q); what lies beyond the cut
is largest for the largest variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from gateproof.numerics.ball import compiled
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.meanfield.activation import Branch, Phi, RefusedActivation, X
from gateproof.numerics.meanfield.certified_panels import Span
from gateproof.numerics.meanfield.certified_tails import NoTailBound, growth, tail
from gateproof.numerics.points import at_point, compare
from gateproof.numerics.precision import precision
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.kernels import minus, over, plus, raised, times
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num, Var, num

#: Cells a side, the cut in deviations, powers of 4 tried for q0, and bits.
CELLS, CUT, POWERS, BITS = 48, 12, range(2, 40), 128


@dataclass(frozen=True)
class Sides:
    """One-sided Taylor coefficients a1, a2, a3 at 0, left and right, as closed expressions."""

    left: tuple[Expr, Expr, Expr]
    right: tuple[Expr, Expr, Expr]

    @property
    def energy(self) -> Expr:
        """A0, the limit of V/q and of D."""
        return over(plus(raised(self.left[0], 2), raised(self.right[0], 2)), num(2))

    @property
    def bend(self) -> Expr:
        """a1+ a2+ - a1- a2-, which has the sign of k."""
        return plus(times(*self.right[:2]), minus(times(*self.left[:2])))

    @property
    def second(self) -> Expr:
        """The sum of a2^2 + 2 a1 a3, which has the sign of m."""
        return plus(*(plus(raised(b, 2), times(num(2), a, c)) for a, b, c in (self.left, self.right)))


def around_zero(phi: Phi) -> tuple[Branch, Branch]:
    """The branches on the left and on the right of 0."""
    left = [b for b in phi.branches if b.hi is None or compare(b.hi, num(0)) in (0, 1)]
    right = [b for b in phi.branches if b.lo is None or compare(b.lo, num(0)) in (0, -1)]
    return left[0], right[-1]


@lru_cache(maxsize=128)
def sides(phi: Phi) -> Sides:
    """The coefficients at 0."""
    here = {X: num(0)}
    found = []
    for branch in around_zero(phi):
        parts = zip((branch.slope, branch.curvature, branch.third), (1, 2, 6), strict=True)
        found.append(tuple(over(substitute(f, here), num(k)) for f, k in parts))
    return Sides(found[0], found[1])  # type: ignore[arg-type]


def steady_energy(phi: Phi) -> Expr | None:
    """D where it is one number for all q > 0: lines that bend at 0 only, or whose slopes differ by signs."""
    if not phi.piecewise_linear or phi.has_jump:
        return None
    squares = [raised(b.slope, 2) for b in phi.branches]
    alike = all(is_zero(plus(square, minus(squares[0]))) for square in squares[1:])
    return sides(phi).energy if alike or all(is_zero(k.at) for k in phi.kinks) else None


def vanishes(phi: Phi) -> bool | None:
    """Whether phi(0) = 0; None where that is not decided."""
    value = substitute(phi.expr, {X: num(0)})
    if is_zero(value):
        return True
    return False if sign(value) else None


def is_zero(value: Expr) -> bool:
    """Whether a closed expression is proved to be 0."""
    return compare(value, num(0)) == 0 or prove_relation(value, "==", num(0), Assumptions()) is not None


def sign(value: Expr) -> int:
    """The sign of a closed expression; 0 where it is 0, or not told from it."""
    return compare(value, num(0)) or 0


def drift(phi: Phi) -> int | None:
    """The sign of V - A0 q for small q > 0: of k, or of m where k = 0; None where these do not tell."""
    at = sides(phi)
    if sign(at.bend):
        return sign(at.bend)
    return (sign(at.second) or None) if is_zero(at.bend) else None


@lru_cache(maxsize=128)
def below_its_lines(phi: Phi) -> bool:
    """Whether |phi(x)| <= |a x| is proved with a = phi'(0-) for x < 0, phi'(0+) for x > 0: V <= A0 q."""
    at = sides(phi)
    left, right = (times(App("abs", (e[0],)), App("abs", (Var(X),))) for e in (at.left, at.right))
    size = App("abs", (phi.expr,))
    if is_zero(plus(raised(at.left[0], 2), minus(raised(at.right[0], 2)))):
        return prove_relation(size, "<=", right, Assumptions({X: Domain()})) is not None
    zero = num(0)
    below, above = (Assumptions({X: Domain(*ends)}) for ends in ((None, zero), (zero, None)))
    return (
        prove_relation(size, "<=", left, below) is not None
        and prove_relation(size, "<=", right, above) is not None
    )


def bends_somewhere(phi: Phi) -> bool:
    """Whether phi(2 x) = 2 phi(x) is seen to fail, so that phi is not homogeneous."""
    for x in (Fraction(1), Fraction(-1), Fraction(1, 4), Fraction(-1, 4), Fraction(4), Fraction(-4)):
        ends = (substitute(phi.expr, {X: Num(2 * x)}), substitute(phi.expr, {X: Num(x)}))
        if sign(plus(ends[0], minus(times(num(2), ends[1])))):
            return True
    return False


def ratio_sign(phi: Phi, sigma_w2: arb, *, critical: bool) -> tuple[int, arb] | None:
    """The sign of w V - q on (0, q0], and q0, for phi(0) = 0; or None. ``critical``: w A0 = 1 exactly."""
    for power in POWERS:
        q0 = arb(4) ** -power
        try:
            with precision(BITS):
                level, rest, order = _ratio(phi, q0)
                value = rest if critical else sigma_w2 * (level + arb(0).union(order) * rest) - 1
        except (NumericsError, NoTailBound):
            continue
        if value > 0 or value < 0:
            return (1 if value > 0 else -1), q0
    return None


def _ratio(phi: Phi, q0: arb) -> tuple[arb, arb, arb]:
    """A0, an enclosure of (V/q - A0)/r(q) for q in (0, q0], and r(q0); r(q) = sqrt(q), or q where k = 0."""
    at = sides(phi)
    level = at_point(at.energy, {}, BITS)
    cut = CUT * q0.sqrt()
    smooth = is_zero(at.bend)
    total = arb(0)
    for side, (branch, exprs) in enumerate(zip(around_zero(phi), (at.left, at.right), strict=True)):
        a1, a2 = (at_point(e, {}, BITS) for e in exprs[:2])
        for k in range(CELLS + 1):
            lo, hi = (arb(CUT * j) / CELLS for j in (k, k + 1))
            reach = min(hi, arb(CUT)) * q0.sqrt()
            x = arb(0).union(reach) * (1 if side else -1)
            h = _range(branch, x)
            weight = _fourth(lo, None if k == CELLS else hi)
            if k == CELLS:
                # Only a part of what is that far out in z lies within the cut.
                weight = arb(0).union(weight)
            total += weight * (a2 * a2 + a1 * h / 3 + a2 * x * h / 3 + x * x * h * h / 36)
    # Beyond the cut of the largest variance: |(phi/x)^2 - A0| <= (phi/x)^2 + A0, and linear terms.
    rest = arb(0)
    for name in "+-":
        rest += arb(tail(phi.expr, name, cut, Span(float(q0), float(q0)), growth(phi.expr, name)))
    lines = level + sum((abs(at_point(times(*e[:2]), {}, BITS)) for e in (at.left, at.right)), arb(0))
    rest = rest / q0**2 + 4 * lines * _fourth(arb(CUT), None) / q0
    total += arb(0, arb(rest.upper()))
    if smooth:
        return level, total, q0
    slope = 2 * (2 / arb.pi()).sqrt() * at_point(at.bend, {}, BITS)
    return level, slope + arb(0).union(q0.sqrt()) * total, q0.sqrt()


def _range(branch: Branch, x: arb) -> arb:
    """phi''' over the ball; the branch must reach as far."""
    end = branch.hi if x.mid() > 0 else branch.lo
    if end is not None and not abs(at_point(end, {}, BITS)) > abs(x):
        raise NoTailBound("a kink is nearer")
    lo, hi = compiled(branch.third)({X: (x.lower(), x.upper())})
    return lo.union(hi)


def _fourth(lo: arb, hi: arb | None) -> arb:
    """E z^4 over lo < z < hi for a standard normal z."""

    def below(b: arb) -> arb:
        bell = (-b * b / 2).exp() / (2 * arb.pi()).sqrt()
        return 3 * (b / arb(2).sqrt()).erf() / 2 - (b**3 + 3 * b) * bell

    return (arb(3) / 2 if hi is None else below(hi)) - below(lo)


def start_value(phi: Phi, q0: arb) -> tuple[arb, arb]:
    """For all q in (0, q0]: a lower bound of V and an upper one of D. Raises NoTailBound, NumericsError."""
    with precision(BITS):
        root = q0.sqrt()
        inner = compiled(phi.expr)({X: ((-root).lower(), root.upper())})
        least = max(inner[0], -inner[1], arb(0)) ** 2
        inside = (1 / arb(2).sqrt()).erf()
        cut = CUT * root
        lo, hi = compiled(phi.slope)({X: ((-cut).lower(), cut.upper())})
        top = max(abs(lo), abs(hi)) ** 2
        for name in "+-":
            top += arb(tail(phi.slope, name, cut, Span(float(q0), float(q0)), growth(phi.slope, name)))
        return arb((inside * least).lower()), arb(top.upper())


def start_where(phi: Phi, holds: Callable[[arb, arb, arb], bool]) -> arb:
    """For sigma_b2 = 0, phi(0) != 0: a q0 with ``holds(q0, v, d)``, where V >= v and D <= d on (0, q0]."""
    for power in range(1, 60):
        q0 = arb(4) ** -power
        try:
            least, top = start_value(phi, q0)
        except (NumericsError, NoTailBound):
            continue
        if holds(q0, least, top):
            return q0
    raise RefusedActivation(
        f"the activation {phi.text!r:.60}: phi(0) was not told from 0; give sigma_b^2 > 0"
    )

"""What is true of a function of one variable: symmetry, kinks, smoothness, asymptotes.

All facts are derived from the formula by exact means; where the exact methods do not reach,
the fact is None. Nothing is stated by hand, so a changed formula changes its facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.piecewise import Piece, cut_points, smooth_pieces
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.tails import Expansion, tail_form
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num, Var

MAX_SMOOTHNESS = 6


@dataclass(frozen=True)
class Kink:
    """A point where the function is C^order and not C^(order+1); order -1 is a jump.

    ``at`` is a rational, or a closed expression where it is none.
    """

    at: Fraction | Expr
    order: int


@dataclass(frozen=True)
class Asymptote:
    """The line that the function approaches: slope * x + intercept."""

    slope: Fraction
    intercept: Fraction


@dataclass(frozen=True)
class Facts:
    """Facts of a function on R; ``kinks`` None means that they could not be placed."""

    parity: str | None
    kinks: tuple[Kink, ...] | None
    left: Asymptote | None
    right: Asymptote | None

    @property
    def smoothness(self) -> int | None:
        """Largest k with the function in C^k(R); None for smooth (or not placed, see kinks)."""
        return min((k.order for k in self.kinks), default=None) if self.kinks else None


def facts(expr: Expr, var: str = "x") -> Facts:
    """The facts of a core expression in one variable that has a value on all of R."""
    return Facts(parity(expr, var), kinks_of(expr, var), asymptote(expr, var, "-"), asymptote(expr, var, "+"))


def parity(expr: Expr, var: str = "x") -> str | None:
    """'even', 'odd', or None where neither is proved."""
    mirrored = substitute(expr, {var: App("neg", (Var(var),))})
    given = Assumptions({var: Domain()})
    if prove_relation(mirrored, "==", expr, given) is not None:
        return "even"
    if prove_relation(mirrored, "==", App("neg", (expr,)), given) is not None:
        return "odd"
    return None


def kinks_of(expr: Expr, var: str = "x") -> tuple[Kink, ...] | None:
    """The points where the pieces do not continue each other, with the order of the break."""
    pieces = smooth_pieces(expr, var, Domain())
    if pieces is None:
        return None
    found: list[Kink] = []
    for at, left, right in zip(cut_points(pieces), pieces, pieces[1:], strict=False):
        order = _break(left, right, expr, var, at)
        if order is None:
            return None
        if order < MAX_SMOOTHNESS:
            found.append(Kink(at.value if isinstance(at, Num) else at, order))
    return tuple(found)


def _break(left: Piece, right: Piece, whole: Expr, var: str, at: Expr) -> int | None:
    """Order of smoothness at a cut: -1 for a jump, MAX_SMOOTHNESS if none is seen."""
    here = {var: at}
    a, b = left.expr, right.expr
    for order in range(MAX_SMOOTHNESS + 1):
        values = [substitute(a, here), substitute(b, here)]
        if order == 0:
            values.append(substitute(whole, here))
        for other in values[1:]:
            if prove_relation(values[0], "==", other, Assumptions()) is None:
                unequal = prove_relation(values[0], "!=", other, Assumptions())
                return order - 1 if unequal is not None else None
        next_a, next_b = derivative(a, var), derivative(b, var)
        if next_a is None or next_b is None:
            return None
        a, b = next_a, next_b
    return MAX_SMOOTHNESS


def asymptote(expr: Expr, var: str, side: str) -> Asymptote | None:
    """The line approached at '+' or '-' infinity with rational coefficients, else None."""
    form = tail_form(expr, var, side, Fraction(16))
    if not isinstance(form, Expansion) or any(t.k >= 0 and t.a == 0 and t.c > 0 for t in form.remainder):
        return None
    if any(k not in (0, 1) for k, c in form.poly.items() if c):
        return None
    slope = form.poly.get(1, Fraction(0))
    # The left tail is expanded in -x.
    return Asymptote(slope if side == "+" else -slope, form.poly.get(0, Fraction(0)))

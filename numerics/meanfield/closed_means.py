"""V and D as closed expressions in the variance, where theory has them, and signs for all large variances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from gateproof.numerics.meanfield.activation import Phi, X
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.gaussian import gauss_value
from gateproof.theory.exact.kernels import minus, plus, raised, times
from gateproof.theory.exact.means import holds_mean
from gateproof.theory.exact.tails import tail_sign
from gateproof.theory.formula.nodes import Expr, Gauss, Num, Var, num

Q = "q"
#: Where a sign may be proved from.
STARTS = (1, 4, 16, 64, 256, 1024, 4096)


@dataclass(frozen=True)
class Closed:
    """E phi(u)^2 and E phi'(u)^2 as core expressions in q > 0, with the rules that gave them."""

    variance: Expr
    slope_energy: Expr
    steps: tuple[str, ...]


@lru_cache(maxsize=128)
def closed_means(phi: Phi) -> Closed | None:
    """The closed forms, or None where one of them is not known."""
    given = Assumptions({Q: Domain(num(0), None)})
    found = []
    for f in (phi.expr, phi.slope):
        value = gauss_value(Gauss(raised(f, 2), X, Var(Q), num(0)), given)
        if value is None or holds_mean(value[0]):
            return None
        found.append(value)
    (v, first), (d, second) = found
    return Closed(v, d, (*first.steps, *second.steps))


def far_by_closed_form(phi: Phi, curve: Callable[[Closed, Expr], Expr]) -> tuple[int, Fraction] | None:
    """The sign of a curve of the closed forms for all q >= a start, and the start; or None."""
    at = closed_means(phi)
    if at is None:
        return None
    expr = curve(at, Var(Q))
    for start in STARTS:
        sign = tail_sign(expr, Q, "+", Fraction(start))
        if sign:
            return sign, Fraction(start)
    return None


def edge_form(sigma_b2: Fraction) -> Callable[[Closed, Expr], Expr]:
    """(q - s) D - V."""
    return lambda at, q: plus(times(plus(q, Num(-sigma_b2)), at.slope_energy), minus(at.variance))


def fixed_point_form(sigma_w2: Fraction, sigma_b2: Fraction) -> Callable[[Closed, Expr], Expr]:
    """w V + s - q."""
    return lambda at, q: plus(times(Num(sigma_w2), at.variance), Num(sigma_b2), minus(q))

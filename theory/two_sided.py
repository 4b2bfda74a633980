"""The two-sided gate sign(x) ReLU(|x| - D): gradients, surrogates, potential, Gaussian moments.

Two-sided-gate idea (arXiv 2608.30439), formulas 1 to 4. D > 0 is the threshold (Delta there),
C > 0 the sharpness of the surrogate, s > 0 the standard deviation of a centred normal input.
Expressions are in the names x, D, C, and alpha and eps for the parameterisation
D = softplus(alpha) + eps.

The surrogate sigma(C(|x| - D)) of the slope in x and the printed one in D, -sign(x) sigma(C(|x| -
D)), are no partial derivatives of one function: the second jumps by 2 sigma(-C D) at x = 0. Less
its value beside x = 0 it is continuous, and :func:`potential` has both as derivatives. That
function is odd and within log(2)/C of the hard gate.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.theory.folding import exact
from gateproof.theory.formula import parse_expr
from gateproof.theory.formula.nodes import Expr


def gate() -> Expr:
    """sign(x) ReLU(|x| - D)."""
    return parse_expr("sign(x)*max(abs(x) - D, 0)")


def gate_by_branches() -> Expr:
    """The same as a hard gate of three branches: x + D, 0, x - D, thresholds -D and D."""
    return parse_expr("tg(x, tau=oo, theta=[-D, D], slope=[1, 0, 1], intercept=[D, 0, -D])")


def slope_x() -> Expr:
    """The derivative in x off the thresholds: 1 beyond, 0 within."""
    return parse_expr("where(abs(x) > D, 1, 0)")


def slope_delta() -> Expr:
    """The derivative in D off the thresholds: -sign(x) beyond, 0 within."""
    return parse_expr("where(abs(x) > D, -sign(x), 0)")


@dataclass(frozen=True)
class Subgradient:
    """Clarke derivatives of the gate at a point: intervals for x and for D, and both jointly.

    ``joint`` lists the ends (d/dx, d/dD) of the segment of generalised gradients; a point where
    the gate is differentiable has one. Both partial intervals are shadows of that segment: not
    every pair of their members is a generalised gradient.
    """

    x: tuple[int, int]
    delta: tuple[int, int]
    joint: tuple[tuple[int, int], ...]


def subgradient(x: int | Fraction, delta: int | Fraction) -> Subgradient:
    """The sets at a point, exactly. Raises ValueError unless delta > 0, TypeError for floats."""
    at, d = exact(x), exact(delta)
    if d <= 0:
        raise ValueError("the threshold is positive")
    sign = (at > 0) - (at < 0)
    ends: tuple[tuple[int, int], ...]
    if abs(at) < d:
        ends = ((0, 0),)
    elif abs(at) > d:
        ends = ((1, -sign),)
    else:
        ends = ((0, 0), (1, -sign))
    first, second = [e[0] for e in ends], [e[1] for e in ends]
    return Subgradient((min(first), max(first)), (min(second), max(second)), ends)


def surrogate_x() -> Expr:
    """sigma(C (|x| - D)): formula 2."""
    return parse_expr("sigmoid(C*(abs(x) - D))")


def surrogate_delta() -> Expr:
    """-sign(x) sigma(C (|x| - D)): formula 3, with a jump at x = 0."""
    return parse_expr("-sign(x)*sigmoid(C*(abs(x) - D))")


def debiased_delta() -> Expr:
    """-sign(x) (sigma(C (|x| - D)) - sigma(-C D)): continuous, 0 at x = 0."""
    return parse_expr("-sign(x)*(sigmoid(C*(abs(x) - D)) - sigmoid(-C*D))")


def jump() -> Expr:
    """Left less right limit of the printed surrogate in D at x = 0: 2 sigma(-C D)."""
    return parse_expr("2*sigmoid(-C*D)")


def potential() -> Expr:
    """The odd function with slopes :func:`surrogate_x` and :func:`debiased_delta`.

    sign(x) (softplus(C(|x| - D)) - softplus(-C D))/C.
    """
    return parse_expr("sign(x)*(softplus(C*(abs(x) - D)) - softplus(-C*D))/C")


def threshold_distance() -> Expr:
    """Distance of the potential from the hard gate at |x| = D: (log 2 - softplus(-C D))/C.

    There the potential lies outside the hard gate, and farthest outside.
    """
    return parse_expr("(log(2) - softplus(-C*D))/C")


def far_distance() -> Expr:
    """Distance of the potential from the hard gate as |x| grows: softplus(-C D)/C, from inside."""
    return parse_expr("softplus(-C*D)/C")


def potential_distance() -> Expr:
    """Supremum of the distance of the potential from the hard gate: the larger of the two above.

    Attained, at |x| = D, where C D >= asinh(1) (there both are equal); else only approached.
    """
    return parse_expr("max(log(2) - softplus(-C*D), softplus(-C*D))/C")


def threshold() -> Expr:
    """D = softplus(alpha) + eps; every D > eps is reached, by one alpha."""
    return parse_expr("softplus(alpha) + eps")


def threshold_slope() -> Expr:
    """dD/dalpha = sigma(alpha): nearly 0 for thresholds just above eps."""
    return parse_expr("sigmoid(alpha)")


def inverse() -> Expr:
    """alpha of a wanted D > eps: log(exp(D - eps) - 1)."""
    return parse_expr("log(exp(D - eps) - 1)")


def stable_inverse() -> Expr:
    """The same as (D - eps) + log(-expm1(-(D - eps))), which neither overflows nor cancels.

    expm1 must be the machine's own; written out as exp - 1 it cancels for D near eps.
    """
    return parse_expr("(D - eps) + log(-expm1(-(D - eps)))")


# Moments of a centred normal input with standard deviation s ------------------


def zero_rate() -> Expr:
    """P(|x| <= D) = erf(D/(s sqrt 2))."""
    return parse_expr("erf(D/(s*sqrt(2)))")


def zero_rate_slope() -> Expr:
    """d rate/dD = sqrt(2/pi) exp(-D**2/(2 s**2))/s > 0: a penalty on the rate lowers D."""
    return parse_expr("sqrt(2/pi)*exp(-D**2/(2*s**2))/s")


def mean_square() -> Expr:
    """E[y**2] = (s**2 + D**2) erfc(D/(s sqrt 2)) - s D sqrt(2/pi) exp(-D**2/(2 s**2))."""
    return parse_expr("(s**2 + D**2)*erfc(D/(s*sqrt(2))) - s*D*sqrt(2/pi)*exp(-D**2/(2*s**2))")


def mean_size() -> Expr:
    """E|y| = s sqrt(2/pi) exp(-D**2/(2 s**2)) - D erfc(D/(s sqrt 2))."""
    return parse_expr("s*sqrt(2/pi)*exp(-D**2/(2*s**2)) - D*erfc(D/(s*sqrt(2)))")


def mean_product() -> Expr:
    """E[x y] = s**2 erfc(D/(s sqrt 2)): s**2 times the share of survivors (Stein)."""
    return parse_expr("s**2*erfc(D/(s*sqrt(2)))")


def distortion() -> Expr:
    """E[(x - y)**2] = E[min(|x|, D)**2], in closed form."""
    return parse_expr(
        "s**2*erf(D/(s*sqrt(2))) + D**2*erfc(D/(s*sqrt(2))) - s*D*sqrt(2/pi)*exp(-D**2/(2*s**2))"
    )

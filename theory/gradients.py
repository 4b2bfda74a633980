"""Gradients of threshold gates: exact for soft ones, sets for hard ones.

Threshold-gating paper, "Training strategy", second item: tau, theta, s and c all receive
gradients, and hard gates are trained by subgradients. With z_k = tau_k (x - theta_k), S_k =
sigmoid(z_k), B_k = S_k sigmoid(-z_k) and the jump from branch k to k+1,

    J_k = (slope_(k+1) - slope_k) x + (intercept_(k+1) - intercept_k),

the telescoped gate y = slope_1 x + intercept_1 + sum_k S_k J_k has

    dy/dx        = sum_k g_k slope_k + sum_k tau_k B_k J_k
    dy/dtau_k    = (x - theta_k) B_k J_k          (summed over k for a shared tau)
    dy/dtheta_k  = -tau_k B_k J_k
    dy/dslope_k  = g_k x,    dy/dintercept_k = g_k.

B_k is written as a product, never as S_k (1 - S_k), which loses all digits for large z_k.

A hard gate (tau = oo) has no gradient in tau; those in theta are 0 off the thresholds. At a
threshold it is continuous only where J_k is 0 there; then x has a whole interval of generalised
(Clarke) derivatives. At a jump no finite number is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from gateproof.theory.exact.derivative import add, mul, neg
from gateproof.theory.folding import Numbers, vector
from gateproof.theory.formula.nodes import App, Const, Expr, Tg
from gateproof.theory.threshold_gate import branch, gate_above, gate_below, gates


@dataclass(frozen=True)
class SoftGradient:
    """Partial derivatives as expressions: of x; of one tau or K-1; of K-1 theta; of K s and c."""

    x: Expr
    tau: tuple[Expr, ...]
    theta: tuple[Expr, ...]
    slope: tuple[Expr, ...]
    intercept: tuple[Expr, ...]


def soft_gradient(tg: Tg) -> SoftGradient:
    """The gradient of a soft gate. ``tg.x`` is taken as the variable x.

    Parameters may be any expressions; each derivative is partial, with the others fixed. With
    one branch there is no threshold, and the sharpness has derivative 0. Raises ValueError for
    tau = oo.
    """
    if any(isinstance(t, Const) and t.name == "oo" for t in tg.tau):
        raise ValueError("a hard gate has no gradient at its thresholds: see hard_gradient")
    sharp = tg.tau if len(tg.tau) == len(tg.theta) else tg.tau * len(tg.theta)
    weights = gates(tg.x, tg.tau, tg.theta)
    jumps = [_minus(b, a) for a, b in pairwise(_lines(tg))]
    bells = [
        mul(gate_above(tg.x, t, h), gate_below(tg.x, t, h)) for t, h in zip(sharp, tg.theta, strict=True)
    ]
    peaks = [mul(bell, jump) for bell, jump in zip(bells, jumps, strict=True)]
    by_tau = tuple(mul(_minus(tg.x, h), p) for h, p in zip(tg.theta, peaks, strict=True))
    return SoftGradient(
        x=add(
            *(mul(g, s) for g, s in zip(weights, tg.slope, strict=True)),
            *(mul(t, p) for t, p in zip(sharp, peaks, strict=True)),
        ),
        tau=by_tau if len(tg.tau) == len(tg.theta) else tuple(add(*by_tau) for _ in tg.tau),
        theta=tuple(neg(mul(t, p)) for t, p in zip(sharp, peaks, strict=True)),
        slope=tuple(mul(g, tg.x) for g in weights),
        intercept=weights,
    )


def _lines(tg: Tg) -> list[Expr]:
    return [branch(tg.x, s, c) for s, c in zip(tg.slope, tg.intercept, strict=True)]


def _minus(a: Expr, b: Expr) -> Expr:
    return add(a, neg(b))


def telescoped(tg: Tg) -> Expr:
    """The gate as its first branch plus S_k J_k: K-1 sigmoids instead of 2(K-1)."""
    sharp = tg.tau if len(tg.tau) == len(tg.theta) else tg.tau * len(tg.theta)
    lines = _lines(tg)
    steps = [
        App("mul", (gate_above(tg.x, t, h), _minus(b, a)))
        for t, h, (a, b) in zip(sharp, tg.theta, pairwise(lines), strict=True)
    ]
    return add(lines[0], *steps)


@dataclass(frozen=True)
class HardGate:
    """A hard gate with exact parameters; at a threshold it belongs to the left branch.

    Raises ValueError for thresholds that do not ascend strictly or counts that do not fit, and
    TypeError for floats.
    """

    theta: tuple[Fraction, ...]
    slope: tuple[Fraction, ...]
    intercept: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        for name in ("theta", "slope", "intercept"):
            object.__setattr__(self, name, vector(getattr(self, name)))
        if len(self.slope) != len(self.intercept) or len(self.slope) != len(self.theta) + 1:
            raise ValueError("K slopes and intercepts for K-1 thresholds")
        if any(a >= b for a, b in pairwise(self.theta)):
            raise ValueError("thresholds ascend strictly")

    def active(self, x: Fraction) -> int:
        """The branch, from 0."""
        return sum(x > h for h in self.theta)

    def __call__(self, x: Fraction) -> Fraction:
        """The value."""
        k = self.active(x)
        return self.slope[k] * x + self.intercept[k]


def hard_gate(theta: Numbers, slope: Numbers, intercept: Numbers) -> HardGate:
    """A hard gate of integers and fractions."""
    return HardGate(vector(theta), vector(slope), vector(intercept))


@dataclass(frozen=True)
class HardGradient:
    """Generalised derivatives of a hard gate at a point.

    ``x`` is the interval of Clarke derivatives, both ends the same where there is a derivative,
    or None at a jump, where there is none. ``jump`` is the height right less left of the
    threshold at x, 0 elsewhere. ``theta`` holds 0 for each threshold, None for one at x with a
    jump: moved past x it changes the value at once. ``slope`` and ``intercept`` are derivatives
    (the value is linear in them), by the convention that a threshold belongs to its left branch.
    """

    x: tuple[Fraction, Fraction] | None
    jump: Fraction
    theta: tuple[Fraction | None, ...]
    slope: tuple[Fraction, ...]
    intercept: tuple[Fraction, ...]

    @property
    def differentiable(self) -> bool:
        """Whether the gate has a derivative in x here."""
        return self.x is not None and self.x[0] == self.x[1]


def hard_gradient(gate: HardGate, x: int | Fraction) -> HardGradient:
    """The sets at a point, exactly."""
    (at,) = vector((x,))
    k = gate.active(at)
    zero = Fraction(0)
    jump = zero
    slopes: tuple[Fraction, Fraction] | None = (gate.slope[k], gate.slope[k])
    theta: list[Fraction | None] = [zero] * len(gate.theta)
    if at in gate.theta:
        rise = gate.slope[k + 1] - gate.slope[k]
        jump = rise * at + gate.intercept[k + 1] - gate.intercept[k]
        if jump:
            slopes, theta[k] = None, None
        else:
            slopes = (min(gate.slope[k], gate.slope[k + 1]), max(gate.slope[k], gate.slope[k + 1]))
    one_hot = tuple(Fraction(int(j == k)) for j in range(len(gate.slope)))
    return HardGradient(slopes, jump, tuple(theta), tuple(w * at for w in one_hot), one_hot)


def soft_limit_at_threshold(gate: HardGate, k: int) -> Fraction | None:
    """Limit of dy/dx at threshold k as a shared tau grows: the mean of both slopes.

    None where the gate jumps: there tau J_k/4 grows beyond all bounds. So soft gates made sharper
    pick the middle of the Clarke interval. Raises IndexError for a threshold that is not there.
    """
    at = gate.theta[k]
    found = hard_gradient(gate, at)
    return None if found.x is None else (found.x[0] + found.x[1]) / 2


def is_subgradient(
    gate: HardGate, x: int | Fraction, slope: int | Fraction, points: Sequence[Fraction]
) -> bool:
    """Whether y(p) >= y(x) + slope (p - x) at all given points: subgradients of convex gates.

    A gate that is not convex can have Clarke derivatives without any subgradient.
    """
    (at, s) = vector((x, slope))
    return all(gate(p) >= gate(at) + s * (p - at) for p in points)

"""The threshold gate (TG) as an exact expression.

Threshold-gating paper, "Method", item 1. Branches run left to right: with ordered
thresholds theta_1 < ... < theta_(K-1) and z_k = tau_k (x - theta_k),

    g_1 = sigmoid(-z_1),  g_k = sigmoid(z_(k-1)) - sigmoid(z_k),  g_K = sigmoid(z_(K-1)),
    y = sum_k g_k (slope_k x + intercept_k).

The gates sum to 1 for any tau_k (the sum telescopes); each lies in [0, 1] when the
tau_k are equal, while with unequal tau_k a middle gate can go negative. tau = oo is
the hard gate, 1 right of its threshold and 0 at and left of it. The paper lists the
branches right to left: see :func:`paper_order`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from gateproof.theory.formula.nodes import App, Const, Expr, Num, Rel, Tg, Where, num


def is_hard(tau: Expr) -> bool:
    """Whether a sharpness is oo."""
    return isinstance(tau, Const) and tau.name == "oo"


def gate_below(x: Expr, tau: Expr, theta: Expr) -> Expr:
    """1 - gate_above, without a subtraction: sigmoid(-tau (x - theta))."""
    if is_hard(tau):
        return Where(Rel((">",), (x, theta)), num(0), num(1))
    return App("sigmoid", (App("neg", (gate_argument(x, tau, theta),)),))


def gate_above(x: Expr, tau: Expr, theta: Expr) -> Expr:
    """sigmoid(tau (x - theta)); for tau = oo the indicator of x > theta."""
    if is_hard(tau):
        return Where(Rel((">",), (x, theta)), num(1), num(0))
    return App("sigmoid", (gate_argument(x, tau, theta),))


def gate_argument(x: Expr, tau: Expr, theta: Expr) -> Expr:
    """tau * (x - theta), without a factor 1 or a shift by 0."""
    shift = x if _is_zero(theta) else App("add", (x, App("neg", (theta,))))
    return shift if isinstance(tau, Num) and tau.value == 1 else App("mul", (tau, shift))


def _is_zero(node: Expr) -> bool:
    return isinstance(node, Num) and node.value == 0


def gates(x: Expr, tau: tuple[Expr, ...], theta: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The K gates, left to right, for K-1 thresholds and one sharpness or K-1."""
    if not theta:
        return (num(1),)
    sharp = tau if len(tau) == len(theta) else tau * len(theta)
    above = [gate_above(x, t, h) for t, h in zip(sharp, theta, strict=True)]
    middle = tuple(App("add", (a, App("neg", (b,)))) for a, b in pairwise(above))
    return (gate_below(x, sharp[0], theta[0]), *middle, above[-1])


def branch(x: Expr, slope: Expr, intercept: Expr) -> Expr:
    """Slope * x + intercept, without terms that are 0."""
    if _is_zero(slope):
        return intercept
    line = x if isinstance(slope, Num) and slope.value == 1 else App("mul", (slope, x))
    return line if _is_zero(intercept) else App("add", (line, intercept))


def write_out(tg: Tg) -> Expr:
    """The gate's expression in core functions."""
    lines = [branch(tg.x, s, c) for s, c in zip(tg.slope, tg.intercept, strict=True)]
    return weighted(gates(tg.x, tg.tau, tg.theta), lines)


def weighted(gates: Sequence[Expr], lines: Sequence[Expr]) -> Expr:
    """The sum of gates times lines, without lines that are 0."""
    terms = [App("mul", (gate, line)) for gate, line in zip(gates, lines, strict=True) if not _is_zero(line)]
    if not terms:
        return num(0)
    return terms[0] if len(terms) == 1 else App("add", tuple(terms))


def paper_order(tg: Tg) -> dict[str, tuple[Expr, ...]]:
    """The parameters as the paper lists them: branches right to left, thresholds ascending."""
    return {
        "tau": tg.tau,
        "theta": tg.theta,
        "s": tuple(reversed(tg.slope)),
        "c": tuple(reversed(tg.intercept)),
    }

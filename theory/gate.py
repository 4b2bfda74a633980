"""A threshold gate with exact numbers, in one of three gate algebras, as an expression and as text.

With z_k = tau_k (x - theta_k) for the K-1 thresholds, branches left to right:

    difference  g_1 = sigmoid(-z_1), g_k = sigmoid(z_(k-1)) - sigmoid(z_k), g_K = sigmoid(z_(K-1))
    stick       g_k = sigmoid(z_1) .. sigmoid(z_(k-1)) sigmoid(-z_k), g_K = sigmoid(z_1) .. sigmoid(z_(K-1))
    softmax     g_k proportional to exp(z_1 + .. + z_(k-1))

Difference gates are the papers' (threshold gating, "Method", item 1). Softmax gates are stick gates with
other arguments, w_(K-1) = z_(K-1) and w_k = z_k + softplus(w_(k+1)): the odds of all branches above k
to branch k are e^(z_k) (1 + e^(z_(k+1)) (1 + ..)). So both are products of sigmoids, without overflow.
"""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.theory.formula.nodes import App, Expr, Tg, Var, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.threshold_gate import branch, gate_argument, gates, is_hard, weighted

ALGEBRAS = ("difference", "stick", "softmax")


@dataclass(frozen=True)
class Gate:
    """K branches: K-1 sharpnesses ``tau`` (the constant oo for a hard gate) and thresholds, K lines.

    All numbers are closed expressions. Raises ValueError where the lengths do not agree, and for a hard
    gate in the softmax algebra, which has none.
    """

    tau: tuple[Expr, ...]
    theta: tuple[Expr, ...]
    slope: tuple[Expr, ...]
    intercept: tuple[Expr, ...]
    algebra: str = "difference"

    def __post_init__(self) -> None:
        if self.algebra not in ALGEBRAS:
            raise ValueError(f"gates {self.algebra!r}: {', '.join(ALGEBRAS)} are known")
        n = len(self.slope)
        if not n or len(self.intercept) != n or len(self.theta) != n - 1 or len(self.tau) != n - 1:
            raise ValueError("K branches have K slopes and intercepts, K-1 sharpnesses and thresholds")
        if self.algebra == "softmax" and any(self.hard):
            raise ValueError("softmax gates have no hard limit")

    @property
    def branches(self) -> int:
        """K."""
        return len(self.slope)

    @property
    def hard(self) -> tuple[bool, ...]:
        """Whether each of the K-1 sharpnesses is oo."""
        return tuple(map(is_hard, self.tau))

    def gates(self, x: Expr | None = None) -> tuple[Expr, ...]:
        """The K gates."""
        x = Var("x") if x is None else x
        if self.algebra == "difference" or self.branches == 1:
            return gates(x, self.tau, self.theta)
        if self.algebra == "stick" and any(self.hard):
            above = [gates(x, (t,), (h,)) for t, h in zip(self.tau, self.theta, strict=True)]
            return _sticks([low for low, _ in above], [high for _, high in above])
        z = [gate_argument(x, t, h) for t, h in zip(self.tau, self.theta, strict=True)]
        if self.algebra == "softmax":
            for k in range(len(z) - 2, -1, -1):
                z[k] = App("add", (z[k], App("softplus", (z[k + 1],))))
        return _sticks([App("sigmoid", (App("neg", (w,)),)) for w in z], [App("sigmoid", (w,)) for w in z])

    def expression(self, x: Expr | None = None) -> Expr:
        """The gate in core functions."""
        x = Var("x") if x is None else x
        lines = [branch(x, s, c) for s, c in zip(self.slope, self.intercept, strict=True)]
        if self.branches == 1:
            return lines[0]
        return weighted(self.gates(x), lines)

    @property
    def text(self) -> str:
        """The gate in the language of the claims: ``tg(x, ...)``; written out for the other algebras."""
        x = Var("x")
        if self.branches == 1 or self.algebra != "difference":
            return to_text(self.expression(x))
        tau = self.tau[:1] if len(set(self.tau)) == 1 else self.tau
        return to_text(Tg(x, tau, self.theta, self.slope, self.intercept))


def _sticks(low: list[Expr], high: list[Expr]) -> tuple[Expr, ...]:
    passed: list[Expr] = []
    found = []
    for below, above in zip(low, high, strict=True):
        found.append(_product([*passed, below]))
        passed.append(above)
    return (*found, _product(passed))


def _product(factors: list[Expr]) -> Expr:
    if not factors:
        return num(1)
    return factors[0] if len(factors) == 1 else App("mul", tuple(factors))

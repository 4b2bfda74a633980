"""A gate's value as steps that neither overflow nor cancel; one definition for every language.

With e = exp(-|z|) and r = 1/(1 + e), sigmoid(z) and sigmoid(-z) are r and e r, or the other way round. A
difference of sigmoids is

    S_1 - S_2 = S_1 C_2 (1 - exp(z_2 - z_1)) = -C_1 S_2 (1 - exp(z_1 - z_2)),    C = 1 - S = sigmoid(-z),

the form whose exponent is not positive. Softmax gates are sticks with w_(K-1) = z_(K-1) and
w_k = z_k + softplus(w_(k+1)). Lines are added up as y = m t + v with m = sum g_k slope_k,
v = sum g_k intercept_k: at t = +-oo all gates are 0 or 1, and m = 0 means that y is v.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from gateproof.numerics.fits.exports.form import Form


class Ops(ABC):
    """What a language has. Values overload + - * / and unary minus among themselves; all else is a method.

    ``scalar``: NaN has been returned before, and a choice evaluates one side only.
    """

    scalar = False

    def __init__(self, form: Form) -> None:
        self.form = form

    @abstractmethod
    def number(self, value: float) -> Any:
        """A constant."""

    @abstractmethod
    def call(self, name: str, *args: Any) -> Any:
        """One of exp, expm1, log1p, abs, max."""

    @abstractmethod
    def compare(self, a: Any, op: str, b: Any) -> Any:
        """A condition; op is >, >=, < or ==."""

    @abstractmethod
    def select(self, condition: Any, a: Any, b: Any) -> Any:
        """A where the condition holds, else b."""

    @abstractmethod
    def clip(self, value: Any, reach: float) -> Any:
        """The value between -reach and reach."""

    def infinite_and_zero(self, x: Any, m: Any) -> Any:
        """The condition that x is infinite and m is 0; arrays only."""
        raise NotImplementedError

    def is_nan(self, x: Any) -> Any:
        """The condition that x is NaN; arrays only."""
        raise NotImplementedError

    def let(self, name: str, value: Any) -> Any:  # noqa: ARG002 - languages with names override it
        """The value, under a name."""
        return value

    # --- parameters; a language in which they are variables overrides these -------------------------

    def argument(self, k: int, t: Any) -> Any:
        """z of soft threshold k, from 0."""
        tau, theta = self.form.tau[k], self.form.theta[k]
        shift = t if theta == 0 else t - self.number(theta) if theta > 0 else t + self.number(-theta)
        return shift if tau == 1 else self.number(tau) * shift

    def passed(self, k: int, x: Any) -> Any:
        """The condition that x is right of hard threshold k."""
        return self.compare(x, ">", self.number(self.form.theta[k]))

    def between(self, k: int, up: list[Any], down: list[Any]) -> Any:
        """The gate between thresholds k and k + 1 that share their sharpness."""
        narrowing = self.form.apart[k]
        assert narrowing is not None
        return up[k] * down[k + 1] * self.number(narrowing)

    def weighted(self, gates: Sequence[Any], numbers: Sequence[float]) -> Any:
        """The sum of gates times numbers; None where all numbers are 0. The only gate of K = 1 is None."""
        total = None
        for gate, number in zip(gates, numbers, strict=True):
            if number == 0:
                continue
            if gate is None:
                return self.number(number)
            size = gate if abs(number) == 1 else self.number(abs(number)) * gate
            if total is None:
                total = size if number > 0 else -size
            else:
                total = total + size if number > 0 else total - size
        return total


def gates(o: Ops, x: Any, t: Any) -> list[Any]:
    """The K gates at x, where t = x - centre."""
    form = o.form
    if form.branches == 1:
        return [None]
    # Only differences of arguments, or products with them, mind that they are infinite.
    careful = form.gate.algebra == "difference" and any(
        apart is None and not (a or b)
        for apart, a, b in zip(form.apart, form.hard, form.hard[1:], strict=False)
    )
    near = o.let("c", o.clip(t, form.reach)) if careful else t
    z: list[Any] = [None] * (form.branches - 1)
    up, down = list(z), list(z)
    later: Any = None
    for k in (
        reversed(range(form.branches - 1)) if form.gate.algebra == "softmax" else range(form.branches - 1)
    ):
        n = k + 1
        if form.hard[k]:
            right = o.passed(k, x)
            up[k] = o.let(f"a{n}", o.select(right, o.number(1.0), o.number(0.0)))
            down[k] = o.let(f"b{n}", o.select(right, o.number(0.0), o.number(1.0)))
            continue
        z[k] = o.argument(k, near)
        if form.gate.algebra == "softmax" and later is not None:
            z[k] = z[k] + o.call("max", later[0], o.number(0.0)) + o.call("log1p", later[1])
        z[k] = o.let(f"z{n}", z[k])
        e = o.let(f"e{n}", o.call("exp", -o.call("abs", z[k])))
        r = o.let(f"r{n}", o.number(1.0) / (o.number(1.0) + e))
        right = o.compare(z[k], ">=", o.number(0.0))
        up[k] = o.let(f"a{n}", o.select(right, r, e * r))
        down[k] = o.let(f"b{n}", o.select(right, e * r, r))
        later = z[k], e
    if form.gate.algebra == "difference" or form.branches == 2:
        middle = [_between(o, k, x, z, up, down) for k in range(form.branches - 2)]
        return [down[0], *middle, up[-1]]
    return _sticks(o, up, down)


def _between(o: Ops, k: int, x: Any, z: list[Any], up: list[Any], down: list[Any]) -> Any:
    """The difference of the sigmoids of thresholds k and k + 1."""
    form, name = o.form, f"g{k + 2}"
    if form.hard[k]:
        return o.let(name, o.select(o.passed(k, x), down[k + 1], -up[k + 1]))
    if form.hard[k + 1]:
        return o.let(name, o.select(o.passed(k + 1, x), -down[k], up[k]))
    if form.apart[k] is not None:
        return o.let(name, o.between(k, up, down))
    d = o.let(f"d{k + 2}", z[k + 1] - z[k])
    q = o.let(f"q{k + 2}", -o.call("expm1", -o.call("abs", d)))
    # d = 0 goes with d > 0, as |d| does: a language that differentiates gets the slope there right.
    ordered = o.compare(d, "<", o.number(0.0))
    return o.let(name, o.select(ordered, up[k] * down[k + 1] * q, -(down[k] * up[k + 1] * q)))


def _sticks(o: Ops, up: list[Any], down: list[Any]) -> list[Any]:
    found, passed = [down[0]], up[0]
    for k in range(1, len(up)):
        found.append(o.let(f"g{k + 1}", passed * down[k]))
        passed = o.let(f"p{k + 1}", passed * up[k])
    return [*found, passed]


def value(o: Ops, x: Any) -> Any:
    """The gate's value at x."""
    form = o.form
    t = o.let("t", x - o.number(form.centre)) if form.centre else x
    weights = gates(o, x, t)
    m, v = o.weighted(weights, form.slope), o.weighted(weights, form.intercept)
    if m is None:
        constant = o.number(0.0) if v is None else v
        return constant if o.scalar else o.select(o.is_nan(x), x, constant)
    if v is not None and form.branches > 1:
        v = o.let("v", v)
    if form.slope[0] and form.slope[-1]:
        return m * t if v is None else m * t + v
    m = o.let("m", m)
    if not o.scalar:
        t = o.let("s", o.select(o.infinite_and_zero(x, m), o.number(0.0), t))
        return m * t if v is None else m * t + v
    constant = o.number(0.0) if v is None else v
    total = m * t if v is None else m * t + v
    return o.select(o.compare(m, "==", o.number(0.0)), constant, total)

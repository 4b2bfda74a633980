"""Threshold gates in float64, for finite x: with fewer passes where the numbers of a gate allow it.

With b_k the lines, D_k = b_(k+1) - b_k and u_k = sigmoid(z_k), summation by parts of sum g_k b_k gives

    y = b_1 + sum D_k u_k = b_K - sum D_k sigmoid(-z_k)

and the derivative b_1' + sum D_k' u_k + tau_k D_k u_k (1 - u_k), likewise from the right. Each leans on one
line: far to the other side it subtracts that line again. ``leans`` says from the numbers where that costs no
digits of a float32 result, and ``Exact`` is the convex form for all other gates.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gateproof.kernels.gate_graph import Gate, Shape, gate_gradients
from gateproof.kernels.graph import Builder, Graph, Symbol
from gateproof.kernels.native import Natively

Array = NDArray[np.float64]
#: Inputs of at most this size take the shorter forms.
MOST = 8192.0
#: Rounding errors of float64 may be so many times larger, against the sum of absolute terms, than they are in
#: that sum itself: 2**-53 * 2**20 is a hundredth of a unit in the last place of float32.
_LARGER, _LEAST = 2.0**20, 2.0**-98


class Exact(Gate):
    """The convex form; no gate is a difference of numbers near 1."""

    def _shut(self, falling: Any, growing: Any) -> Any:
        return falling * growing

    def _sides(self, z: Any) -> tuple[Any, Any, Any]:
        up, down = self.ops.sigmoid(z), self.ops.sigmoid(-z)
        return up, down, up * down

    def _whole(self, value: Any) -> Any:
        return value

    def _nowhere(self) -> Any:
        return 0.0


class FromLeft(Exact):
    """Sums by parts that lean on the first line."""

    sign = 1.0

    def __init__(self, ops: Any, x: Any, numbers: Sequence[Any], shape: Shape) -> None:
        super().__init__(ops, x, numbers, shape)
        self.z = [x * t - t * h for t, h in zip(self.tau, self.theta, strict=True)]
        self.sides = [ops.sigmoid(z * self.sign) for z in self.z]
        self.steps = [
            ((b - a) * x + (d - c), b - a)
            for a, b, c, d in zip(
                self.slope, self.slope[1:], self.intercept, self.intercept[1:], strict=False
            )
        ]

    def _first(self, values: Sequence[Any]) -> Any:
        return values[0] if self.sign > 0 else values[-1]

    def value(self) -> Any:
        """y."""
        total = self._first(self.lines)
        for (step, _), side in zip(self.steps, self.sides, strict=True):
            total = total + step * side if self.sign > 0 else total - step * side
        return total

    def in_x(self) -> Any:
        """The gradient in x."""
        total = self._first(self.slope)
        for (step, bend), side, tau in zip(self.steps, self.sides, self.tau, strict=True):
            total = total + self.ops.made("turning", step * tau, side) + bend * side * self.sign
        return total


class FromRight(FromLeft):
    """Sums by parts that lean on the last line."""

    sign = -1.0


FORMS: dict[str, type[Exact]] = {"exact": Exact, "left": FromLeft, "right": FromRight}


def native_value(shape: Shape, form: str) -> Graph:
    """``value_graph`` in a form for float64."""
    builder, symbols, gate = _gate(shape, form, 0)
    value = gate.value()
    return builder.finished([_ref(value * symbols[1] if shape.product else value)])


def native_gradients(shape: Shape, form: str, numbers_too: bool) -> Graph:
    """``gradient_graph`` in a form for float64; those that lean have none in the numbers."""
    builder, symbols, gate = _gate(shape, form, 1)
    u = symbols[2] if shape.product else None
    found = gate_gradients(gate, symbols[0], u, numbers_too=numbers_too)
    return builder.finished([_ref(g) for g in found])


def _gate(shape: Shape, form: str, first: int) -> tuple[Builder, list[Symbol], Exact]:
    tensors = first + (2 if shape.product else 1)
    builder = Builder(tensors + shape.width)
    symbols = [Symbol(builder, i) for i in range(builder.inputs)]
    return builder, symbols, FORMS[form](Natively(builder), symbols[first], symbols[tensors:], shape)


def _ref(value: Any) -> Any:
    return value.ref if isinstance(value, Symbol) else float(value)


@lru_cache(maxsize=256)
def leans(shape: Shape, numbers: tuple[float, ...], gradients: bool) -> str:
    """``left`` or ``right`` where that form keeps the digits of float32 for all |x| <= MOST, else ``exact``.

    The sizes of what each form adds up are held against the sum of absolute terms, in steps of z that change
    a gate by less than e**2 = 7.4, until a gate is 1 to all digits of float64.
    """
    k = shape.branches
    if shape.hard or k == 1:
        return "left" if k == 1 else "exact"
    taus = np.array(numbers[: shape.taus] * (1 if shape.taus > 1 or k == 2 else k - 1))
    rest = np.array(numbers[shape.taus :])
    theta, slope, intercept = rest[: k - 1], rest[k - 1 : 2 * k - 1], rest[2 * k - 1 :]
    if not (np.isfinite(numbers).all() and (np.diff(theta) >= 0).all() and (taus > 0).all()):
        return "exact"
    if (np.diff(taus) != 0).any() or (taus * np.abs(theta) > 2.0**20).any():
        return "exact"
    turns = np.arange(-46.0, 48.0, 2.0)
    points = (theta[:, None] + turns / taus[:, None]).ravel()
    x = np.clip(np.concatenate([points, [0.0, 1e-30, -1e-30, MOST, -MOST]]), -MOST, MOST)
    with np.errstate(all="ignore"):
        for form in ("left", "right"):
            if _keeps(x, taus, theta, slope, intercept, form == "left", gradients):
                return form
    return "exact"


def _keeps(
    x: Array, taus: Array, theta: Array, slope: Array, intercept: Array, left: bool, gradients: bool
) -> bool:
    z = taus[:, None] * (x - theta[:, None])
    small = np.exp(-np.abs(z))
    up, down = (np.where(s * z > 0, 1.0, small) / (1.0 + small) for s in (1.0, -1.0))
    ones, zeros = np.ones((1, len(x))), np.zeros((1, len(x)))
    ups, downs = np.concatenate([ones, up, zeros]), np.concatenate([zeros, down, ones])
    gates = np.where(ups[:-1] < 0.5, ups[:-1] - ups[1:], downs[1:] - downs[:-1])
    lines = np.abs(slope[:, None] * x) + np.abs(intercept[:, None])
    steps = np.abs(np.diff(slope)[:, None] * x) + np.abs(np.diff(intercept)[:, None])
    side, first = (up, 0) if left else (down, -1)
    terms, sizes = (gates * lines).sum(0), lines[first] + (steps * side).sum(0)
    good = (sizes <= _LARGER * terms + _LEAST).all()
    if gradients:
        # u (1 - u) errs by a unit of u.
        bends, most = np.abs(np.diff(slope))[:, None], taus[:, None]
        terms = (gates * np.abs(slope)[:, None]).sum(0) + (most * up * down * (lines[1:] + lines[:-1])).sum(0)
        sizes = np.abs(slope[first]) + ((bends + most * steps) * side).sum(0)
        good &= (sizes <= _LARGER * terms + _LEAST).all()
    return bool(good)

"""Means of an activation without closed form: which rule for which point, kinks and jumps among them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.fast_calibration import Calibration, step_of
from gateproof.numerics.meanfield.fast_chunks import Done
from gateproof.numerics.meanfield.fast_functions import Functions, functions
from gateproof.numerics.meanfield.fast_general import General, NotResolved
from gateproof.numerics.meanfield.fast_hermite import LINE_SIZES
from gateproof.numerics.meanfield.fast_narrow import Narrow, half_square, product
from gateproof.numerics.meanfield.fast_pairs import RANGES, Pairs
from gateproof.numerics.meanfield.fast_smooth import Smooth, line_means
from gateproof.numerics.meanfield.plain_functions import ORDERS

Array = NDArray[np.float64]
#: Value, estimated error, and the size that the error is judged by.
Mean = tuple[Array, Array, Array]
Traced = Callable[[Any], Any]

_EPS = float(np.finfo(np.float64).eps)
#: Where an estimated error is above this part of a mean's size its rule is made finer.
_FINER = 1e-13
#: Where V - C is no smaller than this part of V it is a difference.
_WIDE = 0.05
#: Nodes of a formula that is one function of x.
_ALONE = 2

#: Derivatives and what is made of them, away from kinks.
_BODIES: dict[str, tuple[tuple[int, ...], Callable[..., Any]]] = {
    "mean": ((0,), lambda f: f),
    "variance": ((0,), lambda f: f**2),
    "variance_slope": ((0, 1, 2), lambda f, g, h: g**2 + f * h),
    "slope_energy": ((1,), lambda g: g**2),
    "slope_energy_slope": ((1, 2, 3), lambda g, h, k: h**2 + g * k),
    "curvature_energy": ((2,), lambda h: h**2),
    "third_energy": ((3,), lambda k: k**2),
}


class Numeric:
    """The means of an activation at flat arrays of points, each with its error and size."""

    def __init__(self, phi: Phi) -> None:
        self.phi = phi
        self.own: Functions = functions(phi)
        self.general = General(self.own, repr(phi.text)[:62])
        self.pairs, self.narrow = [Pairs(self.general, k) for k in (0, 1)], Narrow(self.general)
        self.smooth: tuple[Smooth, ...] = ()
        if not self.own.kinks:
            parity = [phi.parity * (-1) ** k for k in range(ORDERS)]
            exprs = (phi.expr, phi.slope, phi.curvature, phi.third)
            self.smooth = tuple(
                Smooth(t, Calibration(p), s, alone=e.size <= _ALONE)
                for t, p, s, e in zip(self.own.traced, self.own.plain, parity, exprs, strict=True)
            )
        self._traced = {name: _composed(self.own.traced, name) for name in _BODIES}

    # --- one variable ----------------------------------------------------------

    def moment(self, name: str, q: Array) -> Mean:
        """A mean over one variable."""
        if self.infinite(name):
            return np.full_like(q, np.inf), np.zeros_like(q), np.ones_like(q)
        value, error, size = self._single(name, q)
        extra = self.at_kinks(name, q, np)
        out = np.array([value + extra, error, size + abs(extra)])
        energy = {"variance_slope": "variance", "slope_energy_slope": "slope_energy"}.get(name)
        far = np.nonzero(q >= 1)[0]
        if energy is not None and len(far):
            # By the heat equation: for large q the derivatives of f^2 cancel, for small q this form does.
            heat = np.array(self._single(energy, q[far], heat=True))
            less = heat[2] < out[2, far]
            out[:, far[less]] = heat[:, less]
        return out[0], out[1] + 2 * _EPS * out[2], out[2]

    def body(self, name: str) -> tuple[Traced, tuple[int, ...]]:
        """The function whose mean it is, away from kinks, and the derivatives in it."""
        return self._traced[name], _BODIES[name][0]

    def infinite(self, name: str) -> bool:
        """Whether the mean of a square has the square of a delta function in it."""
        orders = {"slope_energy": 1, "slope_energy_slope": 1, "curvature_energy": 2, "third_energy": 3}
        return name in orders and self.phi.infinite_energy(orders[name])

    def at_kinks(self, name: str, q: Any, space: Any) -> Any:
        """What jumps of f^2 and of its slope 2 f f' add to d/dq E f^2; ``space`` is numpy or jax.numpy."""
        total = space.zeros_like(q)
        order = {"variance_slope": 0, "slope_energy_slope": 1}.get(name)
        if order is None:
            return total
        for x, sides in zip(self.own.kinks, self.own.sides, strict=True):
            (f_l, f_r), (g_l, g_r) = sides[order], sides[order + 1]
            bell = space.exp(-(x**2) / (2 * q)) / space.sqrt(2 * np.pi * q)
            total = total + bell * (f_r * g_r - f_l * g_l + (f_r**2 - f_l**2) / 2 * x / q)
        return total

    def _single(self, name: str, q: Array, heat: bool = False) -> Mean:
        orders, body = _BODIES[name]
        if self.smooth:
            steps, back = np.unique(step_of(q), return_inverse=True)
            found = [[self.smooth[k].calibration.line_size(int(s))[0] for k in orders] for s in steps]
            sizes = np.array([max(n) if min(n) > 0 else -1 for n in found])[back]
        else:
            sizes = np.full(len(q), -1)
        power = 1 if name == "mean" else 2
        return _split(
            sizes > 0,
            lambda i: self._by_lines(tuple(self.own.traced[k] for k in orders), body, sizes[i], q[i], heat),
            lambda i: self.general.single(name + " slope" * heat, orders, body, q[i], heat=heat, power=power),
        )

    def _by_lines(
        self, parts: tuple[Traced, ...], body: Callable[..., Any], sizes: Any, q: Array, heat: bool
    ) -> Mean:
        """Again with a finer rule where the moved grid saw what the calibration's variance did not show."""
        out = np.array(line_means(parts, body, sizes, q, heat))
        while True:
            again = np.nonzero((out[1] > _FINER * out[2]) & (sizes < LINE_SIZES[-1]))[0]
            if not len(again):
                return out[0], out[1], out[2]
            sizes = sizes.copy()
            sizes[again] *= 2
            out[:, again] = line_means(parts, body, sizes[again], q[again], heat)

    # --- pairs -------------------------------------------------------------------

    def product(self, order: int, q: Array, c: Array, done: Done) -> Mean:
        """E f(u) f(v), f the derivative of an order."""
        sizes, errors = self._sizes(order, q)

        def series(i: Any) -> Mean:
            value = self.smooth[order].apply("total", q[i], c[i], 1 - c[i], sizes[i], done)
            return value, errors[i] * abs(value), abs(value)

        return _split(sizes > 0, series, lambda i: self._panels(order, q[i], c[i], done))

    def lack(self, order: int, q: Array, eps: Array, done: Done) -> Mean:
        """E f(u)^2 - E f(u) f(v) at c = 1 - eps."""
        sizes, errors = self._sizes(order + 1, q)

        def series(i: Any) -> Mean:
            value = self.smooth[order + 1].apply("raised", q[i], 1 - eps[i], eps[i], sizes[i], done)
            return value, errors[i] * abs(value), abs(value)

        return _split(sizes > 0, series, lambda i: self._panel_lack(order, q[i], eps[i], done))

    def _sizes(self, order: int, q: Array) -> tuple[Any, Array]:
        if not self.smooth:
            return np.full(len(q), -1), np.zeros(len(q))
        return self.smooth[order].sizes(q)

    def _square(self, order: int, q: Array) -> Mean:
        return self._single(("variance", "slope_energy")[order], q)

    def _panels(self, order: int, q: Array, c: Array, done: Done) -> Mean:
        """Any activation; c = 1 and c = -1 are means over one variable."""
        out = np.empty((3, len(q)))
        f, size = self.own.plain[order], abs(c)
        here = np.nonzero(c == 1)[0]
        if len(here):
            out[:, here] = self._square(order, q[here])
            done(len(here))
        here = np.nonzero(c == -1)[0]
        if len(here):
            out[:, here] = self.general.single(
                f"opposite {order}", (order,), lambda a, b: a * b, q[here], mirrored=True
            )
            done(len(here))
        here = np.nonzero(size <= RANGES[-1])[0]
        if len(here):
            out[:, here] = self.pairs[order].product(q[here], c[here], done)
        for sign in (1, -1):
            here = np.nonzero((size > RANGES[-1]) & (size < 1) & ((c > 0) == (sign > 0)))[0]
            if len(here):
                out[:, here] = self.narrow.pair(
                    partial(product, f, sign), (order,), sign, q[here], 1 - size[here], done
                )
        return out[0], out[1] + 4 * _EPS * out[2], out[2]

    def _panel_lack(self, order: int, q: Array, eps: Array, done: Done) -> Mean:
        out = np.empty((3, len(q)))
        wide = eps > _WIDE
        here = np.nonzero(wide)[0]
        if len(here):
            top, e1, size = self._square(order, q[here])
            low, e2, _ = self._panels(order, q[here], 1 - eps[here], done)
            out[:, here] = top - low, e1 + e2, size
        here = np.nonzero(~wide & (eps > 0))[0]
        if len(here):
            f, slope, kinks = self.own.plain[order], self.own.plain[order + 1], self.own.kinks
            out[:, here] = self.narrow.pair(
                partial(half_square, f, slope, kinks), (order, order + 1), 1, q[here], eps[here], done
            )
            out[1, here] += 4 * _EPS * out[2, here]
        out[:, eps == 0] = 0.0
        return out[0], out[1], out[2]

    # --- jumps of the activation itself -------------------------------------------------

    def slopes_at_jumps(self, q: Array, c: Array) -> Array:
        """What delta functions in phi' add to E phi'(u) phi'(v); infinite at c = 1 and c = -1."""
        jumps = [
            (x, sides[0][1] - sides[0][0]) for x, sides in zip(self.own.kinks, self.own.sides, strict=True)
        ]
        jumps = [(x, j) for x, j in jumps if j]
        total = np.zeros_like(q)
        inside = abs(c) < 1
        qi, ci = q[inside], c[inside]
        added = np.zeros_like(qi)
        square = (1 - ci) * (1 + ci)
        for x, j in jumps:
            bell = np.exp(-(x**2) / (2 * qi)) / np.sqrt(2 * np.pi * qi)
            added += 2 * j * bell * self.general.given(1, x, qi, ci)
            for y, k in jumps:
                height = (x * x + y * y - 2 * ci * x * y) / (2 * qi * square)
                added += j * k * np.exp(-height) / (2 * np.pi * qi * np.sqrt(square))
        total[inside] = added
        total[c == 1] = np.inf if jumps else 0.0
        total[c == -1] = self._opposite(jumps, q[c == -1])
        return total

    def _opposite(self, jumps: list[tuple[float, float]], q: Array) -> Array:
        """The same at v = -u: infinite where a jump at x meets one at -x."""
        total, met = np.zeros_like(q), np.zeros_like(q)
        for x, j in jumps:
            bell = np.exp(-(x**2) / (2 * q)) / np.sqrt(2 * np.pi * q)
            met += sum(j * k * bell for y, k in jumps if y == -x)
            if -x not in self.own.kinks:
                total += 2 * j * bell * float(self.own.plain[1](np.array([-x]))[0])
        return np.where(met == 0, total, np.copysign(np.inf, met))


def _composed(functions: tuple[Traced, ...], name: str) -> Traced:
    orders, body = _BODIES[name]
    return lambda x: body(*(functions[k](x) for k in orders))


def _split(first: Any, one: Callable[[Any], Mean], other: Callable[[Any], Mean]) -> Mean:
    """By the one way where ``first`` holds and by the other elsewhere."""
    if first.all():
        return one(slice(None))
    if not first.any():
        return other(slice(None))
    out = np.empty((3, len(first)))
    out[:, first], out[:, ~first] = one(first), other(~first)
    return out[0], out[1], out[2]


__all__ = ["Mean", "NotResolved", "Numeric"]

"""The means in float64 by NumPy alone: for machines without JAX, and as a second opinion on `fast`.

One variable: panels that resolve the activation and its derivatives, for all variances between two powers of
4. Two variables: panels of u, and for each u panels of v given u, cut at the same places and at kinks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gateproof.numerics.meanfield.activation import Phi, Target
from gateproof.numerics.meanfield.activation import phi as activation
from gateproof.numerics.meanfield.plain_functions import Plain, nodes_of, plain_functions, resolved

Array = NDArray[np.float64]
Pair = Callable[[Array, Array], Array]
#: Deviations at which means are cut, and panels' widths in deviations.
REACH, PAIRS_REACH, WIDEST = 11.0, 8.6, 1.0
#: Cuts of the normal variable in units of its deviation, and about a kink of u in units of that of v given u.
_BELL = np.array([-9.0, -7.0, -5.5, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.5, 7.0, 9.0])
_LAYER = np.array([-8.0, -4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0, 8.0])
#: The nodes at both ends, and how much of a mean may lie there.
_ENDS, _CUT_OFF = [*range(-16, 16)], 1e-9
#: Values in memory at once.
_BLOCK = 2_000_000


class PlainEngine:
    """Means of one activation as :class:`~.engine.Engine` describes them, for arrays that broadcast.

    float64; relative errors are about 1e-13 for one variable and 1e-11 for two, without an estimate. Two
    variables cost milliseconds a point. NaN stands where most of a mean lies beyond 11 deviations, as for
    exp(x) at a large variance. Raises ValueError outside of q > 0, c in [-1, 1], eps in [0, 2], and
    ArithmeticError for an activation with more features than float64 panels resolve.
    """

    def __init__(self, target: Target | Phi) -> None:
        self.phi = target if isinstance(target, Phi) else activation(target)
        self._plain: Plain = plain_functions(self.phi)
        self._edges: dict[int, Array] = {}

    # --- one variable ---------------------------------------------------------

    def mean(self, q: ArrayLike) -> Any:
        """M = E phi(u)."""
        return self._single(q, lambda f, x: f[0](x))

    def variance(self, q: ArrayLike) -> Any:
        """V = E phi(u)^2."""
        return self._square(0, q)

    def variance_slope(self, q: ArrayLike) -> Any:
        """dV/dq = E phi(u)^2 (u^2 - q)/(2 q^2), for q < 1 in the form that does not cancel there."""
        return self._slope(0, q)

    def slope_energy(self, q: ArrayLike) -> Any:
        """D = E phi'(u)^2; infinite where phi jumps."""
        return self._square(1, q)

    def slope_energy_slope(self, q: ArrayLike) -> Any:
        """dD/dq; infinite where phi jumps."""
        return self._slope(1, q)

    def curvature_energy(self, q: ArrayLike) -> Any:
        """K2 = E phi''(u)^2; infinite where phi' jumps."""
        return self._square(2, q)

    def third_energy(self, q: ArrayLike) -> Any:
        """K3 = E phi'''(u)^2; infinite where phi'' jumps."""
        return self._square(3, q)

    def _square(self, order: int, q: ArrayLike) -> Any:
        if self.phi.infinite_energy(order):
            return np.full(np.shape(q), np.inf)[()]
        return self._single(q, lambda f, x: f[order](x) ** 2)

    def _slope(self, order: int, q: ArrayLike) -> Any:
        if self.phi.infinite_energy(order):
            return np.full(np.shape(q), np.inf)[()]
        far = self._single(q, lambda f, x: f[order](x) ** 2, heat=True)
        if np.all(np.asarray(q) >= 1):
            return far
        # E f'^2 + f f'' and what kinks add.
        body = self._single(q, lambda f, x: f[order + 1](x) ** 2 + f[order](x) * f[order + 2](x))
        v = np.asarray(q, float)
        for x, sides in zip(self._plain.kinks, self._plain.sides, strict=True):
            (f, f_r), (g, g_r) = sides[order], sides[order + 1]
            bell = _bell(x, v)
            body = body + bell * (f_r * g_r - f * g + (f_r**2 - f**2) / 2 * x / v)
        return np.where(v < 1, body, far)[()]

    def _single(self, q: ArrayLike, body: Callable[..., Array], heat: bool = False) -> Any:
        values = _positive(q)
        flat, out = values.ravel(), np.empty(values.size)
        band = np.floor(np.log2(flat) / 2).astype(int)
        for exponent in np.unique(band):
            here = np.nonzero(band == exponent)[0]
            x, weight = nodes_of(self._panels(int(exponent)))
            with np.errstate(all="ignore"):
                f = body(self._plain.functions, x) * weight
                for part in np.array_split(here, max(1, len(x) * len(here) // _BLOCK)):
                    v = flat[part, None]
                    bell = _bell(x, v)
                    if heat:
                        bell *= (x**2 - v) / (2 * v * v)
                    out[part] = bell @ f
                    # What grows like exp(x) has its mass where it is cut.
                    cut = abs(bell[:, _ENDS]) @ abs(f[_ENDS])
                    out[part[cut > _CUT_OFF * (abs(bell) @ abs(f))]] = np.nan
        return out.reshape(values.shape)[()]

    def _panels(self, exponent: int) -> Array:
        """Edges for variances from 4^exponent to 4^(exponent + 1)."""
        if exponent not in self._edges:
            unit = 2.0**exponent
            self._edges[exponent] = resolved(self._plain, 2 * unit * REACH, WIDEST * unit)
        return self._edges[exponent]

    # --- two variables ----------------------------------------------------------

    def correlation(self, q: ArrayLike, c: ArrayLike) -> Any:
        """C = E phi(u) phi(v)."""
        return self._pairs(q, np.asarray(c, float), "c", 0, _product)

    def correlation_slope(self, q: ArrayLike, c: ArrayLike) -> Any:
        """E phi'(u) phi'(v). Raises ArithmeticError where phi jumps."""
        self._must_not_jump()
        return self._pairs(q, np.asarray(c, float), "c", 1, _product)

    def gap(self, q: ArrayLike, eps: ArrayLike) -> Any:
        """V - C at c = 1 - eps, as the mean of (phi(u) - phi(v))^2/2."""
        return self._pairs(q, 1 - np.asarray(eps, float), "eps", 0, _half_square, eps)

    def slope_gap(self, q: ArrayLike, eps: ArrayLike) -> Any:
        """D - E phi'(u) phi'(v) at c = 1 - eps. Raises ArithmeticError where phi jumps."""
        self._must_not_jump()
        return self._pairs(q, 1 - np.asarray(eps, float), "eps", 1, _half_square, eps)

    def _must_not_jump(self) -> None:
        if self.phi.has_jump:
            raise ArithmeticError(
                "phi jumps: means of its slope are not computed by NumPy alone; install jax"
            )

    def _pairs(
        self, q: ArrayLike, c: Array, name: str, order: int, body: Pair, eps: ArrayLike | None = None
    ) -> Any:
        lack = 1 - c if eps is None else np.asarray(eps, float)
        variances, c, lack = np.broadcast_arrays(_positive(q), c, lack)
        if not ((lack >= 0) & (lack <= 2)).all():
            raise ValueError("c in [-1, 1] is expected" if name == "c" else "eps in [0, 2] is expected")
        out = np.empty(variances.size)
        points = zip(variances.ravel(), c.ravel(), lack.ravel(), strict=True)
        for i, (v, corr, e) in enumerate(points):
            out[i] = self._pair(float(v), float(corr), float(e), order, body)
        return out.reshape(variances.shape)[()]

    def _pair(self, q: float, c: float, eps: float, order: int, body: Pair) -> float:
        f = self._plain.functions[order]
        exponent = int(np.floor(np.log2(q) / 2))
        panels = self._panels(exponent)
        # Where panels are cut finer than variances ask for.
        fine = np.diff(panels) < 0.75 * WIDEST * 2.0**exponent
        cuts = np.unique(np.concatenate([panels[:-1][fine], panels[1:][fine], self._plain.kinks]))
        root = float(np.sqrt(q))
        sigma, ends = root * float(np.sqrt(eps * (2 - eps))), PAIRS_REACH * root
        # (u, v) and (-u, -v) give the same for even and odd functions.
        least = 0.0 if self.phi.parity else -ends
        layers = [np.array([least, ends]), panels]
        if sigma < 1e-150:
            layers.append(np.sign(c) * np.array(self._plain.kinks))
        elif c:
            around = [k + sigma * _LAYER for k in self._plain.kinks]
            layers += [*around, *(a / c for a in around)]
        outer = np.concatenate(layers)
        u, weight = nodes_of(np.unique(outer[(outer >= least) & (outer <= ends)]))
        weight = weight * _bell(u, q) * (2 if self.phi.parity else 1)
        with np.errstate(all="ignore"):
            at_u = f(u)
            if sigma < 1e-150:
                return float(np.sum(weight * body(at_u, f(np.sign(c) * u))))
            total = 0.0
            for part in np.array_split(np.arange(len(u)), max(1, 16 * len(u) * (len(cuts) + 17) // _BLOCK)):
                # c u, so that nothing is lost near c = 1.
                centre = (u - eps * u)[part, None]
                total += float(weight[part] @ self._given(f, at_u[part, None], centre, sigma, cuts, body))
        return total

    def _given(self, f: Any, at_u: Array, centre: Array, sigma: float, cuts: Array, body: Pair) -> Array:
        """Means over v for each u, by panels of (v - c u)/sigma."""
        z = np.clip((cuts - centre) / sigma, _BELL[0], _BELL[-1])
        bell = np.broadcast_to(_BELL, (len(centre), len(_BELL)))
        nodes, weight = nodes_of(np.sort(np.concatenate([bell, z], axis=1), axis=1))
        values = body(at_u, f((centre + sigma * nodes).ravel()).reshape(nodes.shape))
        return np.asarray(np.sum(values * weight * np.exp(-(nodes**2) / 2), axis=1) / np.sqrt(2 * np.pi))


def _product(a: Array, b: Array) -> Array:
    return a * b


def _half_square(a: Array, b: Array) -> Array:
    return np.asarray((a - b) ** 2 / 2)


def _bell(x: Any, q: Any) -> Array:
    """The density of N(0, q)."""
    return np.asarray(np.exp(-(x**2) / (2 * q)) / np.sqrt(2 * np.pi * q))


def _positive(q: ArrayLike) -> Array:
    values = np.asarray(q, float)
    if not ((values > 0) & (values < np.inf)).all():
        raise ValueError("q > 0 and finite is expected")
    return values

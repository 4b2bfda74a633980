"""The spaces of closed forms on arrays: NumPy for a few points, JAX for many and under its transforms."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jax_special

from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.meanfield.closed_forms_space import Value
from gateproof.theory.formula.nodes import Expr

#: sin(x) - x cos(x) = sum over k >= 1 of (-1)^(k+1) 2k x^(2k+1)/(2k+1)!; the next term is below 1e-17 at 1.
_LAG = [(-1) ** (k + 1) * 2 * k / math.factorial(2 * k + 1) for k in range(1, 10)]

#: The integral of t^2 exp(-t^2/2) = sum over k >= 0 of (-1)^k x^(2k+3)/(2^k k! (2k+3)).
_SQUARE = [(-1) ** k / (2**k * math.factorial(k) * (2 * k + 3)) for k in range(18)]
#: Halvings towards the two ends. For large variances means of lines have a layer near 0, of an angle as wide
#: as kinks are apart in deviations.
_TOWARDS_0, _TOWARDS_1 = 24, 9


@lru_cache(maxsize=4)
def _graded(order: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on [0, 1]: Gauss-Legendre panels that halve towards both ends."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    found = []
    for halvings in (_TOWARDS_0, _TOWARDS_1):
        ends = [0.0, *(2.0**-k for k in range(halvings, 0, -1))]
        x = np.concatenate([a + (b - a) * (nodes + 1) / 2 for a, b in pairwise(ends)])
        found.append((x, np.concatenate([weights * (b - a) / 2 for a, b in pairwise(ends)])))
    (x, w), (y, v) = found
    return np.concatenate([x, 1 - y[::-1]]), np.concatenate([w, v[::-1]])


class _ArraySpace:
    """Elementwise by a NumPy-like module; ``order``: nodes of a panel in integrals."""

    def __init__(self, module: Any, functions: Any, order: int) -> None:
        self._module, self._order = module, order
        self.pi, self.inf = math.pi, math.inf
        self.sqrt, self.exp, self.expm1, self.log1p = module.sqrt, module.exp, module.expm1, module.log1p
        self.sin, self.cos, self.asin, self.atan2 = module.sin, module.cos, module.arcsin, module.arctan2
        self.erf, self.erfc = functions.erf, functions.erfc

    def number(self, value: Expr) -> Value:
        """The nearest double."""
        return to_float(value)

    def where(self, condition: Value, a: Value, b: Value) -> Value:
        """Elementwise choice."""
        return self._module.where(condition, a, b)

    def sine_lag(self, x: Value) -> Value:
        """By its series below 1."""
        series, square = _LAG[-1], x**2
        for k in reversed(_LAG[:-1]):
            series = series * square + k
        return self.where(x < 1, x * square * series, self.sin(x) - x * self.cos(x))

    def square_lag(self, x: Value) -> Value:
        """By its series below 1.5."""
        series, square = _SQUARE[-1], x**2
        for k in reversed(_SQUARE[:-1]):
            series = series * square + k
        whole = math.sqrt(math.pi / 2) * self.erf(x / math.sqrt(2)) - x * self.exp(-(x**2) / 2)
        return self.where(x < 1.5, x * square * series, whole)

    def integral(self, f: Callable[..., Value], hi: Value, *values: Value) -> Value:
        """Composite Gauss-Legendre with 33 panels, graded towards both ends."""
        nodes, weights = _graded(self._order)
        hi = self._module.asarray(hi)[..., None]
        terms = f(hi * nodes, *(self._module.asarray(v)[..., None] for v in values))
        return hi[..., 0] * (terms @ self._module.asarray(weights))


class JaxSpace(_ArraySpace):
    """Arrays of JAX, of float64 or whatever is handed in; may be traced."""

    def __init__(self, order: int = 14) -> None:
        super().__init__(jnp, jax_special, order)

    def sided(self, c: Value) -> tuple[Value, Value]:
        """By choices: unlike abs and sign at 0 they have the derivatives of what is chosen."""
        right = c >= 0
        return jnp.where(right, 1.0, -1.0), jnp.where(right, c, -c)


class NumpySpace(_ArraySpace):
    """Arrays of float64 in NumPy, without compilation and the microseconds of a call of JAX."""

    def __init__(self, order: int = 14) -> None:
        from scipy import special

        super().__init__(np, special, order)

    def sided(self, c: Value) -> tuple[Value, Value]:
        """By the sign bit."""
        return np.copysign(1.0, c), np.abs(c)

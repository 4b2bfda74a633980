"""Which engine at float speed: JAX's where it is installed and resolves a mean, NumPy's else."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.engine import Engine

#: What is said where JAX is missing.
NO_JAX = (
    "JAX is not installed: means are computed by NumPy, slower by a factor of 10 to 100 for two variables"
    " (pip install jax)"
)
#: Means over one variable, of q; over a pair, of q and c or eps.
MOMENTS = (
    "mean",
    "variance",
    "variance_slope",
    "slope_energy",
    "slope_energy_slope",
    "curvature_energy",
    "third_energy",
)
PAIRED = ("correlation", "correlation_slope", "gap", "slope_gap")


class FloatEngine:
    """Means in float64 by ``fast``, and by NumPy what that one does not resolve, or all of it without JAX.

    ``note`` is empty, or says that JAX is missing.
    """

    def __init__(self, phi: Phi, jax: bool | None = None) -> None:
        self.phi = phi
        self.jax = find_spec("jax") is not None if jax is None else jax
        self.note = "" if self.jax else NO_JAX
        self._fast: Engine[Any] | None = None
        self._plain: Engine[Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name not in MOMENTS and name not in PAIRED:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        def mean(*points: Any) -> Any:
            if self.jax:
                try:
                    return getattr(self.fast, name)(*points)
                except ArithmeticError:
                    pass
            return getattr(self.plain, name)(*points)

        return mean

    @property
    def fast(self) -> Engine[Any]:
        """The engine in JAX."""
        if self._fast is None:
            from gateproof.numerics.meanfield.fast import FastEngine

            self._fast = FastEngine(self.phi)
        return self._fast

    @property
    def plain(self) -> Engine[Any]:
        """The engine in NumPy."""
        if self._plain is None:
            from gateproof.numerics.meanfield.plain import PlainEngine

            self._plain = PlainEngine(self.phi)
        return self._plain


@lru_cache(maxsize=32)
def float_engine(phi: Phi, jax: bool | None = None) -> Any:
    """The engine of an activation at float speed; ``jax`` False leaves JAX out."""
    return FloatEngine(phi, jax)

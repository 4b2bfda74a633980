"""A gate evaluated on NumPy arrays by the steps of the exports, also with changed parameters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from gateproof.numerics.fits.exports.form import Form, form_of
from gateproof.numerics.fits.exports.formats import DOUBLE
from gateproof.numerics.fits.exports.walk import Ops, gates, value
from gateproof.numerics.fits.gates import Array
from gateproof.theory.gate import Gate

_CALLS = {"exp": np.exp, "expm1": np.expm1, "log1p": np.log1p, "abs": np.abs, "max": np.maximum}
_COMPARE = {">": np.greater, ">=": np.greater_equal, "<": np.less, "==": np.equal}


class _Arrays(Ops):
    """NumPy arrays of float64."""

    def number(self, value: float) -> Any:
        return np.float64(value)

    def call(self, name: str, *args: Any) -> Any:
        return _CALLS[name](*args)

    def compare(self, a: Any, op: str, b: Any) -> Any:
        return _COMPARE[op](a, b)

    def select(self, condition: Any, a: Any, b: Any) -> Any:
        return np.where(condition, a, b)

    def clip(self, value: Any, reach: float) -> Any:
        return np.clip(value, -reach, reach)

    def infinite_and_zero(self, x: Any, m: Any) -> Any:
        return np.isinf(x) & (m == 0.0)

    def is_nan(self, x: Any) -> Any:
        return np.isnan(x)


class Evaluated:
    """A gate in double precision; ``form`` has its numbers."""

    def __init__(self, form: Form) -> None:
        self.form = form

    @classmethod
    def of(cls, gate: Gate) -> Evaluated:
        """Raises RefusedExport for numbers outside the range of doubles."""
        return cls(form_of(gate, DOUBLE))

    def __call__(self, x: Array) -> Array:
        """Values at n points; NaN gives NaN, infinities the limits."""
        with np.errstate(over="ignore", under="ignore"):
            return np.broadcast_to(np.asarray(value(_Arrays(self.form), x), dtype=np.float64), x.shape)

    def gates(self, x: Array) -> Array:
        """The K gates at n finite points, shape (K, n)."""
        found = gates(_Arrays(self.form), x, x - self.form.centre)
        return np.array([np.ones_like(x) if g is None else np.broadcast_to(g, x.shape) for g in found])

    def changed(self, key: str, places: Iterable[int], by: float) -> Evaluated:
        """The gate with a number added to tau, theta, slope or intercept at some places, from 0."""
        form = self.form
        values = list(getattr(form, key))
        lines = list(form.intercept)
        for k in places:
            values[k] += by
            lines[k] += by * form.centre
        changes: dict[str, Any] = {key: tuple(values)}
        if key == "slope":
            # About a centre the slope moves the line's value there too.
            changes["intercept"] = tuple(lines)
        # Differences of sigmoids no longer have the constants of the sharpness that they shared.
        return Evaluated(replace(form, **changes, apart=(None,) * len(form.apart)))

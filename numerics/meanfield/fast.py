"""The engine at float speed: means in float64 by JAX, on arrays of any shape, each with an estimated error.

    engine = fast_engine("silu")
    engine.variance([0.5, 1.0]), engine.gap(1.0, 1e-12), engine.estimated("gap", 1.0, 1e-12)
    traced = engine.traced("correlation", q_max=4.0)    # for jit, vmap and grad, where x64 is on

A closed form where there is one, in NumPy for a few points; Hermite series where the activation is analytic
near R; else panels between kinks. The caller's JAX configuration is not changed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gateproof.numerics.meanfield.activation import Phi, Target
from gateproof.numerics.meanfield.activation import phi as activation
from gateproof.numerics.meanfield.closed_forms import Form, closed_form
from gateproof.numerics.meanfield.closed_forms_lines import PiecewiseLinear
from gateproof.numerics.meanfield.closed_forms_waves import Waves
from gateproof.numerics.meanfield.engines import MOMENTS
from gateproof.numerics.meanfield.fast_chunks import elementwise
from gateproof.numerics.meanfield.fast_numeric import Mean, NotResolved, Numeric
from gateproof.numerics.meanfield.fast_points import NAMES, flat_points
from gateproof.numerics.meanfield.fast_space import JaxSpace, NumpySpace
from gateproof.numerics.meanfield.fast_traced import traced

__all__ = ["Estimated", "FastEngine", "NotResolved", "fast_engine"]

Array = NDArray[np.float64]
Progress = Callable[[int, int], None]

_EPS = float(np.finfo(np.float64).eps)
#: Means of squares and products of which derivative; slopes in q are such a mean over q.
_ORDERS = {"variance": 0, "correlation": 0, "variance_slope": 0, "slope_energy": 1, "correlation_slope": 1,
           "slope_energy_slope": 1, "curvature_energy": 2, "third_energy": 3}  # fmt: skip
#: An estimated error that is too large for a closed form, at variances below.
_CANCELS, _LOW = 1e-13, 0.25
_SIZES = (64, 1024, 16384, 262144)
#: So many points are cheaper in NumPy than a call of JAX; fewer where a form integrates.
_FEW, _FEW_INTEGRALS = 4096, 16
#: A mean is refused where its estimated error is above this part of its size.
TOLERANCE = 1e-9


class Estimated(NamedTuple):
    """Values and by how much they may be off by estimate (not a bound), float64 of one shape."""

    value: Array
    error: Array


def fast_engine(
    target: Target | Phi, *, progress: Progress | None = None, tolerance: float = TOLERANCE
) -> FastEngine:
    """The engine of an activation; ``progress`` hears (points finished, points in all) of long grids.

    Raises RefusedActivation for what is no activation.
    """
    return FastEngine(target if isinstance(target, Phi) else activation(target), progress, tolerance)


class FastEngine:
    """Means of one activation, as :class:`~.engine.Engine` describes them, for arrays that broadcast.

    Results are NumPy float64 arrays, or float64 numbers for numbers. C and E phi' phi' are off by a few
    units in the last place of V and D, gaps by a few of their own, wherever no NotResolved is raised. Raises
    ValueError outside of q > 0, c in [-1, 1], eps in [0, 2].
    """

    def __init__(self, phi: Phi, progress: Progress | None = None, tolerance: float = TOLERANCE) -> None:
        self.phi = phi
        self.progress = progress
        self.tolerance = tolerance
        maker = closed_form(phi)
        self.form: Form | None = None if maker is None else maker(JaxSpace())
        self._check: Form | None = None if maker is None else maker(JaxSpace(order=10))
        self._forms_of_few = None if maker is None else (maker(NumpySpace()), maker(NumpySpace(order=10)))
        self._few = _FEW_INTEGRALS if isinstance(self.form, PiecewiseLinear) else _FEW
        self._may_cancel = self.form is not None and _may_cancel(self.form)
        self._closed = lru_cache(maxsize=64)(lambda name, check: jax.jit(self._form_method(name, check)))
        self._numeric: Numeric | None = None

    # --- the means -----------------------------------------------------------

    def mean(self, q: ArrayLike) -> Any:
        """M = E phi(u)."""
        return self._value("mean", q)

    def variance(self, q: ArrayLike) -> Any:
        """V = E phi(u)^2."""
        return self._value("variance", q)

    def variance_slope(self, q: ArrayLike) -> Any:
        """dV/dq."""
        return self._value("variance_slope", q)

    def slope_energy(self, q: ArrayLike) -> Any:
        """D = E phi'(u)^2; infinite where phi jumps."""
        return self._value("slope_energy", q)

    def slope_energy_slope(self, q: ArrayLike) -> Any:
        """dD/dq; infinite where phi jumps."""
        return self._value("slope_energy_slope", q)

    def curvature_energy(self, q: ArrayLike) -> Any:
        """K2 = E phi''(u)^2; infinite where phi' jumps."""
        return self._value("curvature_energy", q)

    def third_energy(self, q: ArrayLike) -> Any:
        """K3 = E phi'''(u)^2; infinite where phi'' jumps."""
        return self._value("third_energy", q)

    def correlation(self, q: ArrayLike, c: ArrayLike) -> Any:
        """C = E phi(u) phi(v)."""
        return self._value("correlation", q, c)

    def correlation_slope(self, q: ArrayLike, c: ArrayLike) -> Any:
        """E phi'(u) phi'(v); at a jump of phi (dC/dc)/q, infinite at c = 1."""
        return self._value("correlation_slope", q, c)

    def gap(self, q: ArrayLike, eps: ArrayLike) -> Any:
        """V - C at c = 1 - eps, accurate for small eps too."""
        return self._value("gap", q, eps)

    def slope_gap(self, q: ArrayLike, eps: ArrayLike) -> Any:
        """D - E phi'(u) phi'(v) at c = 1 - eps, the same; infinite where phi jumps."""
        return self._value("slope_gap", q, eps)

    def estimated(self, name: str, *points: ArrayLike) -> Estimated:
        """A mean by its name, ``estimated("gap", q, eps)``, with its estimated error."""
        shape, flat = flat_points(name, points)
        with jax.enable_x64(True):
            if self.form is None:
                value, error, _ = self._mean(name, flat)
            else:
                value, error, size = self._form_mean(name, flat)
                value, error = self._where_it_cancels(name, flat, (value, error, size))
        return Estimated(value.reshape(shape)[()], error.reshape(shape)[()])

    def traced(self, name: str, q_max: float) -> Callable[..., Any]:
        """A mean as a function of JAX arrays, to be used under jit, vmap and grad for variances to q_max.

        Its quadrature is fixed, by the estimate at q_max. Raises NotResolved where none passes there, and
        TypeError when it is called where x64 is off.
        """
        with jax.enable_x64(True):
            return traced(name, q_max, self.form, None if self.form else self.numeric)

    # --- how -----------------------------------------------------------------

    @property
    def numeric(self) -> Numeric:
        """What works without a closed form; made when it is first asked for."""
        if self._numeric is None:
            self._numeric = Numeric(self.phi)
        return self._numeric

    def _form_method(self, name: str, check: bool) -> Callable[..., Any]:
        form = self._check if check else self.form
        assert form is not None
        method: Callable[..., Any] = getattr(form, name)
        return method

    def _value(self, name: str, *points: ArrayLike) -> Any:
        shape, flat = flat_points(name, points)
        if self.form is not None:
            value = self._form_values(name, flat)
            if self._may_cancel and (low := flat[0] < _LOW).any():
                own = [a[low] for a in flat]
                value = value.copy()
                with jax.enable_x64(True):
                    value[low] = self._where_it_cancels(name, own, self._form_mean(name, own))[0]
        else:
            with jax.enable_x64(True):
                value, error, size = self._mean(name, flat)
                self._judge(name, flat, value, error, size)
        return value if value.shape == shape else value.reshape(shape)[()]

    def _form_values(self, name: str, flat: list[Array], check: bool = False) -> Array:
        count = len(flat[0])
        if count <= self._few:
            assert self._forms_of_few is not None
            with np.errstate(all="ignore"):
                value = getattr(self._forms_of_few[check], name)(*flat)
            if isinstance(value, np.ndarray) and value.shape == (count,):
                return value
            return np.full(count, value)
        compiled = self._closed(name, check)
        with jax.enable_x64(True):
            return elementwise(compiled, flat, _SIZES, self._done(count))[0]

    def _form_mean(self, name: str, flat: list[Array]) -> Mean:
        """The error of a closed form: rounding, and for an integral in it that of the smaller rule.

        With what a line and sines lose that cancel at small q.
        """
        value = self._form_values(name, flat)
        scale = {"correlation": "variance", "correlation_slope": "slope_energy"}.get(name)
        size = abs(value) if scale is None else self._form_values(scale, flat[:1])
        with np.errstate(invalid="ignore"):
            apart = np.nan_to_num(abs(value - self._form_values(name, flat, check=True)))
        if isinstance(self.form, Waves) and name in _ORDERS:
            own = self.form
            for _ in range(_ORDERS[name]):
                own = own.derivative()
            lost = own.odd_size(flat[0])
            lost = lost / flat[0] if name in ("variance_slope", "slope_energy_slope") else lost
            apart = apart + 4 * _EPS * np.where(flat[0] < _LOW, lost, 0.0)
        return value, np.where(np.isfinite(value), apart + 16 * _EPS * size, 0.0), size

    def _where_it_cancels(self, name: str, flat: list[Array], found: Mean) -> tuple[Array, Array]:
        """Values and errors, of panels where they are nearer than a closed form that cancels (x - sin(x))."""
        value, error, size = found[0].copy(), found[1].copy(), found[2]
        if not isinstance(self.form, Waves):
            return value, error
        bad = np.nonzero(~(error <= _CANCELS * size) & (flat[0] < _LOW))[0]
        if len(bad):
            own = [a[bad] for a in flat]
            try:
                other = self._mean(name, own)
            except NotResolved:
                return value, error
            better = other[1] < error[bad]
            value[bad[better]], error[bad[better]] = other[0][better], other[1][better]
        return value, error

    def _mean(self, name: str, flat: list[Array]) -> Mean:
        q = flat[0]
        if name in MOMENTS:
            return self.numeric.moment(name, q)
        done, second = self._done(len(q)), flat[1]
        if name == "correlation":
            return self.numeric.product(0, q, second, done)
        if name == "gap":
            return self.numeric.lack(0, q, second, done)
        if name == "slope_gap":
            if self.phi.has_jump:
                return np.where(second > 0, np.inf, 0.0), np.zeros_like(q), np.ones_like(q)
            return self.numeric.lack(1, q, second, done)
        value, error, size = self.numeric.product(1, q, second, done)
        if self.phi.has_jump:
            value = value + self.numeric.slopes_at_jumps(q, second)
        return value, error, size

    def _done(self, count: int) -> Callable[[int], None]:
        finished, progress = 0, self.progress

        def done(more: int) -> None:
            nonlocal finished
            finished += more
            if progress is not None:
                progress(min(finished, count), count)

        return done

    def _judge(self, name: str, flat: list[Array], value: Array, error: Array, size: Array) -> None:
        bad = ~(error <= self.tolerance * size) & ~np.isinf(value)
        if bad.any():
            i = int(np.argmax(np.where(bad, error / np.where(size > 0, size, 1), 0)))
            where = ", ".join(f"{n} = {a[i]!r:.24}" for n, a in zip(NAMES[name], flat, strict=True))
            raise NotResolved(
                f"{name} of {self.phi.text!r:.60} at {where}: its estimated error {error[i]:.1e} is too large"
            )


def _may_cancel(form: Form) -> bool:
    """Whether the terms of a closed form may cancel at small variances: not where there is one alone."""
    return isinstance(form, Waves) and len(form.terms) + bool(form.level) + bool(form.slope) > 1

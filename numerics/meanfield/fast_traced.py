"""Means as functions that JAX can trace: with one fixed rule, for all variances up to a largest one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gateproof.numerics.meanfield import fast_series as series
from gateproof.numerics.meanfield.closed_forms import Form
from gateproof.numerics.meanfield.engines import PAIRED
from gateproof.numerics.meanfield.fast_calibration import step_of
from gateproof.numerics.meanfield.fast_features import rule as panel
from gateproof.numerics.meanfield.fast_general import NotResolved, Span
from gateproof.numerics.meanfield.fast_hermite import line, table
from gateproof.numerics.meanfield.fast_numeric import Numeric
from gateproof.numerics.meanfield.fast_panels import ROOT, nodes_between

Traced = Callable[..., Any]

#: Panels are refused where their estimated error at the largest variance is above this part of its size.
_TOLERANCE = 1e-9
#: Panels' width in deviations.
_WIDEST = 1.6


def traced(name: str, q_max: float, form: Form | None, numeric: Numeric | None) -> Traced:
    """The function of (q,) or (q, c) or (q, eps), elementwise on arrays that broadcast."""
    if form is not None:
        made: Traced = getattr(form, name)
    else:
        assert numeric is not None
        made = _numeric(name, q_max, numeric)

    def value(*points: Any) -> Any:
        if jnp.result_type(float) != jnp.float64:
            raise TypeError("x64 is off: call it under jax.enable_x64(True), or use the engine's own methods")
        return made(*jnp.broadcast_arrays(*(jnp.asarray(p, jnp.float64) for p in points)))

    return value


def _numeric(name: str, q_max: float, numeric: Numeric) -> Traced:
    step = int(step_of(np.array([q_max]))[0])
    if name in PAIRED:
        if not numeric.smooth:
            raise NotResolved(f"{name} of an activation with kinks is not traced; use the engine's method")
        return _series(name, step, numeric)
    return _moment(name, step, q_max, numeric)


def _series(name: str, step: int, numeric: Numeric) -> Traced:
    order = {"correlation": 0, "correlation_slope": 1, "gap": 1, "slope_gap": 2}[name]
    one = numeric.smooth[order]
    size, _ = one.calibration.table_size(step)
    if size < 0:
        raise NotResolved(f"{name}: no Hermite series resolves variances up to {2.0 ** (step / 2):g}")
    rule = table(size)

    def value(q: Any, second: Any) -> Any:
        x = jnp.sqrt(q)[..., None] * rule.nodes
        right, left = one.traced(x), one.traced(-x)
        parts = ((right + left) / 2 @ rule.even) ** 2, ((right - left) / 2 @ rule.odd) ** 2
        if name in ("correlation", "correlation_slope"):
            return series.total(*parts, second, 1 - second)
        return series.lack(*series.raised(*parts, q), 1 - second, second)

    return value


def _moment(name: str, step: int, q_max: float, numeric: Numeric) -> Traced:
    body, orders = numeric.body(name)
    if numeric.infinite(name):
        return lambda q: jnp.full_like(q, jnp.inf)
    sizes = [numeric.smooth[k].calibration.line_size(step)[0] for k in orders] if numeric.smooth else [-1]
    if min(sizes) > 0:
        rule = line(max(sizes))

        def by_line(q: Any) -> Any:
            x = jnp.sqrt(q)[..., None] * rule.nodes
            return jnp.sum(rule.weights * (body(x) + body(-x)), axis=-1) / 2

        return by_line
    _, error, scale = numeric.moment(name, np.array([q_max]))
    if not error[0] <= _TOLERANCE * scale[0]:
        raise NotResolved(f"{name}: panels are off by {error[0]:.1e} at a variance of {q_max:g}")
    span = Span(2.0 ** ((step - 1) / 4), 2.0 ** (step / 4))
    ends = numeric.general.window(span, orders)
    cuts = numeric.general.cuts(span, ends, orders)
    base = np.linspace(*ends, int(np.ceil((ends[1] - ends[0]) / _WIDEST)) + 1)

    def at(q: Any) -> Any:
        edges = jnp.concatenate([cuts / jnp.sqrt(q), base])
        z, half = nodes_between(jnp.sort(jnp.clip(edges, *ends)))
        values = body(z * jnp.sqrt(q)) * jnp.exp(-(z**2) / 2) / ROOT
        return jnp.sum((values @ panel()[1]) * half)

    def by_panels(q: Any) -> Any:
        flat = jax.vmap(at)(q.reshape(-1)).reshape(q.shape)
        return flat + numeric.at_kinks(name, q, jnp)

    return by_panels

"""Means by Gauss-Legendre panels between kinks: one normal variable, and a pair of them.

For functions with kinks and for variances that are too large for the Hermite series. All functions here are
traced for one point at a time; places to cut at (``cuts``, padded by repetition: a panel of width 0 adds 0)
are arrays. A mean is (value, error, size): its estimated error, from the last Legendre coefficients of each
panel's integrand, and the mean of the integrand's size, which the error is judged by. With coefficients that
fall like rho^-k the last of n is rho^-(n-1), relative to the panel, and the rule is off by rho^-2n.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from gateproof.numerics.meanfield.fast_features import rule
from gateproof.numerics.meanfield.fast_hermite import REACH

Value = Any
Mean = tuple[Value, Value, Value]
Function = Callable[[Value], Value]

_OUTER = (-REACH, -6.5, -4.5, -3.0, -1.5, 0.0, 1.5, 3.0, 4.5, 6.5, REACH)
_INNER = (-8.6, -4.5, -1.6, 1.6, 4.5, 8.6)
#: In deviations of v given u: places around a kink between which the mean over v is smooth in u.
_LAYERS = (-8.0, -4.0, -1.6, 0.0, 1.6, 4.0, 8.0)
_ROOT = 2.5066282746310002


def _nodes(ends: Value) -> tuple[Value, Value]:
    """Nodes (.., panels, n) and half widths (.., panels) of sorted ends (.., panels + 1)."""
    t, _, _ = rule()
    half = (ends[..., 1:] - ends[..., :-1]) / 2
    return ends[..., :-1, None] + half[..., None] * (t + 1), half


def _summed(values: Value, half: Value) -> Mean:
    """The integral of nodal values, over the last two axes."""
    _, weights, last = rule()
    top = jnp.max(jnp.abs(values), axis=-1)
    tail = jnp.max(jnp.abs(values @ last), axis=-1)
    safe = jnp.where(top > 0, top, 1.0)
    error = jnp.where(top > 0, 4 * top * (tail / safe) ** 2, 0.0)
    size = jnp.sum((jnp.abs(values) @ weights) * half, axis=-1)
    return jnp.sum((values @ weights) * half, axis=-1), jnp.sum(error * half, axis=-1), size


def single(f: Function, cuts: Value, q: Value, heat: bool = False) -> Mean:
    """E f(u) for u ~ N(0, q), or its slope in q: the mean with the factor (z^2 - 1)/(2 q)."""
    sigma = jnp.sqrt(q)
    ends = jnp.sort(jnp.clip(jnp.concatenate([cuts / sigma, jnp.asarray(_OUTER)]), -REACH, REACH))
    z, half = _nodes(ends)
    bell = jnp.exp(-(z**2) / 2) / _ROOT
    return _summed(f(z * sigma) * (bell * (z**2 - 1) / (2 * q) if heat else bell), half)


def _given(f: Callable[[Value, Value], Value], u: Value, cuts: Value, wide: Value, eps: Value) -> Mean:
    """E f(u, v - u) over v given u (..,), where v = u - eps u + wide z."""
    offsets = ((cuts - u[..., None]) + eps * u[..., None]) / wide
    base = jnp.broadcast_to(jnp.asarray(_INNER), (*u.shape, len(_INNER)))
    z, half = _nodes(jnp.sort(jnp.clip(jnp.concatenate([offsets, base], -1), _INNER[0], _INNER[-1]), axis=-1))
    step = wide * z - eps * u[..., None, None]
    return _summed(f(u[..., None, None], step) * jnp.exp(-(z**2) / 2) / _ROOT, half)


def pair(
    f: Callable[[Value, Value], Value], outer: Value, inner: Value, centres: Value, q: Value, eps: Value
) -> Mean:
    """E f(u, v - u) at correlation 1 - eps, 0 < eps <= 1.

    ``outer`` and ``inner`` are where f is cut in u and in v; ``centres`` those of v that a mean over v still
    shows in u, in layers of its deviation's width.
    """
    sigma = jnp.sqrt(q)
    wide = sigma * jnp.sqrt(eps * (2 - eps))
    layers = (centres[:, None] + jnp.asarray(_LAYERS) * wide) / jnp.maximum(1 - eps, 1e-3)
    ends = jnp.concatenate([outer / sigma, jnp.ravel(layers) / sigma, jnp.asarray(_OUTER)])
    z, half = _nodes(jnp.sort(jnp.clip(ends, -REACH, REACH)))
    value, error, size = _given(f, z * sigma, inner, wide, eps)
    bell = jnp.exp(-(z**2) / 2) / _ROOT
    total, own, _ = _summed(value * bell, half)
    _, weights, _ = rule()
    inner_error = jnp.sum((error * bell) @ weights * half, axis=-1)
    return total, own + inner_error, jnp.sum((size * bell) @ weights * half, axis=-1)


def given(f: Function, at: float, cuts: Value, q: Value, c: Value, eps: Value) -> Value:
    """E f(v) for u = at, |c| < 1; eps = 1 - c."""
    wide = jnp.sqrt(q * eps * (1 + c))
    return _given(lambda u, step: f(u + step), jnp.asarray(at), cuts, wide, eps)[0]

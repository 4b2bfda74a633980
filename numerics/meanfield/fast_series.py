"""Sums of Hermite coefficients over powers of the correlation, near c = 1 through 1 - c.

Even and odd coefficients stand apart: with x = c^2 a sum of a_n^2 c^n is E(x) + c O(x), and what it lacks
from its value at c = 1 is a sum of positive terms, (1 - x^m) and (1 - c) x^m. Powers are taken in blocks:
x^(B k + j) = x^(B k) x^j and 1 - x^(B k + j) = (1 - x^(B k)) + x^(B k) (1 - x^j). All functions here are
elementwise in the points and may be traced; arrays are float64.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

Array = jax.Array
_BLOCK = 16


def _powers(x_log: Array, count: int, stride: int) -> tuple[Array, Array]:
    """x^(stride k) and 1 - x^(stride k) for k < count, in a new last axis."""
    k = jnp.arange(count) * float(stride)
    t = jnp.where(k == 0, 0.0, k * x_log[..., None])
    return jnp.exp(t), -jnp.expm1(t)


def _blocks(a: Array) -> Array:
    return a.reshape(*a.shape[:-1], -1, _BLOCK)


def _value(a: Array, x_log: Array) -> Array:
    """The sum of a_m x^m."""
    blocks = _blocks(a)
    small, _ = _powers(x_log, _BLOCK, 1)
    large, _ = _powers(x_log, blocks.shape[-2], _BLOCK)
    return jnp.sum(jnp.sum(blocks * small[..., None, :], axis=-1) * large, axis=-1)


def _lack(a: Array, x_log: Array) -> Array:
    """The sum of a_m (1 - x^m)."""
    blocks = _blocks(a)
    _, small = _powers(x_log, _BLOCK, 1)
    large, lost = _powers(x_log, blocks.shape[-2], _BLOCK)
    inner = jnp.sum(blocks * small[..., None, :], axis=-1)
    return jnp.sum(inner * large + jnp.sum(blocks, axis=-1) * lost, axis=-1)


def log_square(c: Array, eps: Array) -> Array:
    """log(c^2) from c = 1 - eps, accurate where |c| is near 1; -oo at 0."""
    return 2 * jnp.log1p(-jnp.where(c < 0, 1 + c, eps))


def total(even: Array, odd: Array, c: Array, eps: Array) -> Array:
    """The sum of a_n^2 c^n from squares of even and odd coefficients (.., N/2); c and eps (..)."""
    x_log = log_square(c, eps)
    return _value(even, x_log) + c * _value(odd, x_log)


def one_parity(a: Array, parity: int, c: Array, eps: Array) -> Array:
    """The same where the even (1) or the odd (-1) ones alone are not 0."""
    value = _value(a, log_square(c, eps))
    return value if parity > 0 else c * value


def lack(even: Array, odd: Array, c: Array, eps: Array) -> Array:
    """The sum of a_n^2 (1 - c^n)."""
    x_log = log_square(c, eps)
    return _lack(even, x_log) + _lack(odd, x_log) + eps * _value(odd, x_log)


def raised(even: Array, odd: Array, q: Array) -> tuple[Array, Array]:
    """From those of f' those of f, a_n^2 = q b_(n-1)^2/n, n >= 1; a_0 is left 0."""
    count = even.shape[-1]
    up = q[..., None] * even / (2 * jnp.arange(count) + 1.0)
    down = q[..., None] * odd / (2 * jnp.arange(count) + 2.0)
    return jnp.concatenate([jnp.zeros_like(down[..., :1]), down[..., :-1]], axis=-1), up

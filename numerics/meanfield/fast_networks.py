"""Random networks of finite width, many seeds at once, by JAX."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.fast_functions import functions

#: Numbers of the weight matrices that are in memory at once.
_AT_ONCE = 8_000_000

Progress = Callable[[int, int], None]


@partial(jax.jit, static_argnums=(0, 1, 2))
def _networks(f: Any, width: int, depth: int, keys: Any, numbers: Any) -> Any:
    """For each key and layer 0 to depth: mean h_1^2, h_2^2, h_1 h_2 and 1 - c."""
    sigma_w, sigma_b, root_q, c, rest = numbers

    def measured(h: Any) -> Any:
        square = jnp.mean(h * h, axis=0)
        # As a difference of unit vectors, so that 1 - c keeps its digits.
        unit = h / jnp.sqrt(square)
        return jnp.stack(
            [square[0], square[1], jnp.mean(h[:, 0] * h[:, 1]), jnp.mean((unit[:, 0] - unit[:, 1]) ** 2) / 2]
        )

    def layer(h: Any, key: Any) -> Any:
        of_weights, of_biases = jax.random.split(key)
        weights = jax.random.normal(of_weights, (width, width), h.dtype)
        biases = jax.random.normal(of_biases, (width, 1), h.dtype)
        after = sigma_w / jnp.sqrt(width).astype(h.dtype) * (weights @ f(h)) + sigma_b * biases
        return after, measured(after)

    def one(key: Any) -> Any:
        first, later = jax.random.split(key)
        z = jax.random.normal(first, (width, 2), root_q.dtype)
        h = root_q * jnp.stack([z[:, 0], c * z[:, 0] + rest * z[:, 1]], axis=1)
        _, seen = jax.lax.scan(layer, h, jax.random.split(later, depth))
        return jnp.concatenate([measured(h)[None], seen])

    return jax.vmap(one)(keys)


def simulate(
    phi: Phi,
    width: int,
    depth: int,
    seeds: int,
    seed: int,
    numbers: tuple[float, float, float, float],
    single: bool = False,
    progress: Progress | None = None,
) -> Any:
    """Means over neurons, (seeds, depth + 1, 4): h_1^2, h_2^2, h_1 h_2, 1 - c, as float64.

    ``numbers`` are sigma_w2, sigma_b2, q_0 and 1 - c_0. Computed in float64, or in float32 with ``single``;
    the caller's JAX configuration stays as it is.
    """
    w2, b2, q, eps = numbers
    root = [np.sqrt(w2), np.sqrt(b2), np.sqrt(q), 1 - eps, np.sqrt(eps * (2 - eps))]
    batch = int(np.clip(_AT_ONCE // width**2, 1, seeds))
    f, found = functions(phi).traced[0], []
    with nullcontext() if single else jax.enable_x64(True):
        dtype = jnp.float32 if single else jnp.float64
        given = tuple(jnp.asarray(x, dtype) for x in root)
        # Each network has a key of its own, whatever the batches are.
        keys = jax.random.split(jax.random.key(seed), seeds)
        for start in range(0, seeds, batch):
            part = keys[start : start + batch]
            missing = batch - len(part)
            if missing:
                part = jnp.concatenate([part, keys[:missing]])
            made = np.asarray(_networks(f, width, depth, part, given), np.float64)
            found.append(made[: batch - missing])
            if progress is not None:
                progress(min(start + batch, seeds), seeds)
    return np.concatenate(found)

"""Initialisers in the style of jax.nn.initializers; JAX is imported when they are asked for."""

from __future__ import annotations

from typing import Any


def initialisers(sigma_w: float, sigma_b: float, in_axis: int = -2, out_axis: int = -1) -> tuple[Any, Any]:
    """(of weights, of biases), each (key, shape, dtype) -> array.

    Weights are normal with variance sigma_w^2/fan_in, not truncated. Raises ModuleNotFoundError, with what to
    install, where JAX is missing.
    """
    try:
        from jax.nn.initializers import normal, variance_scaling, zeros
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("JAX is not installed: pip install jax", name="jax") from error
    weight = variance_scaling(sigma_w**2, "fan_in", "normal", in_axis=in_axis, out_axis=out_axis)
    return weight, normal(sigma_b) if sigma_b else zeros

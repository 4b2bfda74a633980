"""JAX's own means: jit, vmap, grad, jvp, second derivatives."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gateproof.numerics.backends.formula import formula


@pytest.mark.parametrize("text", ["silu(x)", "gelu(x)", "sin(x)/x", "soft_threshold(x)"])
def test_transforms_agree(text: str) -> None:
    f = formula(text)
    with jax.enable_x64(True):
        x = jnp.array([-2.3, -0.4, 0.25, 1.9])
        np.testing.assert_allclose(jax.jit(f.jax)(x), f.jax(x), rtol=1e-14)
        slope = jax.vmap(jax.grad(f.jax))(x)
        np.testing.assert_allclose(jax.jit(jax.vmap(jax.grad(f.jax)))(x), slope, rtol=1e-14)
        _, tangent = jax.jvp(f.jax, (x,), (jnp.ones_like(x),))
        np.testing.assert_allclose(tangent, slope, rtol=1e-15)
        np.testing.assert_allclose(slope, f.gradient().numpy(np.asarray(x)), rtol=1e-14)


def test_second_derivatives() -> None:
    with jax.enable_x64(True):
        second = jax.grad(jax.grad(formula("x**4*tanh(a*x)").jax))(0.7, 1.3)
        x, a, h = 0.7, 1.3, 1e-4
        g = lambda v: v**4 * np.tanh(a * v)  # noqa: E731 - the same function by hand
        assert abs(second - (g(x + h) + g(x - h) - 2 * g(x)) / h**2) < 1e-5
        mixed = jax.grad(jax.grad(formula("x*sigmoid(a*x)").jax, argnums=0), argnums=1)(0.7, 1.3)
        s = 1 / (1 + np.exp(-a * x))
        # d/da (s + a*x*s*(1-s)) = x*s*(1-s)*(2 + a*x*(1 - 2*s))
        assert abs(mixed - x * s * (1 - s) * (2 + a * x * (1 - 2 * s))) < 1e-14


def test_a_gradient_that_is_not_asked_for_is_not_computed() -> None:
    assert jax.grad(formula("x**a").jax)(-2.0, 3.0) == 12.0


def test_inside_a_jitted_loss() -> None:
    f = formula("x*sigmoid(b*x)", b=1).jax

    @jax.jit
    def loss(b: jax.Array, x: jax.Array) -> jax.Array:
        found: jax.Array = f(x, b=b).sum()
        return found

    grad = jax.grad(loss)(jnp.float32(1.0), jnp.array([1.0, 2.0]))
    assert abs(grad - (0.19661193324148185 + 4 * 0.10499358540350652)) < 1e-6

"""Shapes, types and arguments: what goes in decides what comes out, in each array backend."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from array_backends import SLOPES, VALUES

from gateproof.numerics.backends.formula import formula
from gateproof.theory.formula import FormulaError

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize("backend", VALUES)
@pytest.mark.parametrize("text", ["silu(x)", "x*0 + 2", "relu(x)", "sin(x)/x"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shape_and_type_are_kept(backend: str, text: str, shape: tuple[int, ...], dtype: Any) -> None:
    x = np.ones(shape, dtype=dtype)
    found = VALUES[backend](text, x)
    assert (found.shape, found.dtype) == (shape, dtype)
    assert isinstance(found, np.ndarray)


@pytest.mark.parametrize("backend", VALUES)
def test_strided_and_transposed_inputs(backend: str) -> None:
    whole = np.linspace(-3, 3, 24).reshape(4, 6)
    x = whole[::2, ::3]
    for view in (x, x.T):
        np.testing.assert_array_equal(
            VALUES[backend]("silu(x)", view), VALUES[backend]("silu(x)", view.copy())
        )


@pytest.mark.parametrize("backend", VALUES)
@pytest.mark.parametrize(
    "text", ["silu(x)", "relu(x)", "where(x > 0, 1, 0)", "sign(x)", "max(x, 1)", "x*0 + 1", "step(x)"]
)
def test_not_a_number_is_passed_on(backend: str, text: str) -> None:
    assert np.isnan(VALUES[backend](text, np.array([NAN, NAN]))).all()
    assert not np.isnan(VALUES[backend](text, np.array([1.0]))).any()


LIMITS = {
    "silu(x)": (0, INF),
    "gelu(x)": (0, INF),
    "mish(x)": (0, INF),
    "log_sigmoid(x)": (-INF, 0),
    "x*sech(x)": (0, 0),
    "x**2*exp(-x**2)": (0, 0),
    "x*exp(-exp(-x))": (0, INF),
    "x/(1+abs(x))": (-1, 1),
    "x/sqrt(1+x**2)": (-1, 1),
    "x - tanh(x)": (-INF, INF),
    "log(cosh(x)) - abs(x)": (-np.log(2), -np.log(2)),
    "(x + sqrt(x**2+4))/2": (0, INF),
    "exp(x)/(1+exp(x))": (0, 1),
}


@pytest.mark.parametrize("backend", VALUES)
@pytest.mark.parametrize("text", LIMITS)
def test_limits_at_infinity(backend: str, text: str) -> None:
    np.testing.assert_allclose(VALUES[backend](text, np.array([-INF, INF])), LIMITS[text], rtol=1e-15)


@pytest.mark.parametrize("backend", VALUES)
def test_a_sine_has_no_limit(backend: str) -> None:
    assert np.isnan(VALUES[backend]("sin(x)", np.array([INF]))).all()


def test_several_names() -> None:
    f = formula("a*x + b*y")
    assert f.names == ("x", "a", "b", "y")
    assert f.numpy(1.0, 2.0, 3.0, 4.0) == 14
    assert f.numpy(x=1.0, y=4.0, b=3.0, a=2.0) == 14
    assert f.numpy(1.0, y=4.0, b=3.0, a=2.0) == 14
    x = np.arange(3.0)[:, None]
    assert f.numpy(x, 1, 2, np.ones(4)).shape == (3, 4)
    for wrong in (
        lambda: f.numpy(1.0),
        lambda: f.numpy(1, 2, 3, 4, 5),
        lambda: f.numpy(1, 2, 3, x=4),
        lambda: f.numpy(1, c=2),
    ):
        with pytest.raises(TypeError):
            wrong()


def test_parameters_have_defaults() -> None:
    f = formula("where(x > 0, x, a*x)", a="1/4")
    assert f.parameters == {"a": "1/4"}
    x = np.array([-2.0, 2.0])
    assert f.numpy(x).tolist() == [-0.5, 2]
    assert f.numpy(x, a=0.5).tolist() == [-1, 2]
    assert f.numpy(x, 0.5).tolist() == [-1, 2]
    # One tenth, and not the double nearest to it.
    assert formula("a*x", a=0.1).ball(10).contains(1)
    assert formula("a*x", a=Fraction(1, 3)).ball(3).contains(1)
    with pytest.raises(FormulaError, match="'b' is not in the formula"):
        formula("a*x", b=1)
    with pytest.raises(FormulaError, match="not a number"):
        formula("a*x", a="y")


def test_greek_names_are_arguments() -> None:
    f = formula("σ_1·x + τ")
    assert f.names == ("x", "sigma_1", "tau")
    assert f.numpy(1.0, sigma_1=2.0, tau=3.0) == 5


def test_numpy_scalars_integers_and_small_types() -> None:
    import ml_dtypes

    f = formula("silu(x)")
    assert isinstance(f.numpy(1.0), np.float64)
    assert f.numpy([1, 2]).dtype == np.float64
    assert f.numpy(np.array([1, 2])).dtype == np.float64
    assert f.numpy(np.array([True, False])).dtype == np.float64
    assert f.numpy(np.array(1, dtype=np.float32)).shape == ()
    for dtype in (np.float16, ml_dtypes.bfloat16):
        x = np.linspace(-6, 6, 101).astype(dtype)
        want = f.numpy(x.astype(np.float64)).astype(dtype)
        found = f.numpy(x)
        assert found.dtype == dtype
        assert (found == want).all()
    assert formula("a*x").numpy(np.float32(2) * np.ones(2, np.float32), 0.1).dtype == np.float32
    for wrong in (1j, np.array(["x"]), np.array([object()])):
        with pytest.raises(TypeError):
            f.numpy(wrong)


def test_torch_scalars_integers_and_small_types() -> None:
    import torch

    f = formula("silu(x)")
    assert f.torch(torch.tensor([1, 2])).dtype == torch.float32
    assert f.torch(2.0).shape == ()
    x = torch.linspace(-6, 6, 101, dtype=torch.float64)
    for dtype in (torch.float16, torch.bfloat16):
        # The float32 result is within 4 units, so that it rounds as the true one but for near ties.
        found, want = f.torch(x.to(dtype)), f.torch(x.to(dtype).double()).to(dtype)
        assert found.dtype == dtype
        assert (found == want).float().mean() > 0.99
    both = formula("a*x").torch
    assert both(torch.ones(2, dtype=torch.bfloat16), 0.1).dtype == torch.bfloat16
    assert both(torch.ones(2), torch.ones(3, 1, dtype=torch.float64)).dtype == torch.float64
    assert both(torch.ones(2), torch.ones(3, 1)).shape == (3, 2)
    with pytest.raises(TypeError, match="complex"):
        f.torch(torch.ones(1, dtype=torch.complex64))


def test_a_constant_does_not_lower_the_type() -> None:
    """0.1 in float64 is the double nearest to one tenth, not float32's."""
    import torch

    x = torch.tensor([1.0], dtype=torch.float64)
    assert formula("where(x > 0, 0.1, 0.3)").torch(x).item() == 0.1
    assert formula("x*0 + 0.1").torch(x).item() == 0.1


def test_jax_scalars_integers_and_small_types() -> None:
    import jax
    import jax.numpy as jnp

    f = formula("silu(x)")
    assert f.jax(jnp.array([1, 2])).dtype == jnp.float32
    assert f.jax(2.0).shape == ()
    for dtype in (jnp.float16, jnp.bfloat16):
        assert f.jax(jnp.ones(2, dtype)).dtype == dtype
    assert formula("a*x").jax(jnp.ones(2, jnp.bfloat16), 0.1).dtype == jnp.bfloat16
    assert formula("a*x").jax(jnp.ones(2), jnp.ones((3, 1))).shape == (3, 2)
    with jax.enable_x64(True):
        assert f.jax(jnp.array([1, 2])).dtype == jnp.float64
        assert formula("where(x > 0, 0.1, 0.3)").jax(jnp.array([1.0]))[0] == 0.1


@pytest.mark.parametrize(
    "text", ["silu(x)", "gelu(x)", "soft_threshold(x)", "x*tanh(log(1+exp(x)))", "sin(x)/x", "x/(1+abs(x))"]
)
def test_the_backends_agree(text: str) -> None:
    x = np.concatenate([np.linspace(-30, 30, 241), [1e-9, -1e-9, 300.0, -300.0]])
    for run in (VALUES, SLOPES):
        first = run["numpy"](text, x)
        for other in ("torch", "jax"):
            np.testing.assert_allclose(run[other](text, x), first, rtol=1e-14, atol=1e-300)


def test_a_gradient_is_a_formula() -> None:
    f = formula("a*tanh(x)").gradient("x")
    assert f.names == ("x", "a")
    assert f.text == "diff(a*tanh(x), x)"
    np.testing.assert_allclose(f.numpy(0.5, 2.0), 2 / np.cosh(0.5) ** 2, rtol=1e-15)
    assert formula("a*x**2").gradient("a").numpy(3.0, 1.0) == 9
    assert formula("relu(x)").gradient().ball(0) == 0
    by_default = formula("x**2*a**2", a="1/3").gradient("a")
    assert abs(by_default.numpy(3.0) - 6) < 1e-14
    assert by_default.ball(3).contains(6)
    assert formula("x**3").gradient().gradient().numpy(2.0) == 12
    with pytest.raises(FormulaError):
        f.gradient("z")


def test_derivatives_and_finite_sums_are_worked_out() -> None:
    assert formula("diff(x**3, x)").numpy(2.0) == 12
    assert formula("at(diff(x**3, x, 2), x=y)").numpy(2.0) == 12
    assert formula("diff(relu(x), x)").numpy(np.array([-1.0, 0, 1])).tolist() == [0, 0, 1]
    assert formula("sum(x**k, k in 1..3)").numpy(2.0) == 14
    assert formula("prod(x + k, k in 0..2)").numpy(2.0) == 24
    assert formula("taylor(exp(x), x, 0, 2)").numpy(2.0) == 5
    assert formula("limit(sin(t)/t, t, 0)*x").numpy(3.0) == 3
    assert formula("where(x in [0, 1), 1, 0)").numpy(np.array([-1.0, 0, 0.5, 1])).tolist() == [0, 1, 1, 0]
    gate = formula("tg(x, tau=[t, 2*t], theta=[-1, 1], slope=[0, 1, 0], intercept=[-1, 0, 1])")
    assert gate.names == ("x", "t")
    assert abs(gate.numpy(0.0, 50.0)) < 1e-20


def test_holes_in_formulas_of_several_names() -> None:
    f = formula("a*sin(x)/x + b*(x - tanh(x))", b=3)
    x = np.array([0.0, 1e-5])
    np.testing.assert_allclose(f.numpy(x, 2.0), [2, 2 - 1e-10 / 3 + 1e-15], rtol=1e-15)
    np.testing.assert_allclose(f.gradient("x").numpy(x, a=0.0), [0, 3e-10], rtol=1e-9)
    np.testing.assert_allclose(f.gradient("b").numpy(x, a=0.0), [0, 1e-15 / 3], rtol=1e-9)
    np.testing.assert_allclose(f.gradient("a").numpy(x, 1.0, 1.0), [1, 1], rtol=1e-10)


@pytest.mark.parametrize("backend", ["numpy", "torch", "mp"])
def test_formulas_and_their_functions_can_be_pickled(backend: str) -> None:
    f = formula("a*tanh(x)", a="1/3")
    for whole in (f, f.gradient("x")):
        again = pickle.loads(pickle.dumps(whole))  # noqa: S301 - our own bytes
        call = pickle.loads(pickle.dumps(getattr(whole, backend)))  # noqa: S301 - our own bytes
        assert again.text == whole.text
        assert call(0.5) == getattr(again, backend)(0.5) == getattr(whole, backend)(0.5)

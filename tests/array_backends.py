"""The three array backends behind one face: values, and derivatives by each library's own means."""

from __future__ import annotations

from typing import Any

import numpy as np

from gateproof.numerics.backends.formula import Formula, formula


def _formula(f: str | Formula) -> Formula:
    return formula(f) if isinstance(f, str) else f


def numpy_values(f: str | Formula, x: Any) -> Any:
    return _formula(f).numpy(x)


def numpy_slopes(f: str | Formula, x: Any) -> Any:
    return _formula(f).gradient().numpy(x)


def torch_values(f: str | Formula, x: Any) -> Any:
    import torch

    return _formula(f).torch(torch.tensor(x)).numpy()


def torch_slopes(f: str | Formula, x: Any) -> Any:
    import torch

    t = torch.tensor(x, requires_grad=True)
    _formula(f).torch(t).sum().backward()
    assert t.grad is not None
    return t.grad.numpy()


def jax_values(f: str | Formula, x: Any) -> Any:
    import jax

    with jax.enable_x64(x.dtype == np.float64):
        return np.asarray(_formula(f).jax(jax.numpy.asarray(x)))


def jax_slopes(f: str | Formula, x: Any) -> Any:
    import jax

    with jax.enable_x64(x.dtype == np.float64):
        return np.asarray(jax.vmap(jax.grad(_formula(f).jax))(jax.numpy.asarray(x)))


VALUES = {"numpy": numpy_values, "torch": torch_values, "jax": jax_values}
SLOPES = {"numpy": numpy_slopes, "torch": torch_slopes, "jax": jax_slopes}


def kernel_values(f: str | Formula, x: Any) -> Any:
    import torch

    from gateproof.kernels.formula_kernel import compile_kernel

    return compile_kernel(f if isinstance(f, str) else f.text)(torch.tensor(x)).numpy()


def kernel_slopes(f: str | Formula, x: Any) -> Any:
    import torch

    from gateproof.kernels.formula_kernel import compile_kernel

    t = torch.tensor(x, requires_grad=True)
    return torch.autograd.grad(compile_kernel(f if isinstance(f, str) else f.text)(t).sum(), t)[0].numpy()


#: With the fused operations that are made from a formula.
ALL_VALUES = {**VALUES, "kernel": kernel_values}
ALL_SLOPES = {**SLOPES, "kernel": kernel_slopes}

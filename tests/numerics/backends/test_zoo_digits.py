"""Values and gradients of the whole zoo against mpmath, in units in the last place.

Allowed is ``UNITS`` units of the right value, and what a change of the input by two units makes, since a
value that is sensitive to its input depends on how its parts round. Under the smallest normal number results
may be flushed to 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from known_zoo import ZOO

from gateproof.numerics.backends.formula import formula
from gateproof.theory.activations import zoo

#: Measured: 6 at most (mish and resech gradients), most below 3.
UNITS = 8
#: Sums that cancel where no rule helps (1 + sin(2x) at 3*pi/4): units of their largest term.
OF_TERMS = {("snake(x)", 1): 4.0}
TEXTS = sorted({*ZOO, *(f"{name}(x)" for name in zoo())})
DTYPES = [np.float32, np.float64]


def inputs(dtype: Any) -> np.ndarray[Any, Any]:
    sizes = [
        1e-30,
        3.1e-12,
        2.7e-7,
        1.3e-3,
        0.11,
        0.37,
        0.62,
        0.93,
        1.21,
        1.77,
        2.4,
        3.3,
        5.1,
        7.9,
        10.3,
        14.7,
        21.0,
    ]
    sizes += [33.0, 52.0, 87.0, 104.0, 420.0, 5.1e3, 7.7e5]
    return np.array([s * d for s in sizes for d in (1, -1)]).astype(dtype)


def exact(text: str) -> Callable[[Any], Any]:
    """The function by mpmath: written by hand in the known zoo, else by evaluating the formula in mpmath."""
    if text in ZOO:
        return ZOO[text].value
    return formula(text).mp


def by_numpy(text: str, x: Any, order: int) -> Any:
    f = formula(text)
    return (f.gradient() if order else f).numpy(x)


def by_torch(text: str, x: Any, order: int) -> Any:
    import torch

    t = torch.tensor(x, requires_grad=bool(order))
    y = formula(text).torch(t)
    if not order:
        return y.numpy()
    y.sum().backward()
    return t.grad.numpy()


def by_jax(text: str, x: Any, order: int) -> Any:
    import jax

    f = formula(text).jax
    with jax.enable_x64(x.dtype == np.float64):
        a = jax.numpy.asarray(x)
        return np.asarray(jax.vmap(jax.grad(f))(a) if order else f(a))


def right(f: Callable[[Any], Any], x: float, order: int) -> Any:
    """The value or a derivative by central differences, in 500 digits."""
    with mp.workdps(500):
        at = mp.mpf(x)
        h = mp.mpf(10) ** -100 * max(abs(at), mp.mpf(10) ** -12)
        if order == 0:
            return f(at)
        if order == 1:
            return (f(at + h) - f(at - h)) / (2 * h)
        return (f(at + h) + f(at - h) - 2 * f(at)) / h**2


@pytest.mark.parametrize("text", TEXTS)
def test_values_and_gradients(text: str) -> None:
    f = exact(text)
    for dtype in DTYPES:
        xs = inputs(dtype)
        with mp.workdps(500):
            truths = [[right(f, float(x), k) for k in range(3)] for x in xs]
        info = np.finfo(dtype)
        for order in (0, 1):
            for run in (by_numpy, by_torch, by_jax):
                got = run(text, xs, order)
                assert got.dtype == dtype
                for x, y, truth in zip(xs, got, truths, strict=True):
                    want, slope = truth[order], truth[order + 1]
                    size = abs(float(x))
                    unit = float(np.spacing(np.abs(dtype(float(want)))))
                    allowed = UNITS * unit + 2 * float(info.eps) * size * abs(float(slope))
                    allowed += 4 * float(info.tiny) * (1 + size + size**2)
                    allowed += OF_TERMS.get((text, order), 0.0) * float(info.eps)
                    error = abs(float(mp.mpf(float(y)) - want))
                    assert error <= allowed, (run.__name__, dtype.__name__, order, float(x), float(y), want)


def test_a_naive_form_would_fail() -> None:
    """The check sees a lost tail: gelu as 1 + erf in double precision."""
    from math import erf, sqrt

    x = -8.0
    naive = x * (1 + erf(x / sqrt(2))) / 2
    want = right(ZOO["gelu(x)"].value, x, 0)
    assert abs(naive - float(want)) > 1e-9 * abs(float(want))
    assert abs(float(by_numpy("gelu(x)", np.float64(x), 0)) - float(want)) < 1e-14 * abs(float(want))

"""N04: AiDotNet.Tensors#355, micrograd#29: 1/cosh has NaN gradients far out."""

from __future__ import annotations

import numpy as np
import pytest
from array_backends import ALL_SLOPES as SLOPES
from array_backends import ALL_VALUES as VALUES

TEXTS = ["tanh(x)*sech(x)", "tanh(x)/cosh(x)", "sinh(x)/cosh(x)**2", "memglu(x)"]
X = [0.5, 1, 5, 20, 88, 90, 100]
VALUE = """0.40981422166474499 0.49355434756457308 0.013474058723118535 4.1223072448771156e-9
1.2109203790802372e-38 1.6388025247981031e-39 7.4401519520416719e-44"""
SLOPE = """0.50805451772920299 -0.10372193983959311 -0.013470388450737309 -4.1223072448771155e-9
-1.2109203790802372e-38 -1.6388025247981031e-39 -7.4401519520416719e-44"""


@pytest.mark.parametrize("backend", VALUES)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(("dtype", "close"), [(np.float32, 1e-6), (np.float64, 3e-15)])
def test_values_and_gradients(backend, text, dtype, close):
    x = np.array(X, dtype=dtype)
    # exp(-88) is below the smallest normal number and may be flushed to 0.
    tiny = 2 * float(np.finfo(dtype).tiny)
    for table, run in ((VALUE, VALUES), (SLOPE, SLOPES)):
        right = [float(v) for v in table.split()]
        np.testing.assert_allclose(run[backend](text, x), right, rtol=close, atol=tiny)


@pytest.mark.parametrize("backend", VALUES)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_far_out_it_is_0_and_so_is_the_gradient(backend, text, dtype):
    x = np.array([800, -800, 1e30, np.inf, -np.inf], dtype=dtype)
    for run in (VALUES, SLOPES):
        found = run[backend](text, x)
        assert np.abs(found).max() < 1e-37
    assert np.isnan(VALUES[backend](text, np.array([np.nan], dtype=dtype))).all()


@pytest.mark.parametrize("backend", VALUES)
def test_the_peak(backend):
    peak = np.array([0.88137358701954302523260932498])
    np.testing.assert_allclose(VALUES[backend](TEXTS[0], peak), [0.5], rtol=4e-16)
    assert abs(SLOPES[backend](TEXTS[0], peak)[0]) < 3e-16

"""N01: pytorch#187806: exact GELU as x*(1 + erf(x/sqrt 2))/2 dies in the negative tail."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from array_backends import ALL_SLOPES as SLOPES
from array_backends import ALL_VALUES as VALUES

import gateproof

TEXTS = ["x*(1+erf(x/sqrt(2)))/2", "gelu(x)", "0.5*x*(1 + erf(x/2**0.5))", "x/2 + x*erf(x*sqrt(1/2))/2"]
RIGHT = {
    -5: "-0.000001433257859395969558368762",
    -6: "-5.919525870226188844205185e-9",
    -8: "-4.976768459417427298812796e-15",
    -10: "-7.619853024160526065973343e-23",
    -14: "-1.091095154686992035610355e-43",
}


@pytest.mark.parametrize("backend", VALUES)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(("dtype", "close"), [(np.float32, 1e-6), (np.float64, 1e-14)])
def test_the_left_tail(backend, text, dtype, close):
    x = np.array(list(RIGHT), dtype=dtype)
    found = VALUES[backend](text, x)
    for at, y in zip(x, found, strict=True):
        right = float(RIGHT[int(at)])
        # Below the smallest normal number a result may be flushed to 0.
        assert abs(float(y) - right) <= close * abs(right) + np.finfo(dtype).tiny


@pytest.mark.parametrize("backend", SLOPES)
def test_its_gradient(backend):
    x = np.array([-5.0, -10.0, -20.0])
    with mp.workdps(60):
        right = [mp.ncdf(v) + mp.mpf(v) * mp.npdf(v) for v in x]
    np.testing.assert_allclose(SLOPES[backend](TEXTS[0], x), [float(r) for r in right], rtol=2e-14)


def test_thirty_digits_in_mpmath():
    with mp.workdps(30):
        for text in TEXTS:
            for at, right in RIGHT.items():
                error = abs(gateproof.formula(text).mp(at) - mp.mpf(right))
                assert error <= abs(mp.mpf(right)) * mp.mpf(10) ** -23

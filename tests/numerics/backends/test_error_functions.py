"""The polynomials of the error functions, and the functions in float64, against mpmath."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from gateproof.numerics.backends import error_functions as ours
from gateproof.numerics.backends.error_tables import ERF, SCALED, SPLIT
from gateproof.numerics.backends.with_numpy import NumpyOps


def scaled(t: mp.mpf) -> mp.mpf:
    a = 4 * (1 + t) / (1 - t)
    return mp.exp(a * a) * mp.erfc(a) * (1 + 2 * a)


@pytest.mark.parametrize("short", [True, False])
def test_the_polynomials_are_near_their_functions(short: bool) -> None:
    bound = mp.mpf(2) ** (-25 if short else -54)
    with mp.workdps(50):
        for k in range(60):
            t = mp.mpf(2 * k - 59) / 60
            value = mp.polyval(list(reversed(SCALED[short])), t)
            assert abs(value / scaled(t) - 1) < bound
            u = mp.mpf(SPLIT) * (k + 1) / 60
            value = mp.polyval(list(reversed(ERF[short])), u * u)
            assert abs(value * u / mp.erf(u) - 1) < bound


RIGHT = {
    "erf": mp.erf,
    "erfc": mp.erfc,
    "ncdf": mp.ncdf,
}


@pytest.mark.parametrize("name", RIGHT)
def test_digits_and_tails(name: str) -> None:
    x = np.concatenate([np.linspace(-37.5, 37.5, 1501), np.linspace(-1.2, 1.2, 401), [1e-300, -1e-10]])
    with np.errstate(all="ignore"):
        found = getattr(ours, name)(NumpyOps(), x)
    with mp.workdps(60):
        for at, y in zip(x, found, strict=True):
            right = RIGHT[name](mp.mpf(at))
            unit = np.spacing(abs(float(right)))
            # The input of ncdf's scaled part is rounded once; its condition there is at most 1.
            assert abs(y - right) <= 4 * unit, (name, at)


@pytest.mark.parametrize("c", [-1.0, -0.5, -1 / 3, -0.8515, 0.25, -2.0, -1e6, -3e12, -1e-6, 7e-11])
def test_exponentials_of_squares(c: float) -> None:
    x = np.linspace(-26, 26, 521) * (1 if 0.25 <= abs(c) <= 1 else abs(c) ** -0.5)
    with np.errstate(all="ignore"):
        found = ours.expsq(NumpyOps(), x, c)
    with mp.workdps(60):
        for at, y in zip(x, found, strict=True):
            right = mp.exp(mp.mpf(c) * mp.mpf(at) ** 2)
            assert abs(y - right) <= 3 * np.spacing(float(right))


def test_ends() -> None:
    x = np.array([np.inf, -np.inf, np.nan, 1e300, -1e300])
    with np.errstate(all="ignore"):
        ops = NumpyOps()
        np.testing.assert_array_equal(ours.erf(ops, x), [1, -1, np.nan, 1, -1])
        np.testing.assert_array_equal(ours.erfc(ops, x), [0, 2, np.nan, 0, 2])
        np.testing.assert_array_equal(ours.ncdf(ops, x), [1, 0, np.nan, 1, 0])
        np.testing.assert_array_equal(ours.expsq(ops, x, -1.0), [0, 0, np.nan, 0, 0])
        np.testing.assert_array_equal(ours.expsq(ops, np.array([0.1, 6.0, 1e3]), -1e6), [0, 0, 0])

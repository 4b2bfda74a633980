"""Piecewise linear closed forms at tiny and large variances, where their parts cancel, against quadrature."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from gateproof.numerics.meanfield.activation import phi
from gateproof.numerics.meanfield.closed_forms import closed_form
from gateproof.numerics.meanfield.closed_forms_pieces import pieces
from gateproof.numerics.meanfield.closed_forms_space import MpSpace

#: Text; kinks; phi by hand.
LINES = {
    "hardtanh": ((-1, 1), lambda x: max(-1, min(1, x))),
    "relu6": ((0, 6), lambda x: max(0, min(6, x))),
    "hardsigmoid": ((-3, 3), lambda x: max(mp.mpf(0), min(mp.mpf(1), (x + 3) / 6))),
    "soft_threshold": ((-0.5, 0.5), lambda x: mp.sign(x) * max(abs(x) - mp.mpf("0.5"), 0)),
    "abs(x - 1) + x/2": ((1,), lambda x: abs(x - 1) + x / 2),
    "where(x < 2, x, 4 - x)": ((2,), lambda x: x if x < 2 else 4 - x),
}
VARIANCES = (1e-8, 1e-3, 0.7, 40.0, 1e6, 1e12)


def energy_and_slope(f, kinks, q):
    """E f^2 and E f^2 (z^2 - 1)/(2 q), by mpmath between kinks, in deviations."""
    root = mp.sqrt(q)
    inner = [k / root for k in kinks if abs(k) < 25 * root]
    ends = sorted({*map(mp.mpf, (-25, -12, -6, -3, -1, 0, 1, 3, 6, 12, 25)), *inner})
    bell = lambda z: mp.npdf(z) * f(root * z) ** 2  # noqa: E731
    return mp.quad(bell, ends), mp.quad(lambda z: bell(z) * (z * z - 1), ends) / (2 * q)


@pytest.mark.parametrize("text", LINES)
def test_energies_of_lines_in_float64(text):
    engine = pytest.importorskip("gateproof.numerics.meanfield.fast").fast_engine(text)
    assert engine.form is not None
    kinks, f = LINES[text]
    for q in VARIANCES:
        with mp.workdps(40):
            energy, slope = energy_and_slope(f, kinks, mp.mpf(q))
        if energy < 1e-200:
            assert engine.variance(q) < 1e-190
            continue
        assert engine.variance(q) == pytest.approx(float(energy), rel=2e-15 if energy > 1e-20 else 1e-12)
        assert engine.variance_slope(q) == pytest.approx(float(slope), rel=4e-15 if energy > 1e-20 else 1e-11)


def test_forms_in_mpmath_keep_their_digits_far_out():
    maker = closed_form(phi("hardtanh"))
    assert maker is not None
    with mp.workdps(30):
        q = mp.mpf(10) ** 12
        form = maker(MpSpace())
        with mp.workdps(50):
            # Z = 1/sqrt(q): V = 1 - erf(Z/sqrt 2) + q (erf(Z/sqrt 2) - 2 Z p(Z)).
            z = 1 / mp.sqrt(q)
            inside = mp.erf(z / mp.sqrt(2)) - 2 * z * mp.npdf(z)
            energy, slope = 1 - mp.erf(z / mp.sqrt(2)) + q * inside, inside
        assert abs(form.variance(q) / energy - 1) < 1e-28
        assert abs(form.variance_slope(q) / slope - 1) < 1e-28


def test_correlations_and_gaps_of_hardtanh_far_out():
    """In float64 against the same mean with 30 digits, and that one against the limit of a sign."""
    engine = pytest.importorskip("gateproof.numerics.meanfield.fast").fast_engine("hardtanh")
    maker = closed_form(phi("hardtanh"))
    assert maker is not None
    with mp.workdps(25):
        form, q = maker(MpSpace()), 1e8
        for c in (0.3, -0.7, 0.999):
            right, lack = form.correlation(mp.mpf(q), mp.mpf(c)), form.gap(mp.mpf(q), 1 - mp.mpf(c))
            assert abs(right - 2 / mp.pi * mp.asin(c)) < 1e-3
            assert engine.correlation(q, c) == pytest.approx(float(right), rel=2e-15)
            assert engine.gap(q, 1 - np.float64(c)) == pytest.approx(float(lack), rel=2e-12)


def test_pieces_by_hand():
    """max(0, min(6, x)): 0 to 6 and beyond on the right, 0 on the left; at a kink the next line begins."""
    found = pieces(mp.mpf(0), mp.mpf(0), ((mp.mpf(0), mp.mpf(1)), (mp.mpf(6), mp.mpf(-1))))
    assert found == [(0, 6, 0, 1), (6, None, 6, 0), (0, None, 0, 0)]

"""The means by NumPy alone, against closed forms and quadrature of mpmath."""

from __future__ import annotations

from math import asin, pi, sqrt

import mpmath
import numpy as np
import pytest

from gateproof.numerics.meanfield.activation import phi
from gateproof.numerics.meanfield.engines import NO_JAX, FloatEngine
from gateproof.numerics.meanfield.plain import PlainEngine

# E tanh(u)^2 and E sech(u)^4 to 22 digits, by mpmath at 30 digits.
TANH = {0.5: ("0.2736763079367389090183", "0.5924257933717963939799"),
        1.0: ("0.3942944903978411744165", "0.464402902448268241972"),
        4.0: ("0.6352612342569399248564", "0.2559504432252089123862")}  # fmt: skip


@pytest.mark.parametrize("q", TANH)
def test_tanh_has_its_reference_values(q):
    engine = PlainEngine("tanh")
    assert engine.variance(q) == pytest.approx(float(TANH[q][0]), rel=1e-14)
    assert engine.slope_energy(q) == pytest.approx(float(TANH[q][1]), rel=1e-14)


@pytest.mark.parametrize("q", [1e-5, 0.3, 1.0, 7.0, 1e5])
def test_erf_has_its_closed_forms(q):
    engine = PlainEngine("erf")
    c = np.array([0.9, 0.2, -0.7])
    ratio = 2 * q / (1 + 2 * q)
    assert engine.variance(q) == pytest.approx(2 / pi * asin(ratio), rel=1e-13)
    assert engine.slope_energy(q) == pytest.approx(4 / pi / sqrt(1 + 4 * q), rel=1e-13)
    assert engine.correlation(q, c) == pytest.approx(2 / pi * np.arcsin(ratio * c), rel=1e-11)
    # d/dq asin(r) = r'/sqrt(1 - r^2)
    slope = 2 / (1 + 2 * q) ** 2 / sqrt(1 - ratio**2)
    assert engine.variance_slope(q) == pytest.approx(2 / pi * slope, rel=1e-10)


@pytest.mark.parametrize("q", [1e-3, 2.0, 40.0])
def test_relu_has_its_closed_forms_near_one_too(q):
    engine = PlainEngine("relu")
    for eps in (1.9, 1.0, 0.1, 1e-4, 1e-9):
        theta = 2 * mpmath.asin(mpmath.sqrt(mpmath.mpf(eps) / 2))
        with mpmath.workdps(40):
            right = q / 2 - q * (mpmath.sin(theta) + (mpmath.pi - theta) * mpmath.cos(theta)) / (
                2 * mpmath.pi
            )
            slope = theta / (2 * mpmath.pi)
        assert engine.gap(q, eps) == pytest.approx(float(right), rel=3e-9 if eps < 1e-6 else 1e-11)
        assert engine.slope_gap(q, eps) == pytest.approx(float(slope), rel=1e-9)
    assert engine.slope_energy(q) == pytest.approx(0.5, rel=1e-14)
    assert engine.variance_slope(q) == pytest.approx(0.5, rel=1e-13)
    assert engine.curvature_energy(q) == np.inf


def test_sin_has_its_closed_forms():
    engine, q, c = PlainEngine("sin"), np.array([0.1, 1.0, 30.0]), 0.4
    assert engine.variance(q) == pytest.approx((1 - np.exp(-2 * q)) / 2, rel=1e-13)
    assert engine.curvature_energy(q) == pytest.approx((1 - np.exp(-2 * q)) / 2, rel=1e-13)
    assert engine.correlation(q[:2], c) == pytest.approx(np.exp(-q[:2]) * np.sinh(q[:2] * c), rel=1e-11)


def test_a_jump_has_no_slopes():
    engine = PlainEngine("where(x > 1, 1, 0)")
    assert engine.slope_energy(1.0) == np.inf
    assert engine.variance(1.0) == pytest.approx(float(mpmath.ncdf(-1)), rel=1e-13)
    with pytest.raises(ArithmeticError, match="jump"):
        engine.slope_gap(1.0, 0.5)


def test_narrow_features_are_resolved():
    # V = 2/pi asin(2 b^2 q/(1 + 2 b^2 q)) for erf(b x).
    engine = PlainEngine("erf(200*x)")
    ratio = 2 * 200**2 / (1 + 2 * 200**2)
    assert engine.variance(1.0) == pytest.approx(2 / pi * asin(ratio), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("variance", (0.0,)),
        ("variance", (-1.0,)),
        ("variance", (np.inf,)),
        ("gap", (1.0, 2.1)),
        ("correlation", (1.0, 1.1)),
    ],
)
def test_points_outside_are_refused(name, points):
    with pytest.raises(ValueError, match="expected"):
        getattr(PlainEngine("tanh"), name)(*points)


def test_without_jax_numpy_serves_and_says_so():
    engine = FloatEngine(phi("tanh"), jax=False)
    assert engine.note == NO_JAX
    assert engine.variance(1.0) == pytest.approx(float(TANH[1.0][0]), rel=1e-14)
    assert engine.gap(1.0, 0.5) == pytest.approx(FloatEngine(phi("tanh"), jax=True).gap(1.0, 0.5), rel=1e-11)
    with pytest.raises(AttributeError):
        _ = engine.variances


def test_what_fast_does_not_resolve_numpy_does():
    class Never:
        def variance(self, q):
            assert q
            raise ArithmeticError("not resolved")

    engine = FloatEngine(phi("exp(-x**2)"), jax=True)
    engine._fast = Never()
    assert engine.variance(2.0) == pytest.approx(1 / sqrt(1 + 8), rel=1e-13)

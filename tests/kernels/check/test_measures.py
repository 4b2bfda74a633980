"""What errors are held against: exact values by mpmath, sizes of terms, and verdicts of rows."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from gateproof.kernels.check.gate_truth import Gate, double, exact
from gateproof.kernels.check.result import Row, by_rounding, by_terms
from gateproof.kernels.check.rounding import FORMATS
from gateproof.kernels.check.truths import FormError, Truth

ROW = Row("op", "forward", "float32", "torch")
GATE = Gate("k3", (1.3, 4.5), (-0.7, 0.9), (0.1, -0.4, 1.1), (0.3, 0.0, -0.2))


def value(x, *numbers):
    t1, t2, h1, h2, s1, s2, s3, c1, c2, c3 = numbers
    up = [1 / (1 + mp.exp(-t * (x - h))) for t, h in ((t1, h1), (t2, h2))]
    return (1 - up[0]) * (s1 * x + c1) + (up[0] - up[1]) * (s2 * x + c2) + up[1] * (s3 * x + c3)


@pytest.mark.parametrize("x", [-40.0, -0.7, 0.25, 3.0, 30.0])
def test_a_gates_exact_values_are_those_of_numerical_differentiation(x):
    numbers = [mp.mpf(v) for v in (*GATE.tau, *GATE.theta, *GATE.slope, *GATE.intercept)]
    found, sizes = exact(GATE, x)
    with mp.workdps(80):
        assert abs(value(mp.mpf(x), *numbers) - found[0]) <= abs(found[0]) * 1e-15
        slots = [mp.mpf(x), *numbers]
        for k, seen in enumerate(found[1:]):
            right = mp.diff(lambda v, k=k: value(*slots[:k], v, *slots[k + 1 :]), slots[k])
            assert abs(right - seen) <= abs(right) * 1e-12 + mp.mpf(10) ** -45
    assert all(s >= abs(v) * (1 - 1e-15) for s, v in zip(sizes, found, strict=True))


def test_float64_of_a_gate_keeps_the_digits_of_a_middle_gate():
    x = np.array([-60.0, -3.0, 0.1, 5.0, 60.0])
    for k, seen in enumerate(double(GATE, x)):
        for at, v in zip(x, seen, strict=True):
            values, sizes = exact(GATE, float(at))
            assert abs(values[k] - v) <= 1e-13 * sizes[k]


def test_the_terms_of_a_derivative_do_not_cancel():
    x = np.array([-1.2784645427610738, -3.0, 2.0])
    truth = Truth("silu(x)", ("x",), "x")
    s = 1 / (1 + np.exp(-x))
    np.testing.assert_allclose(truth.sizes([x])[0], np.abs(x) * s * (1 - s) + s, rtol=1e-14)
    assert abs(truth.values([x])[0]) < 1e-15


def test_a_float64_value_that_balls_contradict_is_raised():
    truth, x = Truth("silu(x)", ("x",)), np.array([-3.0, 2.0])
    values = truth.values([x])
    truth.compare([x], values, np.abs(values), np.arange(2))
    with pytest.raises(FormError, match="in balls"):
        truth.compare([x], values * (1 + 1e-9), np.abs(values), np.arange(2))


def test_rows_fail_for_what_is_too_far_and_for_numbers_that_vanish():
    one, floor = np.array([1.0]), np.array([2.0**-149])
    for found, passed in ((1 + 2.0**-22, True), (1 + 5 * 2.0**-23, False), (np.nan, False), (np.inf, False)):
        assert by_terms(ROW, [one], np.array([found]), one, one, floor, 4.0).passed is passed
    # Not-a-number and infinity stay what they are, also in the other direction.
    for truth, found, passed in (
        (np.nan, 1.0, False),
        (np.nan, np.nan, True),
        (np.inf, np.inf, True),
        (np.inf, 1.0, False),
    ):
        row = by_terms(ROW, [one], np.array([found]), np.array([truth]), one, floor, 4.0)
        assert row.passed is passed


def test_results_of_16_bits_are_counted():
    form, n = FORMATS["bfloat16"], 65536
    truth = np.linspace(1.0, 1.9, n)
    nearest = np.round(truth * 128) / 128
    row = Row("op", "forward", "bfloat16", "torch")
    for wrong, passed in ((6, True), (7, False)):
        found = nearest.copy()
        found[:wrong] += 2.0**-7
        got = by_rounding(row, [truth], found, truth, nearest, form)
        assert (got.not_correctly_rounded, got.passed) == (wrong, passed)
    found = nearest.copy()
    found[0] += 3 * 2.0**-7
    assert not by_rounding(row, [truth], found, truth, nearest, form).passed
    # Below the normal range only the distance counts.
    tiny = np.full(n, 2.0**-133)
    assert by_rounding(row, [tiny], np.zeros(n), tiny, tiny, form).passed

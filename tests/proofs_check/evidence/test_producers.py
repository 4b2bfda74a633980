"""Producers: their estimates against closed forms, their intervals against printed tables."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.evidence.producers import mem_c0_drawn


def test_an_estimate_is_near_the_closed_form(monkeypatch):
    # E SiLU^2/E (tanh sech)^2 at variance 0.0768 by mpmath's quadrature: c0 = 0.604027...
    from mpmath import mp, quad, sqrt

    q = mp.mpf(192) * mp.mpf("0.02") ** 2
    mean = [
        quad(lambda z, f=f: f(z * sqrt(q)) * mp.exp(-z * z / 2), [-9, 0, 9])
        for f in (lambda g: (g / (1 + mp.exp(-g))) ** 2, lambda g: (mp.tanh(g) * mp.sech(g)) ** 2)
    ]
    exact = float(sqrt(mean[0] / mean[1]))
    assert exact == pytest.approx(0.6040275, abs=1e-7)
    monkeypatch.setattr(mem_c0_drawn, "MODELS", 2)
    found = mem_c0_drawn.estimate((1, 2), 16)
    assert found == mem_c0_drawn.estimate((1, 2), 16) != mem_c0_drawn.estimate((1, 3), 16)
    # Two models spread by 0.08 %; weights of twice the deviation would give 0.79.
    assert found == pytest.approx(exact, rel=0.004)


def test_intervals_are_those_of_the_tables():
    # Ten values with mean 1 and deviation 0.01; chi squared with 9 degrees of freedom has the 97.5 % point
    # 19.0228 and the 2.5 % point 2.70039, Student's t with 9 the 97.5 % point 2.26216.
    half = 0.01 * 0.9**0.5
    found = mem_c0_drawn.spread("x", [1 + half, 1 - half] * 5)
    ends = found["x_spread"]
    assert float(ends["lo"]) == pytest.approx((9 / 19.0228) ** 0.5, rel=1e-5)
    assert float(ends["hi"]) == pytest.approx((9 / 2.70039) ** 0.5, rel=1e-5)
    ends = found["x_mean"]
    assert float(ends["lo"]) == pytest.approx(1 - 2.26216 * 0.01 / 10**0.5, rel=1e-6)
    assert float(ends["hi"]) == pytest.approx(1 + 2.26216 * 0.01 / 10**0.5, rel=1e-6)
    assert found["x_mean"]["n"] == 10

"""The differential pair of the hardware tables: how it is given, and that the table's circuit is the gate."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from gates_to_export import Exact, gate
from scipy import constants, optimize

from gateproof.numerics.fits.exports import RefusedExport, hardware, read_pair
from gateproof.theory.differential_pair import Pair

MICRO = Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("given", "pair"),
    [
        (None, Pair(Fraction(300), Fraction(3, 2), MICRO)),
        ({}, Pair(Fraction(300), Fraction(3, 2), MICRO)),
        ("temperature-kelvin=330", Pair(Fraction(330), Fraction(3, 2), MICRO)),
        ("slope_factor=1.3, tail-ampere = 2e-9", Pair(Fraction(300), Fraction(13, 10), Fraction(2, 10**9))),
        (["tail-ampere=1/1000", "slope-factor=1"], Pair(Fraction(300), Fraction(1), Fraction(1, 1000))),
        ({"temperature_kelvin": 300.5, "slope-factor": "2"}, Pair(Fraction("300.5"), Fraction(2), MICRO)),
        ({"temperature_kelvin": 300.15}, Pair(Fraction("300.15"), Fraction(3, 2), MICRO)),
        ({"tail_ampere": np.float64(1e-9)}, Pair(Fraction(300), Fraction(3, 2), Fraction(1, 10**9))),
    ],
)  # fmt: skip
def test_a_pair_is_read_exactly(given, pair):
    assert read_pair(given) == pair
    assert read_pair(pair) is pair


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "the keys are temperature-kelvin, slope-factor, tail-ampere"),
        ("temperature=300", "the keys are temperature-kelvin"),
        ("temperature-kelvin", "give the absolute temperature in kelvin, 1 to 1000, as temperature-"),
        ("temperature-kelvin=", "in kelvin"), ("temperature-kelvin=27 C", "in kelvin"),
        ("temperature-kelvin=-40", "in kelvin"), ("temperature-kelvin=0", "in kelvin"),
        ("temperature-kelvin=inf", "in kelvin"), ("temperature-kelvin=nan", "in kelvin"),
        ("slope-factor=0.9", "slope factor n, without unit, 1 to 10"), ("slope-factor=1,5", "the keys are"),
        ("tail-ampere=5", "in ampere, 1e-18 to 1"), ("tail-ampere=1e-6A", "in ampere"),
        ("tail-ampere=1e-999", "in ampere"), ("tail-ampere=1e9999999", "in ampere"),
        ("tail-ampere=" + "1" * 200, "in ampere"), ("slope-factor=1/0", "slope factor"),
        ("slope-factor=1,slope_factor=1", "slope-factor is given twice"),
        ({"slope_factor": True}, "slope factor"), ({"slope_factor": None}, "slope factor"),
        ({"slope_factor": math.nan}, "slope factor"), (5, "give"), ([5], "give"), ([], "give"),
        ("slope-factor=\n\x1b[2J*/", "slope factor"),
    ],
)  # fmt: skip
def test_other_pairs_are_refused_in_one_line(given, said):
    with pytest.raises(RefusedExport) as caught:
        read_pair(given, "--hardware")
    text = str(caught.value)
    assert text.startswith("--hardware ")
    assert said in text
    assert text.isascii()
    assert text.isprintable()
    assert len(text) < 200


def share(volts: float, threshold: float, temperature: float, n: float, tail: float) -> float:
    """I_1/I_tail of two transistors in weak inversion: their common source's voltage is found by bisection.

    I = I_S exp((V_G/n - V_S)/U_T), gates at ``volts`` and at ``threshold``; I_1 + I_2 = I_tail.
    """
    unit, specific = constants.k * temperature / constants.e, 1e-6

    def current(v, source):
        return specific * math.exp((v / n - source) / unit)

    source = optimize.brentq(
        lambda s: math.log((current(volts, s) + current(threshold, s)) / tail), -2, 2, xtol=1e-15, rtol=1e-14
    )
    return current(volts, source) / tail


@pytest.mark.parametrize(
    ("temperature", "n", "tail"), [(300, 1.5, 1e-6), (250, 1, 2e-9), (398.15, 1.27, 1e-8)]
)
def test_the_circuit_of_the_table_is_the_gate(temperature, n, tail):
    one = gate(["2.5", "0.8"], ["-0.6", "1.4"], ["0.1", "0.5", 1], ["-0.2", "0.03", "-0.5"])
    exact = Exact(one)
    pair = read_pair({"temperature_kelvin": temperature, "slope_factor": n, "tail_ampere": tail})
    rows = hardware.bias(one, pair)["thresholds"]
    for x in (-3.0, -0.6, 0.0, 0.9, 1.4, 4.0):
        shares = [
            share(float(r["volts_per_unit"]) * x, float(r["threshold_volts"]), temperature, n, tail)
            for r in rows
        ]
        weights = [1 - shares[0], shares[0] - shares[1], shares[1]]
        lines = [float(s) * x + float(c) for s, c in zip(exact.slope, exact.intercept, strict=True)]
        # The table has six digits.
        y = sum(w * v for w, v in zip(weights, lines, strict=True))
        assert y == pytest.approx(float(exact(x)), abs=2e-5)
        # The inputs stay, 10 K more: all sharpnesses fall by 1/T, thresholds stay.
        warm = [
            share(float(r["volts_per_unit"]) * x, float(r["threshold_volts"]), temperature + 10, n, tail)
            for r in rows
        ]
        for k, tau in enumerate(exact.tau):
            z = float(tau) * temperature / (temperature + 10) * (x - float(exact.theta[k]))
            assert warm[k] == pytest.approx(1 / (1 + math.exp(-z)), abs=2e-5)


@pytest.mark.parametrize(("temperature", "n", "tail"), [(300, 1.5, 1e-6), (77, 1.1, 5e-12)])
def test_constants_of_the_pair(temperature, n, tail):
    found = hardware.bias(
        gate([1], [0], [0, 1], [0, 0]),
        read_pair({"temperature_kelvin": temperature, "slope_factor": n, "tail_ampere": tail}),
    )
    unit = constants.k * temperature / constants.e
    assert float(found["thermal_volts"]) == pytest.approx(unit, rel=1e-5)
    assert float(found["thresholds"][0]["volts_per_unit"]) == pytest.approx(n * unit, rel=1e-5)
    assert float(found["tau_drift_per_kelvin"]) == pytest.approx(-1 / temperature, rel=1e-5)
    step = 1e-5 * unit
    rise = (share(step, 0, temperature, n, tail) - share(-step, 0, temperature, n, tail)) * tail / (2 * step)
    assert float(found["transconductance_siemens"]) == pytest.approx(rise, rel=1e-4)


def test_the_worst_case_of_a_table_is_that_of_a_dense_sample():
    import gateproof
    from gateproof.numerics.fits.exports import render

    fit = gateproof.fit("gelu", 3, tolerance={"tau": "5%", "theta": "0.01"})
    rows = dict(line.split(",")[:2] for line in render(fit, "gate.csv").decode().splitlines())
    x = np.linspace(-6, 6, 4001)
    gelu = x * np.array([math.erfc(-v / math.sqrt(2)) / 2 for v in x])
    tau, (low, high) = float(fit.gate.tau[0].value), (float(t.value) for t in fit.gate.theta)
    middle = float(fit.gate.intercept[1].value)

    def worst(*scales):
        found = 0.0
        for f in scales:
            for a in (-0.01, 0, 0.01):
                for b in (-0.01, 0, 0.01):
                    up = [1 / (1 + np.exp(-tau * f * (x - t))) for t in (low + a, high + b)]
                    y = (up[0] - up[1]) * (x / 2 + middle) + up[1] * x
                    found = max(found, float(np.abs(y - gelu).max()))
        return found

    sampled = worst(0.95, 1, 1.05)
    assert float(rows["worst_case_lo"]) <= float(rows["worst_case_hi"])
    assert sampled <= float(rows["worst_case_hi"])
    assert sampled == pytest.approx(float(rows["worst_case_lo"]), rel=1e-4)
    assert worst(1) < 0.999 * sampled
    assert (rows["worst_case_tolerance_tau"], rows["worst_case_tolerance_theta"]) == ("5%", "0.01")
    # One sharpness is one parameter: both thresholds have it at its worst.
    assert rows["worst_case_tau_1"] == rows["worst_case_tau_2"]
    assert float(rows["worst_case_tau_1"]) == pytest.approx(1.05 * tau, rel=1e-5)

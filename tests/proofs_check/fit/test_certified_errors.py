"""Certified errors of given gates, against mpmath on dense samples."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gateproof
from gateproof.numerics.fits.certified import certified_error
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.gate import Gate

DIGITS = st.fractions(min_value=-2, max_value=2, max_denominator=100)


def closed(*texts):
    return tuple(expand(parse_expr(str(t))) for t in texts)


def seen(gate, function, lo, hi):
    """The largest error on 4001 points, from the definitions in mpmath."""
    tau, theta, slope, intercept = (
        [mp.inf if str(v) == "Const(name='oo')" else _number(v) for v in getattr(gate, key)]
        for key in ("tau", "theta", "slope", "intercept")
    )
    worst = mp.mpf(0)
    for x in np.linspace(lo, hi, 4001):
        above = [
            (mp.mpf(1) if x > h else mp.mpf(0)) if t == mp.inf else 1 / (1 + mp.exp(-t * (x - h)))
            for t, h in zip(tau, theta, strict=True)
        ]
        gates = [a - b for a, b in zip([mp.mpf(1), *above], [*above, mp.mpf(0)], strict=True)]
        y = sum(g * (s * x + c) for g, s, c in zip(gates, slope, intercept, strict=True))
        worst = max(worst, abs(y - function(mp.mpf(float(x)))))
    return float(worst)


def _number(value):
    from gateproof.numerics.backends.numbers import to_float

    return mp.mpf(to_float(value))


ATAN = closed("-pi/2", "pi/2")
CASES = [
    ("gelu(x)", Gate(closed("1.7"), closed(0), closed(0, 1), closed(0, 0)), lambda x: x * mp.ncdf(x)),
    ("x*atan(x)", Gate(closed("3/2"), closed(0), ATAN, closed(-1, -1)), lambda x: x * mp.atan(x)),
    (
        "x*(1/2 + atan(2*x - 1)/pi)",
        Gate(closed("2"), closed("1/3"), closed(0, 1), closed("-1/(2*pi)", "-1/(2*pi)")),
        lambda x: x * (mp.mpf(1) / 2 + mp.atan(2 * x - 1) / mp.pi),
    ),
    ("atan(x)", Gate(closed(1), closed(0), closed(0, 0), ATAN), mp.atan),
    ("tanh(x)", Gate(closed("oo", "oo"), closed(-1, 1), closed(0, 1, 0), closed(-1, 0, 1)), mp.tanh),
]


@pytest.mark.parametrize(("text", "gate", "function"), CASES, ids=[c[0] for c in CASES])
def test_the_supremum_over_the_line(text, gate, function):
    found = certified_error(gate, expand(parse_expr(text)), None, None)
    assert not isinstance(found, str)
    worst = seen(gate, function, -30, 30)
    assert worst <= float(found.hi) * (1 + 1e-12)
    # Beside a hard threshold the sample is up to a step of 0.015 away from it.
    assert float(found.lo) <= worst * (1 + (1e-2 if text == "tanh(x)" else 1e-4))
    assert verify(found.certificate).accepted


def test_a_decimal_slope_for_an_irrational_one_has_an_infinite_error():
    gate = Gate(closed("3/2"), closed(0), closed("-1.5707963267948966", "1.5707963267948966"), closed(-1, -1))
    found = certified_error(gate, expand(parse_expr("x*atan(x)")), None, None)
    assert isinstance(found, str) or found.hi is None


def test_a_wrong_slope_has_an_infinite_error():
    gate = Gate(closed(2), closed(0), closed(0, "999/1000"), closed(0, 0))
    found = certified_error(gate, expand(parse_expr("gelu(x)")), None, None)
    assert not isinstance(found, str)
    assert found.hi is None


def test_at_its_threshold_a_hard_gate_is_the_branch_on_its_left():
    # relu + 1 at 0 only would be the difference if the threshold belonged to the right.
    gate = Gate(closed("oo"), closed(0), closed(0, 0), closed(0, 1))
    step = expand(parse_expr("where(x > 0, 1, 0)"))
    other = expand(parse_expr("where(x >= 0, 1, 0)"))
    assert certified_error(gate, step, None, None).hi == 0
    assert certified_error(gate, other, None, None).lo == 1


@settings(max_examples=8, deadline=None)
@given(
    st.fractions(min_value=Fraction(1, 2), max_value=4, max_denominator=20),
    st.lists(DIGITS, min_size=2, max_size=2, unique=True),
    DIGITS,
    DIGITS,
)
def test_random_gates_of_three_branches(tau, theta, slope, intercept):
    theta = sorted(theta)
    gate = Gate(closed(tau, tau), closed(*theta), closed(0, slope, 1), closed(0, intercept, 0))
    found = certified_error(gate, expand(parse_expr("silu(x)")), None, None)
    assert not isinstance(found, str)
    worst = seen(gate, lambda x: x / (1 + mp.exp(-x)), -20, 20)
    assert worst <= float(found.hi) * (1 + 1e-12)
    assert float(found.lo) <= worst * (1 + 1e-3)
    assert verify(found.certificate).accepted


@pytest.mark.parametrize(("tau", "theta"), [(1000, 3), (5000, "1/2"), (100000, 3)])
def test_a_steep_gate_far_from_zero(tau, theta):
    # Left of theta the gate is -1 and elu is x: nearly theta + 1. No checker takes exp(tau theta).
    gate = Gate(closed(tau), closed(theta), closed(0, 1), closed(-1, 0))
    found = certified_error(gate, expand(parse_expr("elu(x)")), None, None)
    assert not isinstance(found, str)
    assert Fraction(theta) + 1 - Fraction(1, 50) < found.lo <= found.hi < Fraction(theta) + 1
    assert found.hi - found.lo < Fraction(1, 10**8)
    assert verify(found.certificate).accepted


def test_the_printed_bound_is_what_the_certificate_proves():
    """sup |sqrt(1+x^2) - |x|| = 1 exactly, and no certificate with a finite number of digits says so."""
    found = gateproof.fit("sqrt(1+x**2)", 2)
    proved = Fraction(found.certificate["conclusion"]["upper"])
    assert found.error.lo <= 1 < proved <= found.error.hi
    assert Fraction(found.to_json()["error"]["hi"]) >= proved


def test_so_it_is_of_a_gate_that_is_looked_at_piece_by_piece():
    """|sqrt(1+x^2) - |x|| is 1 at 0, where two pieces meet; each has its own certificate."""
    found = gateproof.fit("sqrt(1+x**2)", 2, sharpness="hard")
    parts = [part["conclusion"] for part in found.certificate["parts"]]
    assert len(parts) == 2
    assert all(found.error.hi >= max(Fraction(p["upper"]), -Fraction(p["lower"])) for p in parts)
    assert found.error.lo <= 1 <= found.error.hi < 1 + Fraction(1, 10**8)

"""Monotone gates: the proof on gates whose slope is known by hand, and fits under the condition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateproof.numerics.backends.formula import formula
from gateproof.numerics.fits.driver import fits
from gateproof.numerics.fits.gates import Gates
from gateproof.numerics.fits.gates_min import smallest_gate
from gateproof.numerics.fits.monotone import certify_monotone
from gateproof.numerics.fits.normal import normal
from gateproof.numerics.fits.search import Effort
from gateproof.numerics.fits.setting import Setting
from gateproof.numerics.fits.target import of_formula
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Const, Num
from gateproof.theory.gate import Gate

LITTLE = Effort(starts=24, disturbed=8, levelled=2, idle=1)


def target(text):
    return of_formula(formula(text), expand(parse_expr(text)), None, None)


def gate(tau, theta, slope, intercept, algebra="difference"):
    def exact(values):
        return tuple(Const("oo") if v == "oo" else Num(Fraction(str(v))) for v in values)

    return Gate(exact(tau), exact(theta), exact(slope), exact(intercept), algebra)


@pytest.mark.parametrize(
    ("given_gate", "direction", "holds"),
    [
        (gate([2], [0], [0, 0], [-1, 1]), 1, True),  # tanh
        (gate([2], [0], [0, 0], [-1, 1]), -1, False),
        (gate([1], [0], [0, 1], [0, 0]), 1, False),  # silu falls left of -1.28
        (gate([1], [0], [1, 1], [0, 0]), 1, True),  # the line x
        (gate([1], [0], [0, 0], [3, 3]), -1, True),  # a constant is monotone both ways
        # -x exp(x) far out on the left rises; x exp(x) falls there, however far.
        (gate([1, 1], [0, "0.5"], ["0", "-1e-9", "0"], [-1, 0, 1]), 1, True),
        (gate([1, 1], [0, "0.5"], ["0", "1e-9", "0"], [-1, 0, 1]), 1, False),
        (gate([1], [0], [0, "1e-9"], [0, 1]), 1, False),
        (gate([1], [0], [0, "-1e-9"], [0, 1]), 1, False),  # at the other end
        (gate([1, 1], [0, 2], [0, 0, 0], [0, 1, 3], "stick"), 1, True),
        (gate([1, 3], [0, 2], [0, 0, 0], [0, 1, 3], "softmax"), 1, True),
        (gate([1, 3], [0, 2], [0, 0, 0], [0, -1, 3], "softmax"), 1, False),
        (gate(["oo"], [0], [0, 1], [0, 0]), 1, True),  # relu
        (gate(["oo"], [0], [0, 1], [0, "-0.1"]), 1, False),  # a jump down
        (gate(["oo"], [0], [1, 0], [0, -1]), -1, False),
    ],
)
def test_known_gates(given_gate, direction, holds):
    assert certify_monotone(given_gate, direction).holds is holds


def test_silu_rises_right_of_its_minimum():
    """At -1.278 (x = -1 - W(1/e)) the slope changes sign."""
    silu = gate([1], [0], [0, 1], [0, 0])
    assert certify_monotone(silu, 1, Fraction("-1.278"), None).holds is True
    assert certify_monotone(silu, 1, Fraction("-1.279"), None).holds is False
    assert certify_monotone(silu, -1, None, Fraction("-1.279")).holds is True
    assert certify_monotone(silu, -1, None, Fraction("-1.278")).holds is False


small = st.integers(-20, 20).map(lambda n: Fraction(n, 10))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["difference", "stick", "softmax"]),
    st.lists(st.integers(5, 40).map(lambda n: Fraction(n, 10)), min_size=2, max_size=2),
    st.lists(small, min_size=2, max_size=2),
    st.lists(small, min_size=3, max_size=3),
    st.lists(small, min_size=3, max_size=3),
)
def test_the_proof_agrees_with_samples(algebra, tau, theta, slope, intercept):
    known = certify_monotone(gate(tau, theta, slope, intercept, algebra), 1, Fraction(-8), Fraction(8))
    x = np.linspace(-8, 8, 4001)
    full = np.array([np.log(float(t)) for t in tau] + [float(v) for v in (*theta, *slope, *intercept)])
    rises = np.diff(Gates(3, algebra).values(full, x))
    if known.holds:
        assert rises.min() > -1e-12
    elif rises.min() > 1e-9:
        # Between samples 1/250 apart a slope of curvature below 1000 dips by less than this.
        assert known.holds is not False or rises.min() < 1000 / 250**3


def test_a_monotone_fit_of_gelu_is_as_good_as_can_be():
    """A rising gate that tends to 0 is nowhere negative: its error is at least -min gelu = 0.16997120747."""
    found = normal(target("gelu(x)"))
    one = fits(found, Setting(3, monotone=1), effort=LITTLE)[-1]
    error = one.error * found.height
    assert 0.16997120747 <= error < 0.1712
    tau, theta, slope, intercept = found.inverse(one.gates, one.full)
    exact = gate(*[[repr(float(v)) for v in p] for p in (tau, theta, (0, slope[1], 1), (0, intercept[1], 0))])
    assert certify_monotone(exact, 1).holds is True


def test_a_monotone_fit_of_a_falling_target():
    found = normal(target("-2*erf(x)"))
    one = fits(found, Setting(3, monotone=-1), effort=LITTLE)[-1]
    tau, theta, slope, intercept = found.inverse(one.gates, one.full)
    lines = (0, slope[1], 0), (2, intercept[1], -2)
    exact = gate(*[[repr(float(v)) for v in p] for p in (tau, theta, *lines)])
    assert certify_monotone(exact, -1).holds is True
    assert 2 * 1.1507e-3 < one.error * found.height < 2 * 5.5e-3


@pytest.mark.parametrize(
    ("given_gate", "low", "high", "value"),
    [
        (gate([], [], [1], [0]), None, None, 1),
        (gate([2, 2], [-1, 1], [0] * 3, [0] * 3), None, None, 0),
        (gate([2, 3], [-1, 1], [0] * 3, [0] * 3, "stick"), None, None, 0),
        (gate([2, 3], [-1, 1], [0] * 3, [0] * 3, "softmax"), None, None, 0),
        # sigmoid(2x - 2) - sigmoid(2x + 2) at 0: -tanh(1).
        (gate([2, 2], [1, -1], [0] * 3, [0] * 3), None, None, -np.tanh(1)),
        (gate([1, 2], [0, 0], [0] * 3, [0] * 3), None, None, "search"),
        (gate([1], [0], [0, 0], [0, 0]), -1, 3, 1 / (1 + np.exp(3))),
    ],
)
def test_smallest_gate(given_gate, low, high, value):
    low, high = (None if e is None else Fraction(e) for e in (low, high))
    known = smallest_gate(given_gate, low, high)
    if value == "search":
        x = np.linspace(0, 6, 600001)
        value = (1 / (1 + np.exp(-x)) - 1 / (1 + np.exp(-2 * x))).min()
    assert float(known.value[0]) == pytest.approx(value, rel=1e-6, abs=1e-12)
    assert float(known.value[1]) == pytest.approx(value, rel=1e-6, abs=1e-12)


def test_a_crossing_far_out_is_bounded():
    """Taus that differ by 3 %: gates cross at z = 75, where they are at most e**-75 below 0."""
    known = smallest_gate(gate(["1.45", "1.5"], [-2, "-0.3"], [0] * 3, [0] * 3))
    low, high = known.value
    assert known.attained is True
    assert -1e-30 < low < 0 <= high

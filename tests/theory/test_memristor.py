"""The memristor derivation: each step decided, closed forms against mpmath."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest

from gateproof.numerics.points import at_point
from gateproof.proofs_check.api import decide_text
from gateproof.theory import memristor
from gateproof.theory.formula import expand
from gateproof.theory.memristor import STEPS

# R0, b, k, A, om of a device, by hand: Gamma = 3/2 * 7/5 * 4 / 3 = 14/5.
DEVICE = {"R0": 100, "b": Fraction(3, 2), "k": Fraction(7, 5), "A": 2, "om": 3}


def value(expr, **more):
    point = {k: Fraction(v) for k, v in {**DEVICE, **more}.items()}
    return mp.mpf(at_point(expand(expr), point, 128).str(35, radius=False))


@pytest.mark.parametrize("step", STEPS, ids=[s.name for s in STEPS])
def test_every_step_is_proved_and_its_near_misses_fail(step):
    decision = decide_text(step.formal, controls=step.near_misses)
    assert decision.verdict == "proved", decision.reason
    assert len(step.near_misses) >= 2


def test_steps_have_names_of_their_own():
    assert len({s.name for s in STEPS}) == len({s.formal for s in STEPS}) == len(STEPS)


def test_closed_forms_against_quadrature():
    with mp.workdps(30):
        r0, b, k, amp, om = (mp.mpf(v.numerator) / v.denominator for v in map(Fraction, DEVICE.values()))
        assert value(memristor.gamma()) == mp.mpf("2.8")

        def w(t):
            return mp.mpf("-0.5") + k * mp.quad(lambda u: amp * mp.sin(om * u), [0, t])

        t = mp.mpf(5) / 7
        assert abs(value(memristor.state(), t=Fraction(5, 7), s=Fraction(-1, 2)) - w(t)) < 1e-25
        # Reference form: w0 is the start plus k A/om.
        w0 = Fraction(-1, 2) + Fraction(14, 15)
        assert abs(value(memristor.state(initial=False), t=Fraction(5, 7), w0=w0) - w(t)) < 1e-25
        mean = -mp.mpf("0.5") + k * amp / om
        v = (r0 + b * (w(t) - mean)) * amp * mp.sin(om * t)
        assert abs(value(memristor.voltage(), t=Fraction(5, 7)) - v) < 1e-25

        def gap(s):
            cosine = mp.sqrt(1 - s * s)
            falling, rising = r0 + b * k * amp / om * cosine, r0 - b * k * amp / om * cosine
            return (falling - rising) * amp * s

        area = mp.quad(lambda s: gap(s) * amp, [0, 1])
        assert abs(value(memristor.lobe_area()) - area) < 1e-25
        power = mp.quad(
            lambda u: (r0 - b * k * amp / om * mp.cos(om * u)) * (amp * mp.sin(om * u)) ** 2,
            [0, mp.pi / 3, 2 * mp.pi / 3],
        )
        assert abs(value(memristor.mean_power()) - power * om / (2 * mp.pi)) < 1e-22


def test_branches_and_separation():
    s = Fraction(3, 5)
    up, down = (value(memristor.branch_voltage(r), s=s) for r in (True, False))
    # sqrt(1 - 9/25) = 4/5: R0 A s = 120, Gamma s 4/5 = 1.344.
    assert abs(up - (120 - mp.mpf("1.344"))) < 1e-12
    assert abs(down - (120 + mp.mpf("1.344"))) < 1e-12
    assert abs(value(memristor.separation(), s=s) - mp.mpf("0.48")) < 1e-15

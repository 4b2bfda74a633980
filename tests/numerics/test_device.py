"""The integrated memristor against closed forms and against polynomials worked by hand."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from flint import arb

from gateproof.numerics.device import Device, closed_form, integrate, sine_loop
from gateproof.numerics.errors import NotSmooth
from gateproof.numerics.points import rational_bounds
from gateproof.theory import memristor
from gateproof.theory.formula import parse_expr

DEVICE = Device(Fraction(100), Fraction(3, 2), Fraction(7, 5), Fraction(1))


def holds(ball: arb, value: Fraction) -> bool:
    lo, hi = rational_bounds(ball)
    return lo <= value <= hi


def test_a_linear_drive_by_hand():
    """i = t from w = 2: w = 2 + 7/10 t^2; R = 100 + 3/2 (1 + 7/10 t^2); area = int R t dt."""
    start, end = integrate(DEVICE, parse_expr("t"), Fraction(2), [Fraction(0), Fraction(3)], steps=2, order=5)
    assert holds(start.state, Fraction(2))
    assert holds(end.state, Fraction(2) + Fraction(7, 10) * 9)
    resistance = 100 + Fraction(3, 2) * (1 + Fraction(7, 10) * 9)
    assert holds(end.voltage, 3 * resistance)
    area = (100 + Fraction(3, 2)) * Fraction(9, 2) + Fraction(21, 20) * Fraction(81, 4)
    assert holds(end.area, area)
    assert not holds(end.area, area + Fraction(1, 10**20))


def test_a_decaying_drive_against_its_integral():
    """i = t exp(-t): the charge up to T is 1 - (1 + T) exp(-T)."""
    samples = integrate(DEVICE, parse_expr("t*exp(-t)"), Fraction(0), [Fraction(0), Fraction(1), Fraction(4)])
    with mp.workdps(40):
        for s, t in zip(samples[1:], (1, 4), strict=True):
            right = mp.mpf(7) / 5 * (1 - (1 + t) * mp.exp(-t))
            assert abs(mp.mpf(s.state.str(40, radius=False)) - right) < mp.mpf(10) ** -25
            assert s.state.rad() < 1e-25


def test_the_enclosures_hold_with_few_steps_too():
    """Low orders widen the balls; the true state stays inside."""
    for steps, order in ((1, 1), (2, 2), (3, 3), (8, 6)):
        end = integrate(
            DEVICE, parse_expr("sin(t)"), Fraction(0), [Fraction(0), Fraction(2)], steps=steps, order=order
        )[-1]
        with mp.workdps(60):
            right = Fraction(str(mp.mpf(7) / 5 * (1 - mp.cos(2))))
            # area = int (100 + 3/2 (7/5 (1 - cos) - 1)) sin cos dt
            swept = mp.quad(
                lambda t: (
                    (100 + mp.mpf(3) / 2 * (mp.mpf(7) / 5 * (1 - mp.cos(t)) - 1)) * mp.sin(t) * mp.cos(t)
                ),
                [0, 1, 2],
            )
            area = Fraction(str(swept))
        assert holds(end.state, right)
        assert holds(end.area, area)


def test_the_loop_is_the_derived_one():
    loop = sine_loop(DEVICE, Fraction(2), Fraction(3), Fraction(-1))
    area = closed_form(memristor.lobe_area(), DEVICE, Fraction(2), Fraction(3))
    # By hand: Gamma = 14/5 V, lobe 2/3 * 14/5 * 2 = 56/15 W.
    assert holds(area, Fraction(56, 15))
    assert holds(loop.right_lobe, Fraction(-56, 15))
    assert holds(loop.left_lobe, Fraction(56, 15))
    assert loop.right_lobe.rad() < 1e-20
    assert holds(loop.drift, Fraction(0))
    assert loop.drift.rad() < 1e-25


def test_the_loop_does_not_depend_on_the_start_but_the_resistance_does():
    for start in (Fraction(0), Fraction(50)):
        assert holds(sine_loop(DEVICE, Fraction(2), Fraction(3), start).right_lobe, Fraction(-56, 15))


def test_a_falling_resistance_turns_the_loop():
    falling = Device(Fraction(100), Fraction(-3, 2), Fraction(7, 5))
    assert holds(sine_loop(falling, Fraction(2), Fraction(3), Fraction(0)).right_lobe, Fraction(56, 15))


def test_refusals():
    with pytest.raises(ValueError, match="ascend"):
        integrate(DEVICE, parse_expr("t"), Fraction(0), [Fraction(1), Fraction(0)])
    with pytest.raises(ValueError, match="two times"):
        integrate(DEVICE, parse_expr("t"), Fraction(0), [Fraction(1)])
    with pytest.raises(NotSmooth):
        integrate(DEVICE, parse_expr("abs(t)"), Fraction(0), [Fraction(-1), Fraction(1)], steps=1)
    with pytest.raises(ValueError, match="positive"):
        Device(Fraction(0), Fraction(1), Fraction(1))
    with pytest.raises(ValueError, match="positive"):
        sine_loop(DEVICE, Fraction(0), Fraction(1), Fraction(0))

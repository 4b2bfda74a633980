"""Kinds of branches: what they are in the target's coordinates, and what is refused in one line."""

from __future__ import annotations

import numpy as np
import pytest

from gateproof.numerics.backends.formula import formula
from gateproof.numerics.fits.driver import fits
from gateproof.numerics.fits.families import (
    bound_refusal,
    direction,
    family_refusal,
    monotone_refusal,
    possible_ends,
)
from gateproof.numerics.fits.normal import normal
from gateproof.numerics.fits.search import Effort
from gateproof.numerics.fits.setting import Setting
from gateproof.numerics.fits.target import of_formula
from gateproof.theory.formula import expand, parse_expr

LITTLE = Effort(starts=32, disturbed=16, levelled=3, idle=1)


def target(text, lo=None, hi=None):
    return of_formula(formula(text), expand(parse_expr(text)), lo, hi)


def best(text, setting, lo=None, hi=None):
    found = normal(target(text, lo, hi))
    one = fits(found, setting, effort=LITTLE)[-1]
    return one.error * found.height, found.inverse(one.gates, one.full)


def test_multiplicative_branches_have_no_intercepts():
    error, (_, _, slope, intercept) = best("gelu(x)", Setting(3, family="multiplicative"))
    assert np.abs(intercept).max() < 1e-12
    assert (slope[0], slope[-1]) == pytest.approx((0, 1), abs=1e-12)
    # At K = 2 pinned gates of gelu are multiplicative already; a planted one with K = 3 is found.
    assert error < 1.39223e-2
    planted = "tg(x, tau=[1.3, 1.3], theta=[-1, 0.8], slope=[0, 0.4, 1], intercept=[0, 0, 0])"
    assert best(planted, Setting(3, family="multiplicative"))[0] < 1e-9


def test_multiplicative_branches_away_from_zero():
    """Centre and tilt of normal coordinates must not leak in: the target is a gate shifted with its lines."""
    planted = "tg(x, tau=[2], theta=[5], slope=[-1, 2], intercept=[0, 0])"
    error, (tau, theta, slope, intercept) = best(planted, Setting(2, family="multiplicative"))
    assert error < 1e-9
    assert (tau[0], theta[0], *slope) == pytest.approx((2, 5, -1, 2), rel=1e-7)
    assert np.abs(intercept).max() < 1e-9


def test_constant_branches_are_levels():
    error, (_, _, slope, intercept) = best("erf(x)", Setting(3, family="constant"))
    assert np.abs(slope).max() < 1e-12
    assert (intercept[0], intercept[-1]) == pytest.approx((-1, 1), abs=1e-12)
    assert 1.1507e-3 < error < 0.02
    planted = "2*sigmoid(3*x) - 3*sigmoid(3*x - 2) + 1"
    assert best(planted, Setting(3, family="constant"))[0] < 1e-9


@pytest.mark.parametrize(
    ("text", "family", "ends", "part"),
    [
        ("gelu(x)", "constant", "pinned", "slope 1 at oo"),
        ("gelu(x)", "constant", "slopes", "--domain"),
        ("tanh(x)", "multiplicative", "pinned", "--ends slopes"),
        ("elu(x)", "multiplicative", "pinned", "intercept -1 at -oo"),
    ],
)
def test_contradictions_are_refused_with_what_is_possible(text, family, ends, part):
    words = family_refusal(target(text), family, ends)
    assert part in words
    assert "\n" not in words


def test_what_is_possible_is_not_refused():
    assert not family_refusal(target("gelu(x)"), "multiplicative", "pinned")
    assert not family_refusal(target("tanh(x)"), "constant", "pinned")
    assert not family_refusal(target("tanh(x)"), "multiplicative", "slopes")
    assert not family_refusal(target("gelu(x)", -4, 4), "constant", "free")
    assert possible_ends(target("elu(x)"), "multiplicative") == "slopes"
    assert possible_ends(target("gelu(x)"), "multiplicative") == "pinned"


def test_bounds_below_the_ends_are_refused():
    assert "at least 1" in bound_refusal(target("gelu(x)"), "pinned", 0.5)
    assert "--ends slopes" in bound_refusal(target("2*tanh(x)"), "pinned", 1.5)
    assert not bound_refusal(target("2*tanh(x)"), "slopes", 1.5)
    assert not bound_refusal(target("gelu(x)"), "pinned", 1)


@pytest.mark.parametrize(
    ("text", "sign"),
    [("gelu(x)", 1), ("gelu(-x)", -1), ("tanh(x)", 1), ("-3*erf(x)", -1), ("exp(-x**2)", 0), ("abs(x)", 0)],
)
def test_direction_of_the_target(text, sign):
    found, reason = direction(target(text))
    assert found == sign
    assert bool(reason) == (sign == 0)


def test_two_branches_from_level_to_sloped_are_never_monotone():
    assert "-k 3" in monotone_refusal(target("gelu(x)"), 2, "pinned")
    assert "level at oo" in monotone_refusal(target("gelu(-x)"), 2, "slopes")
    assert not monotone_refusal(target("gelu(x)"), 3, "pinned")
    assert not monotone_refusal(target("tanh(x)"), 2, "pinned")
    assert not monotone_refusal(target("gelu(x)", -3, 3), 2, "free")

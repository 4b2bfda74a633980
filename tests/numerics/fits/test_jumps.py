"""Targets that jump: half of the jump is what continuous gates leave."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gateproof
from gateproof.numerics.backends.formula import formula
from gateproof.numerics.fits.driver import fits
from gateproof.numerics.fits.infimum import judge
from gateproof.numerics.fits.jumps import half_jump, jumps
from gateproof.numerics.fits.normal import normal
from gateproof.numerics.fits.setting import Setting
from gateproof.numerics.fits.target import of_formula
from gateproof.theory.formula import expand, parse_expr


def coordinates(text):
    return normal(of_formula(formula(text), expand(parse_expr(text)), None, None))


@pytest.mark.parametrize(
    ("text", "place", "half"),
    [
        ("where(x<0, 0, 1)", 0, 0.5),
        ("where(x<2, x, x + 3)", 2, 1.5),
        # The value at 0 is between the sides.
        ("sign(x)*exp(-abs(x))", 0, 1),
        ("where(x<-1, 0, exp(-x))", -1, np.e / 2),
    ],
)
def test_half_a_jump(text, place, half):
    found = coordinates(text)
    places, sizes = jumps(found)
    assert places * found.width + found.centre == pytest.approx([place], abs=1e-12)
    assert sizes * found.height == pytest.approx([half], rel=1e-9)


@pytest.mark.parametrize(
    "text",
    ["gelu(x)", "abs(x)", "tanh(1000*x)", "sqrt(abs(x))*exp(-abs(x))", "sign(x)*abs(x)**(1/50)*exp(-abs(x))"],
)
def test_none_where_the_function_is_continuous(text):
    assert half_jump(coordinates(text)) == 0


@pytest.mark.parametrize("text", ["where(x<0, 0, 1)", "where(x<1, 2, -1)", "where(x<-3, x, x + 1)"])
def test_the_best_soft_gate_leaves_half_the_jump(text):
    """Sigmoids through the middle of the jump attain it, with any sharpness that is not too small."""
    found = coordinates(text)
    two, three = fits(found, Setting(3))[-2:]
    right = half_jump(found)
    assert two.error == pytest.approx(right, rel=1e-12)
    # More branches gain nothing, nor do they seem to.
    assert three.error >= right
    known = judge(found, two)
    assert known.attained is True
    assert known.value == pytest.approx(right * found.height, rel=1e-12)
    assert "--sharpness hard" in known.why


def test_the_fewest_branches_are_handed_out():
    fit = gateproof.fit("where(x<0, 0, 1)", 3)
    assert fit.k == 2
    assert fit.attained is True
    # A certificate's bound is a decimal just above.
    assert 0 <= fit.error.hi - Fraction(1, 2) < 1e-9
    assert "theta=[0]" in fit.text
    assert "K=2 suffices" in fit.message


@pytest.mark.parametrize("text", ["sign(x)", "where(x<0, 0, 1)*(1 + tanh(x))", "relu(x) + sign(x - 1)"])
@pytest.mark.parametrize("branches", [2, 3])
def test_no_infimum_of_soft_gates_is_below_half_the_jump(text, branches):
    found = coordinates(text)
    right = half_jump(found) * found.height
    assert right == pytest.approx({"s": 1, "w": 0.5, "r": 1}[text[0]], rel=1e-6)
    known = judge(found, fits(found, Setting(branches))[-1])
    assert known.found.error * found.height >= right * (1 - 1e-12)
    assert known.value is None or known.value >= right * (1 - 1e-12)

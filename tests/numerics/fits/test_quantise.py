"""Fixed-point parameters: on the grid, better than rounding, exact ends; small cases by exhaustion."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from gateproof.numerics.backends.formula import formula
from gateproof.numerics.fits.driver import fits
from gateproof.numerics.fits.gates import Gates
from gateproof.numerics.fits.normal import normal
from gateproof.numerics.fits.quantise import NotRepresentable, quantised
from gateproof.numerics.fits.search import Effort
from gateproof.numerics.fits.setting import Setting
from gateproof.numerics.fits.target import of_formula
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Const, Num
from gateproof.theory.gate import Gate

LITTLE = Effort(starts=24, disturbed=8, levelled=2, idle=1)


def fitted(text, setting, lo=None, hi=None):
    found = normal(of_formula(formula(text), expand(parse_expr(text)), lo, hi))
    one = fits(found, setting, effort=LITTLE)[-1]
    parts = found.inverse(one.gates, one.full)
    gate = Gate(*[tuple(Num(Fraction(float(v))) for v in p) for p in parts], setting.algebra)
    return found, gate, one.error * found.height


def numbers(gate):
    return [[float(e.value) for e in p] for p in (gate.tau, gate.theta, gate.slope, gate.intercept)]


def error(found, parts):
    x = found.centre + found.width * found.grid()
    tau, theta, slope, intercept = (np.array(p) for p in parts)
    y = Gates(len(slope)).values(np.concatenate([np.log(tau), theta, slope, intercept]), x)
    return np.abs(y - found.target.function(x)).max()


@pytest.mark.parametrize("bits", [6, 8, 12])
def test_numbers_are_on_the_grid_and_beat_rounding(bits):
    setting = Setting(3)
    found, gate, exact = fitted("gelu(x)", setting)
    known = quantised(gate, found, setting, bits)
    for kind, part in zip(("tau", "theta", "slope", "intercept"), numbers(known.gate), strict=True):
        n = np.array(part) * 2.0 ** known.fraction[kind]
        assert (n == np.round(n)).all()
        assert np.abs(n).max() < 2 ** (bits - 1)
    assert (known.gate.slope[0], known.gate.slope[-1]) == (Num(Fraction(0)), Num(Fraction(1)))
    assert known.gate.tau[0] == known.gate.tau[1]
    plain = [
        list(np.round(np.array(p) * 2.0 ** known.fraction[k]) / 2.0 ** known.fraction[k])
        for k, p in zip(known.fraction, numbers(gate), strict=True)
    ]
    assert exact * (1 - 1e-6) <= known.error <= error(found, plain)
    # Half a unit of the widest grid, as large as any gate or slope makes it, and then some.
    assert known.error < exact + 3 * 2.0 ** -min(known.fraction.values())
    assert known.error == pytest.approx(error(found, numbers(known.gate)), rel=1e-3)


def test_the_best_of_all_numbers_of_few_bits():
    """K = 2, pinned: only tau and theta are free, and 5 bits leave 15 * 31 pairs."""
    setting = Setting(2)
    found, gate, _ = fitted("gelu(x)", setting)
    known = quantised(gate, found, setting, 5)
    units = [2.0 ** -known.fraction[k] for k in ("tau", "theta")]
    best = min(
        error(found, [[m * units[0]], [n * units[1]], [0, 1], [0, 0]])
        for m, n in product(range(1, 16), range(-15, 16))
    )
    assert known.error == pytest.approx(best, rel=1e-3)


def test_a_slope_without_a_short_number_is_refused_on_the_line_only():
    setting = Setting(2)
    found, gate, _ = fitted("x*atan(x)", setting)
    with pytest.raises(NotRepresentable, match="infinite error on R"):
        quantised(gate, found, setting, 16)
    inside = Setting(2, ends="free")
    found, gate, exact = fitted("x*atan(x)", inside, Fraction(-3), Fraction(3))
    assert quantised(gate, found, inside, 16).error < 1.01 * exact


def test_an_intercept_without_a_short_number_is_moved_and_told():
    setting = Setting(2)
    found, gate, exact = fitted("atan(x)", setting)
    known = quantised(gate, found, setting, 10)
    assert len(known.notes) == 2
    assert "moved" in known.notes[0]
    assert known.error < exact + 2e-3


def test_hard_gates_keep_oo():
    relu = "relu(x - 0.3)"
    found = normal(of_formula(formula(relu), expand(parse_expr(relu)), Fraction(-2), Fraction(2)))
    third = Num(Fraction(3, 10))
    gate = Gate(
        (Const("oo"),), (third,), (Num(Fraction(0)), Num(Fraction(1))), (Num(Fraction(0)), Num(-third.value))
    )
    known = quantised(gate, found, Setting(2, "hard", "free"), 8)
    assert known.gate.tau == (Const("oo"),)
    # theta is within 2**-9 of 0.3, and the line as well.
    assert 0 < known.error < 2.0**-8

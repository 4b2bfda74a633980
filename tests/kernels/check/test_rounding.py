"""Correct rounding to 16 bits: by the formats' own tables of all numbers, and by exact fractions."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest

from gateproof.kernels.check.rounding import FORMATS, every_input, near_tie, rounded, unit
from gateproof.kernels.check.truths import of_ball


def nearest(value: float, numbers: list[float]) -> float:
    """The nearest number, of two the one with the even code; by exact fractions."""
    exact = Fraction(value)
    order = sorted(range(len(numbers)), key=lambda k: (abs(Fraction(numbers[k]) - exact), k % 2))
    return numbers[order[0]]


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_against_the_table_of_all_numbers(name):
    form = FORMATS[name]
    positive = every_input(form)[: 2**15]
    finite = [float(v) for v in positive if np.isfinite(v)]
    rng = np.random.default_rng(5)
    places = rng.integers(1, len(finite) - 2, 60)
    for k in places:
        low, high = finite[k], finite[k + 1]
        middle = (low + high) / 2
        near = finite[max(k - 2, 0) : k + 4]
        start = max(k - 2, 0)
        for v in (low, middle, np.nextafter(middle, 0), np.nextafter(middle, high), low + (high - low) * 0.3):
            right = nearest(v, near) if start % 2 == 0 else nearest(v, finite[start - 1 : k + 4])
            assert float(rounded(np.array([v]), form)[0]) == right
            assert float(rounded(np.array([-v]), form)[0]) == -right


def test_float16_is_numpys_and_bfloat16_rounds_once():
    rng = np.random.default_rng(1)
    x = np.concatenate(
        [rng.normal(size=3000) * 10.0 ** rng.integers(-9, 6, 3000), [65519.9, 65520.0, 2.0**-25]]
    )
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(rounded(x, FORMATS["float16"]), x.astype(np.float16).astype(float))
    # Just above a tie of bfloat16, and a tie after float32: rounding twice would go down to even.
    above = np.array([1 + 2.0**-8 + 2.0**-40])
    assert rounded(above, FORMATS["bfloat16"])[0] == 1 + 2.0**-7
    assert near_tie(above, FORMATS["bfloat16"], 2.0**-34)[0]
    assert not near_tie(np.array([1.001]), FORMATS["bfloat16"], 2.0**-34)[0]


def test_units():
    assert list(unit(np.array([1.0, 1.99, 2.0, 0.0, 1e-45]), FORMATS["float32"])) == [
        2.0**-23, 2.0**-23, 2.0**-22, 2.0**-149, 2.0**-149,
    ]  # fmt: skip


def test_the_repaired_cast_rounds_to_nearest_even():
    from gateproof.kernels.check.interpreter import rounded_bits

    rng = np.random.default_rng(2)
    for dtype in (np.float32, np.float64):
        x = (rng.normal(size=4000) * 2.0 ** rng.integers(-130, 120, 4000)).astype(dtype)
        x = np.concatenate([x, np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, np.inf, -np.inf, 0.0, 3.4e38], dtype)])
        bits = rounded_bits(x).astype(np.uint32) << 16
        np.testing.assert_array_equal(
            bits.view(np.float32).astype(float), rounded(x.astype(float), FORMATS["bfloat16"])
        )
    assert np.isnan(
        (rounded_bits(np.array([np.nan], np.float32)).astype(np.uint32) << 16).view(np.float32)[0]
    )
    once = rounded_bits(np.array([1 + 2.0**-8 + 2.0**-40]))
    assert (once.astype(np.uint32) << 16).view(np.float32)[0] == 1 + 2.0**-7


def test_a_ball_beside_a_tie_falls_to_its_side_and_one_on_it_to_the_even_number():
    tie, tiny = flint.arb(1) + flint.arb(2) ** -8, flint.arb(2) ** -70
    form = FORMATS["bfloat16"]
    with flint.ctx.workprec(106):
        assert of_ball(tie + tiny, form, 0.0) == 1 + 2.0**-7
        assert of_ball(tie - tiny, form, 0.0) == 1.0
        assert of_ball(tie, form, 0.0) == 1.0
        assert of_ball(-tie - tiny, form, 0.0) == -1 - 2.0**-7
        # 11 x / 10 for x = 1.25 is 1.375, which the format holds; for x = 1.953125 it is on a tie.
        assert of_ball(flint.arb(11) / 10 * flint.arb(1.25), form, 0.0) == 1.375
        assert of_ball(flint.arb(11) / 10 * flint.arb(1.953125), form, 0.0) == 2.15625
        assert of_ball(flint.arb(2) ** -134, form, 7.0) == 0.0
        assert of_ball(flint.arb("nan"), form, 7.0) == 7.0

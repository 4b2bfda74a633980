"""Decimals of enclosures: all digits right, fewer where the enclosure is wider."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from gateproof.numerics.meanfield.given import RefusedNumber, number, variances_within
from gateproof.numerics.meanfield.value import Value


@pytest.mark.parametrize(
    ("lo", "hi", "digits", "text"),
    [
        ("0.12344", "0.12346", 4, "0.123"),
        ("0.123441", "0.123444", 6, "0.12344"),
        ("0.12349", "0.12351", 4, "0.1235"),
        ("0.99996", "1.00004", 4, "1.000"),
        ("94", "106", 3, "1e2"),
        ("123456.1", "123456.2", 3, "1.23e5"),
        ("-2.5001", "-2.5", 2, "-2.5"),
        ("-1", "1", 5, None),
        ("1", "3", 5, None),
        ("0.05", "0.05", 15, "0.05"),
        ("1/3", "1/3", 4, "0.3333"),
        ("0", "0", 4, "0"),
        ("2", "2", 15, "2"),
    ],
)
def test_decimals(lo, hi, digits, text):
    assert Value(Fraction(lo), Fraction(hi)).decimal(digits) == text


def test_infinity_and_half_lines():
    assert Value.exact(inf).decimal(5) == "oo"
    assert Value.of(arb.pos_inf()).ends(3) == {"lo": "oo", "hi": "oo"}
    assert Value.of(arb.nan()) is None
    assert Value(Fraction(3), inf).decimal(5) is None
    assert Value(Fraction(3), inf).ends(2) == {"lo": "3.0000", "hi": "oo"}


@given(st.fractions(), st.fractions(Fraction(0), Fraction(1, 1000)), st.integers(1, 12))
def test_every_digit_printed_is_that_of_both_ends(middle, width, digits):
    lo, hi = middle, middle + width
    value = Value(lo, hi)
    text = value.decimal(digits)
    if text is not None and lo < hi:
        mantissa, _, exponent = text.partition("e")
        unit = Fraction(10) ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
        assert all(abs(end - Fraction(text)) <= unit / 2 for end in (lo, hi))
    ends = value.ends(digits)
    assert Fraction(ends["lo"]) <= lo <= hi <= Fraction(ends["hi"])


def test_numbers_are_exact():
    assert (number("s", "1/3"), number("s", 0.1), number("s", "1e-3")) == (
        Fraction(1, 3),
        Fraction(1, 10),
        Fraction(1, 1000),
    )
    assert variances_within("0,1/2") == (Fraction(0), Fraction(1, 2))
    for bad in (
        "",
        "x",
        "1,5",
        "0x10",
        "1/0",
        None,
        True,
        float("nan"),
        "1e99",
        "\N{FULLWIDTH DIGIT ONE}",
        "1" * 3000,
    ):
        with pytest.raises(RefusedNumber):
            number("s", bad)
    for bad in ("1", "1,2,3", (2, 1), (-1, 2), "a,b", 5, None):
        with pytest.raises(RefusedNumber):
            variances_within(bad)

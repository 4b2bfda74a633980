"""The papers' tables and counts, computed a second time without the claim language.

Numbers are typed here from the papers, not from the claims: a slip in a claim file shows.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import comb, isqrt

import pytest
from packaged_claims import packaged

TEXT = {f"{c.id}|{r.name}": r.formal for c in packaged() for r in c.readings}


def formal(claim_id: str, part: str = "") -> str:
    found = [text for key, text in TEXT.items() if key.split("|")[0] == claim_id and part in key]
    assert found, (claim_id, part)
    return "\n".join(found)


def rounded(value: Fraction, places: int) -> Decimal:
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return exact.quantize(Decimal(1).scaleb(-places))


# Threshold gating: conversion table -----------------------------------------

CONVERSION = [
    # baseline, converted, printed difference, printed as points or relative
    ("81.10", "80.01", "-1.09", "points"),
    ("80.86", "80.46", "-0.40", "points"),
    ("29.249", "29.314", "0.22", "relative"),
]


@pytest.mark.parametrize(("base", "new", "printed", "kind"), CONVERSION)
def test_conversion_differences(base, new, printed, kind):
    a, b = Fraction(base), Fraction(new)
    points, relative = rounded(b - a, 2), rounded(100 * (b / a - 1), 2)
    right, other = (points, relative) if kind == "points" else (relative, points)
    assert right == Decimal(printed)
    assert other != Decimal(printed)
    assert f"{new}~" in formal("tg.table.conversion")
    assert f"{base}~" in formal("tg.table.conversion")


# Threshold gating: word error rates -----------------------------------------

RATES = {
    128: ("19.53", "16.82", "15.01"),
    256: ("13.45", "13.58", "12.29"),
    512: ("11.77", "12.42", "10.35"),
}


def test_word_error_rate_improvements():
    printed = {(128, 1): "2.71", (128, 2): "4.52", (256, 2): "1.16", (512, 2): "1.42"}
    for (width, column), text in printed.items():
        base, new = Fraction(RATES[width][0]), Fraction(RATES[width][column])
        assert base - new == Fraction(text)
        assert rounded(100 * (1 - new / base), 2) != Decimal(text)
        assert f"{text}~" in formal("tg.table.wer")


def test_constant_family_beats_multiplicative_and_baseline_order():
    for base, multiplicative, constant in RATES.values():
        assert Fraction(constant) < Fraction(multiplicative)
        assert Fraction(constant) < Fraction(base)
    worse = [w for w, (b, m, _) in RATES.items() if Fraction(m) > Fraction(b)]
    assert worse == [256, 512]


def counts(words: int, rate: str) -> list[int]:
    half, value = Fraction(1, 200), Fraction(rate)
    return [k for k in range(words + 1) if abs(Fraction(100 * k, words) - value) <= half]


def test_773_is_the_least_number_of_words():
    rates = [r for row in RATES.values() for r in row]
    assert all(counts(773, r) for r in rates)
    for words in range(1, 773):
        assert not all(counts(words, r) for r in ("19.53", "13.58", "12.29"))
    for rate in rates:
        (errors,) = counts(773, rate)
        assert f"100*{errors}/773 == {rate}~" in formal("tg.wer.count")


# Threshold gating: sign test --------------------------------------------------


def tail(pairs: int, losses: int) -> Fraction:
    return Fraction(sum(comb(pairs, k) for k in range(losses + 1)), 2**pairs)


def test_sign_test_numbers_of_pairs():
    def prints(p: Fraction) -> bool:
        return Fraction("3.5e-9") <= p <= Fraction("4.5e-9")

    assert [n for n in range(1, 200) if prints(tail(n, 0))] == [28]
    assert [n for n in range(1, 200) if prints(2 * tail(n, 0))] == [29]
    assert [n for n in range(1, 200) if prints(tail(n, 1))] == [33]


# MemGLU -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layers", "width", "hidden", "printed"),
    [(6, 192, 512, 8_948_160), (10, 384, 1_024, 30_285_696)],
)
def test_parameters(layers, width, hidden, printed):
    shapes = [(32_768, width)]
    for _ in range(layers):
        shapes += [(width, width)] * 4
        shapes += [(width, hidden), (width, hidden), (hidden, width)]
        shapes += [(width,), (width,)]
    shapes.append((width,))
    total = 0
    for shape in shapes:
        size = 1
        for side in shape:
            size *= side
        total += size
    assert total == printed
    assert f"== {printed}" in formal("mem.params")


def test_steps():
    assert divmod(50_000_000, 16_384) == (3_051, 50_000_000 - 3_051 * 16_384)
    assert 50_000_000 % 16_384 != 0
    assert divmod(499_908_608, 131_072) == (3_814, 0)
    assert 3_052 * 16_384 - 50_000_000 == 3_968
    assert isqrt(1_048_576) ** 2 == 1_048_576 == 4_096 * 256 == 2_048 * 512
    assert "3968" in formal("mem.steps.corrected")


@pytest.mark.parametrize(
    ("base", "new", "printed"),
    [
        ("5.726682", "5.720326", "-0.111"),
        ("5.726682", "5.696731", "-0.523"),
        ("3.553958", "3.558291", "0.122"),
    ],
)
def test_relative_differences(base, new, printed):
    assert rounded(100 * (Fraction(new) / Fraction(base) - 1), 3) == Decimal(printed)
    assert f"100*({new}~/{base}~ - 1) == {printed}~" in formal("mem.table1")


def test_final_five_differences():
    five = [
        ("5.732096", "5.725963", "-0.107"),
        ("5.732096", "5.702339", "-0.519"),
        ("3.557468", "3.561710", "0.119"),
    ]
    for base, new, relative in five:
        assert rounded(100 * (Fraction(new) / Fraction(base) - 1), 3) == Decimal(relative)
        assert f"{new}~" in formal("mem.final5")


def test_bounds_on_paired_t():
    # The deviation of the differences lies between difference and sum of the arms' deviations.
    critical = Fraction(722, 39)
    for difference, a, b, reaches, surely in [
        ("0.006356", "0.007679", "0.00236", False, False),
        ("0.004333", "0.000169", "0.00382", False, False),
        ("0.029951", "0.007679", "0.010864", True, False),
    ]:
        d, s, r = Fraction(difference), Fraction(a), Fraction(b)
        assert (3 * d**2 / (s - r) ** 2 >= critical) is reaches
        assert (3 * d**2 / (s + r) ** 2 >= critical) is surely
    # P(|T| <= t) = t/sqrt(2 + t^2) with two degrees of freedom.
    assert critical / (2 + critical) == Fraction("0.95") ** 2


def test_samples_of_paired_losses():
    samples = {
        "5.726682": (("5.719003", "5.726682", "5.734361"), "0.007679"),
        "5.720326": (("5.717966", "5.720326", "5.722686"), "0.002360"),
        "5.696731": (("5.685867", "5.696731", "5.707595"), "0.010864"),
        "3.553958": (("3.553789", "3.553958", "3.554127"), "0.000169"),
        "3.558291": (("3.554471", "3.558291", "3.562111"), "0.003820"),
    }
    for mean, (values, deviation) in samples.items():
        numbers = [Fraction(v) for v in values]
        assert sum(numbers) / 3 == Fraction(mean)
        assert sum((n - Fraction(mean)) ** 2 for n in numbers) / 2 == Fraction(deviation) ** 2
        for value in values:
            assert value in formal("mem.wins")

"""Facts of the literature on rounding, and statements just beside them that are false."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings

HOLD = [
    # Goldberg (1991), Theorem 11, after Sterbenz (1974): y/2 <= x <= 2y makes x - y exact.
    "in bfloat16: for x in [1, 2], y in [1, 2]: fl(x - y) == x - y",
    "in bfloat16: for x in [1, 2], y in [1/2, 4], y/2 <= x <= 2*y: fl(x - y) == x - y",
    # IEEE 754: every operation is that nearest to the exact value.
    "in float16: for x in [1/4, 60000]: abs(fl(1/x) - 1/x) <= ulp/2",
    "in bfloat16: for x in [1, 4]: abs(fl(sqrt(x)) - sqrt(x)) <= ulp/2",
    "in float16: for x in R \\ {0}: fl(x/x) == 1",
    # Boldo (2015): the root of the square is abs(x) in radix 2 without under- and overflow.
    "in float16: for x in [-250, 250], abs(x) >= 1/100: fl(sqrt(x*x)) == abs(x)",
    # Kahan (Goldberg 1991, Theorem 7): m/n*n == m for whole m < 2^(p-1) and n = 2^i + 2^j.
    "in float16: for m in 1..1023: fl(m/5*5) == m",
    "in float16: for m in Z, abs(m) < 1024: fl(m/10*10) == m",
    "in float32: fl(0.1 + 0.2) == fl(0.3)",
    "in float64: fl(0.1 + 0.2) > fl(0.3)",
    # Dekker (1971), Fast2Sum: the error of a sum is exact for abs(a) >= abs(b).
    "in bfloat16: for a in [1, 4], b in [1/8, 1]: fl(a + b) + fl(b - (a + b - a)) == a + b",
    # Handbook of Floating-Point Arithmetic, 4.4: so is that of a product, by one fma.
    "in bfloat16: for a in [1, 2], b in [1, 2]: fl(a*b) + fl(fma(a, b, -(a*b))) == a*b",
    "in bfloat16: for x in R: fl(2*(x/2)) == x or abs(x) < 2**(-125)",
]
FAIL = [
    "in bfloat16: for x in [1, 2], y in [1, 4]: fl(x - y) == x - y",
    "in float16: for x in [1/4, 60000]: abs(fl(1/x) - 1/x) <= 0.499*ulp",
    "in bfloat16: for x in [1, 4]: abs(fl(sqrt(x)) - sqrt(x)) <= 0.49*ulp",
    "in float16: for x in [-250, 250]: fl(sqrt(x*x)) == abs(x)",
    "in float16: for m in 1..1023: fl(m/7*7) == m",
    "in float16: for m in 1..2048: fl(m/5*5) == m",
    "in float32: for m in N, m <= 10**6: fl(m/7*7) == m",
    # Goldberg (1991), 1.4: x*x - y*y may lose all digits, (x - y)*(x + y) does not.
    "in float32: for x in [1, 2], y in [1, 2]: abs(fl(x*x - y*y) - (x*x - y*y)) <= 100*ulp",
    "in float64: fl(0.1 + 0.2) == fl(0.3)",
    "in float32: for a in [1/8, 1], b in [1, 4]: fl(a + b) + fl(b - (a + b - a)) == a + b",
    # Sums are not associative, products by 1/3 are no quotients.
    "in float32: for x in [0, 1], y in [0, 1], z in [0, 1]: fl(x + y + z) == fl(x + (y + z))",
    "in float32: for x in [1, 2]: fl(x/3) == fl(x*(1/3))",
    "in float64: for x in [1, 2], y in [1, 2]: fl((x + y) - x) == y",
    "in bfloat16: for x in R: fl(2*(x/2)) == x or abs(x) < 2**(-126)",
    "in float16: for x in [0, 4]: abs(fl(x*x - 1) - (x*x - 1)) <= 2*ulp",
    "in float32: for x in [0, 4]: abs(fl(x*x - 1) - (x*x - 1)) <= 2*ulp",
    # Numbers have gaps: 2^24 + 1 is none of float32.
    "in float32: for x in [0, 20000000]: fl(x + 1) > x",
]


@pytest.mark.parametrize("formal", HOLD)
def test_what_holds_is_certified(formal):
    found = decide(Reading("x", formal), Settings())
    assert found.verdict == "certified", (found.reason, found.witness)
    assert found.controls.planted == found.controls.caught == 1
    assert found.certificate is not None
    assert verify(dict(found.certificate)).accepted


@pytest.mark.parametrize("formal", FAIL)
def test_what_fails_is_refuted_by_an_exact_point(formal):
    found = decide(Reading("x", formal), Settings())
    assert found.verdict == "refuted", found.reason
    assert found.controls.planted == found.controls.caught == 1
    assert found.certificate is not None
    assert verify(dict(found.certificate)).accepted
    # The certificate is of that point alone, and the other statement fails there.
    for name, value in (found.witness or {}).items():
        assert found.certificate["domain"][name] == {"lo": value, "hi": value}
    statement = found.certificate["claim"]
    turned = statement[1] if statement[0] == "not" else ["and", *statement[1:-1], statement[-1][1]]
    assert not verify({**found.certificate, "claim": turned}).accepted


@pytest.mark.parametrize(
    ("formal", "word"),
    [
        ("in bfloat16: for x in R: fl(x*x) >= 0", "overflows"),
        ("in float32: for x in R: fl(x + x) == 2*x", "overflows"),
        ("in float32: for x in [0, 1]: fl(1/x) >= 1", "division by 0"),
        ("in float32: for x in [-1, 1]: fl(sqrt(x)) >= 0", "negative"),
        # The product underflows to 0 before it is divided by.
        ("in float32: for x in [2**(-80), 1]: fl(x/(x*x)) >= 1", "division by 0"),
        ("in float16: for x in [0, 1], x > 2: fl(x) == x", "vacuous"),
        ("in float16: for x in [1.00001, 1.00002]: fl(x) == x", "vacuous"),
        ("in float32: for x in [0, 1]: fl(x)/x == 1", "division by 0"),
        ("in float16: fl(70000) > 0", "overflows"),
    ],
)
def test_without_a_value_it_is_ill_posed(formal, word):
    found = decide(Reading("x", formal), Settings())
    assert found.verdict == "ill-posed"
    assert word in found.reason


def test_a_witness_of_kahan():
    # 1.5 * 10 = 15 exactly; the first x in [1, 2] with fl(fl(x/3)*3) != x is no small multiple of 1/2.
    found = decide(Reading("x", "in float32: for x in [1, 2]: fl(x/3*3) == x"), Settings())
    assert found.witness is not None
    import numpy as np

    x = np.float32(float(Fraction(found.witness["x"])))
    assert x / np.float32(3) * np.float32(3) != x


def test_given_controls_count():
    reading = Reading(
        "x",
        "in bfloat16: for x in [1, 2]: fl(x/3*3) <= 2",
        controls=("in bfloat16: for x in [1, 2]: fl(x/3*3) <= 1.99", "for x in R: x**2 >= 0"),
    )
    found = decide(reading, Settings())
    assert found.verdict == "inconclusive"
    assert found.controls.missed == ("for x in R: x**2 >= 0",)

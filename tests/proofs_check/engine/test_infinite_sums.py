"""Sums up to oo: enclosed by their tails, infinite, without a value; limits of sums; sums of sums.

Values: zeta(2) = pi**2/6, zeta(3/2) = 2.612375..., zeta(4) = pi**4/90 (DLMF 25.6.1), the others by
mpmath's nsum to 20 digits.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest

from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.engine import decide, sum_certificates
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.sum_certificates import sum_certificate
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula import expand_node, parse_expr
from gateproof.theory.formula.nodes import Series


def verdict(formal: str) -> str:
    return decide(Reading("x", formal), Settings()).verdict


@pytest.mark.parametrize(
    "formal",
    [
        "1.6449 < sum(1/k**2, k in 1..oo) < 1.6450",
        "2.612 < sum(k**(-3/2), k in 1..oo) < 2.613",
        "0.604 < -sum((-1)**k/sqrt(k), k in 1..oo) < 0.605",
        "0.59283 < sum(0.5**k*sin(k), k in 1..oo) < 0.59284",
        "1.0130 < sum(sin(k)/k**2, k in 1..oo) < 1.0150",
        "2.0766 < sum(1/(k**2 + 1), k in 0..oo) < 2.0767",
        "sum(1/k**2, k in 1..oo) == pi**2/6",
        "sum(1/(k + 1)**2, k in 2..oo) == pi**2/6 - 5/4",
        "sum((-1)**k/(k + 1)**2, k in 0..oo) == pi**2/12",
        "sum((-1)**(k + 1)/k, k in 1..oo) == log(2)",
        "sum((-1)**k/(2*k + 1), k in 0..oo) == pi/4",
        "sum(1/(k*(k + 2)), k in 1..oo) == 3/4",
        "sum(1/((2*k - 1)*(2*k + 1)), k in 1..oo) == 1/2",
        "sum(1/k, k in 1..oo) == oo",
        "sum(1/(k*log(k)), k in 2..oo) == oo",
        "sum(-1/sqrt(k), k in 1..oo) == -oo",
        "sum(1/k**2, k in 1..oo) + sum(1/k**3, k in 1..oo) > 2.84",
        "limit(sum(1/k**2, k in 1..n), n, oo) == pi**2/6",
        "limit(sum(k, k in 1..n)/n**2, n, oo) == 1/2",
        "sum(sum(j, j in 1..i), i in 1..4) == 20",
        "sum(gauss(z**2, z, q=k), k in 1..3) == 6",
    ],
)
def test_true_sums_hold(formal: str) -> None:
    assert verdict(formal) in ("proved", "certified")


@pytest.mark.parametrize(
    "formal",
    [
        "sum(1/k**2, k in 1..oo) > 1.64494",
        "sum(1/k**4, k in 1..oo) == pi**4/91",
        "sum((-1)**k/k**2, k in 1..oo) == pi**2/12",
        "sum((-1)**k/(2*k + 1), k in 1..oo) == pi/4",
        "sum(1/k, k in 1..oo) < oo",
        "sum(1/k, k in 1..oo) < 100",
        "sum(2**k, k in 0..oo) == -1",
        "limit(sum(k, k in 1..n)/n**2, n, oo) == 1",
        "sum(sum(j, j in 1..i), i in 1..4) == 21",
    ],
)
def test_false_sums_fail(formal: str) -> None:
    assert verdict(formal) == "refuted"


@pytest.mark.parametrize(
    "formal",
    [
        "sum((-1)**k, k in 0..oo) == 1/2",
        "sum((-1)**k*k, k in 0..oo) == oo",
        "sum((-1)**k*k/(k + 1), k in 0..oo) < 1",
        "sum((-2)**k, k in 0..oo) == 1/3",
        "sum(1/k, k in 0..oo) == oo",
        "limit(sum((-1)**k, k in 1..n), n, oo) == 0",
    ],
)
def test_sums_without_a_value_are_ill_posed(formal: str) -> None:
    assert verdict(formal) == "ill-posed"


@pytest.mark.parametrize(
    "formal",
    [
        # The term at 500 lies far behind those that are looked at: nothing may be said of the size.
        "sum(where(k == 500, 100, 1/k**2), k in 1..oo) < 2",
        "sum(1/k**2 + 100*(1 - sign(k - 500)**2), k in 1..oo) < 2",
    ],
)
def test_a_term_out_of_line_is_not_overlooked(formal: str) -> None:
    assert verdict(formal) in ("inconclusive", "refuted")


@pytest.mark.parametrize(
    "formal",
    [
        "for n in N1: sum(1/k**2, k in 1..n) < pi**2/6",
        "for n in N1: log(n + 1) < sum(1/k, k in 1..n) <= 1 + log(n)",
        "for n in N1: 2*sqrt(n + 1) - 2 <= sum(1/sqrt(k), k in 1..n) < 2*sqrt(n)",
        "for n in N1: sum(sqrt(k), k in 1..n) >= 2*n**(3/2)/3",
        "for n in N1: -2 < sum(-1/k**2, k in 1..n) <= -1",
    ],
)
def test_bounds_of_partial_sums_hold(formal: str) -> None:
    assert verdict(formal) in ("proved", "certified")


@pytest.mark.parametrize(
    "formal",
    [
        "for n in N1: sum(1/k**2, k in 1..n) < 1.6449",
        "for n in N1: sum(1/k, k in 1..n) < 30",
        "for n in N1: sum(1/k, k in 1..n) < 1 + log(n)",
        # The sum without log(n) falls to Euler's 0.5772, so at n = 1 it is 1.
        "for n in N1: sum(1/k, k in 1..n) <= 0.99 + log(n)",
        "for n in N1: sum(sqrt(k), k in 1..n) <= 2*n**(3/2)/3",
    ],
)
def test_bounds_of_partial_sums_fail(formal: str) -> None:
    assert verdict(formal) == "refuted"


#: Sums and, from mpmath, their values.
VALUES = {
    "sum(1/(k**2 + 1), k in 0..oo)": lambda: (1 + mp.pi * mp.coth(mp.pi)) / 2,
    "sum(-sech(k), k in 1..oo)": lambda: -mp.nsum(mp.sech, [1, mp.inf]),
    "sum((-1)**k/(k**2 + 3), k in 0..oo)": lambda: mp.nsum(
        lambda k: (-1) ** int(k) / (k**2 + 3), [0, mp.inf]
    ),
    "sum(k**(-3/2), k in 1..oo)": lambda: mp.zeta(mp.mpf(3) / 2),
    "sum((-1)**k/sqrt(k), k in 1..oo)": lambda: -mp.altzeta(mp.mpf(1) / 2),
    "sum(sin(k)/k**2, k in 1..oo)": lambda: mp.im(mp.polylog(2, mp.expj(1))),
}


@pytest.mark.parametrize("text", VALUES)
@pytest.mark.parametrize("width", [Fraction(1, 20), Fraction(1, 1000)])
def test_certificates_hold_the_sums(text: str, width: Fraction) -> None:
    node = expand_node(parse_expr(text))
    assert isinstance(node, Series)
    found = sum_certificate(node, width, Context(Settings()))
    if found is None:
        # 3 digits of a series without signs take more terms than are written out.
        assert "sin" in text
        assert width < Fraction(1, 100)
        return
    parts, (low, high) = found
    assert all(verify(part).accepted for part in parts)
    assert high - low <= width
    with mp.workdps(20):
        right = VALUES[text]()
        assert mp.mpf(low.numerator) / low.denominator <= right <= mp.mpf(high.numerator) / high.denominator


@pytest.mark.parametrize(
    ("formal", "wanted"),
    [
        ("sum(1/(k**2 + 1), k in 0..oo) < 2.077", "certified"),
        ("sum(-sech(k), k in 1..oo) > -1", "refuted"),
        ("for n in N1: sum(1/k**2, k in 1..n) < 1.644", "refuted"),
    ],
)
def test_enclosed_sums_leave_certificates(formal: str, wanted: str) -> None:
    found = decide(Reading("x", formal), Settings())
    assert found.verdict == wanted
    assert "mpfr" in found.trust
    assert found.certificate is not None
    assert verify(dict(found.certificate)).accepted


def test_without_an_accepted_certificate_no_trust_in_mpfr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sum_certificates, "accept", lambda document: "no")
    found = decide(Reading("x", "sum(1/(k**2 + 1), k in 0..oo) < 2.077"), Settings())
    assert found.verdict == "certified"
    assert "mpfr" not in found.trust
    assert found.certificate is None

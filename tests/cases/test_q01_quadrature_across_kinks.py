"""Q01: mpmath#535, #343, #650, QuadGK.jl#26: quadrature across kinks and steep gates, errors too small."""

from __future__ import annotations

import json
from decimal import Decimal, localcontext
from fractions import Fraction

import mpmath as mp
import pytest
from deciding import verdict

from gateproof.numerics.kinked_certificate import total
from gateproof.proofs_check import api
from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.cli import main

DIGITS = 25
A = "0.3"


def bell(k: int, z: mp.mpf) -> mp.mpf:
    """The k-th derivative of the normal density: (-1)^k He_k(z) phi(z)."""
    below, he = mp.mpf(0), mp.mpf(1)
    for n in range(k):
        below, he = he, z * he - n * below
    return (-1) ** k * he * mp.npdf(z)


def steep(k: int) -> mp.mpf:
    """E sigma(k (Z - a)): its part beside P(Z > a) is -2 sum over odd m of phi^(m)(a) eta(m + 1)/k^(m + 1).

    sigma(k t) - 1[t > 0] is odd, and its integral with t^m over t > 0 is -m! eta(m + 1)/k^(m + 1); the
    series is asymptotic, its terms fall by k^-2.
    """
    a = mp.mpf(A)
    return mp.ncdf(-a) - 2 * mp.fsum(
        bell(m, a) * mp.altzeta(m + 1) / mp.mpf(k) ** (m + 1) for m in (1, 3, 5, 7, 9)
    )


# What is asked, its exact mathematics, and the value as the case lists it.
MEANS = {
    "square of a relu": (
        "gauss(relu(z - 0.3)**2, z, q=1)",
        lambda: (1 + mp.mpf(A) ** 2) * mp.ncdf(-mp.mpf(A)) - mp.mpf(A) * mp.npdf(mp.mpf(A)),
        "0.302060205175884399653474277346",
    ),
    "step": (
        "gauss(where(z > 0.3, 1, 0), z, q=1)",
        lambda: mp.erfc(mp.mpf(A) / mp.sqrt(2)) / 2,
        "0.382088577811047362693471036879",
    ),
    "steep gate": ("gauss(sigmoid(1000*(z - 0.3)), z, q=1)", lambda: steep(1000), "0.382088766018"),
    "sign": ("integrate(sign(t), t, -0.5, 1)", lambda: mp.mpf("0.5"), "0.5"),
    "sign, split at 0.9": (
        "integrate(sign(t), t, -0.5, 0.9) + integrate(sign(t), t, 0.9, 1)",
        lambda: mp.mpf("0.5"),
        "0.5",
    ),
}


def exactly(name: str) -> Decimal:
    """The value to 40 digits."""
    with mp.workdps(60):
        return Decimal(mp.nstr(MEANS[name][1](), 40, strip_zeros=False))


@pytest.mark.parametrize("name", MEANS)
def test_the_closed_forms_are_the_published_values(name):
    with localcontext() as context:
        context.prec = 60
        published = Decimal(MEANS[name][2])
        assert abs(exactly(name) - published) <= Decimal(1).scaleb(published.as_tuple().exponent) * Decimal(
            "0.6"
        )


@pytest.mark.parametrize("name", MEANS)
def test_certify(name, capsys):
    assert main(["certify", MEANS[name][0], "--digits", str(DIGITS), "--json", "-j", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    right = exactly(name)
    with localcontext() as context:
        context.prec = 60
        assert Decimal(found["value"]["lo"]) <= right <= Decimal(found["value"]["hi"])
        assert Decimal(found["value"]["hi"]) - Decimal(found["value"]["lo"]) <= right * Decimal(10) ** (
            1 - DIGITS
        )
    assert found["digits"] == DIGITS


@pytest.mark.parametrize("name", [n for n in MEANS if "split" not in n])
def test_the_checker_follows_to_twenty_digits(name):
    document = api.certify(MEANS[name][0], 20)["certificate"]
    found = verify(document)
    assert found.accepted, found.reason
    low, high = total(document.get("parts", [document]))
    right = Fraction(exactly(name))
    assert low - Fraction(1, 10**39) <= right <= high + Fraction(1, 10**39)
    assert high - low < right / 10**19


@pytest.mark.parametrize("name", MEANS)
def test_statements_one_unit_in_the_twentieth_digit_apart(name):
    text, unit = MEANS[name][0], Decimal(10) ** -20
    with localcontext() as context:
        context.prec = 60
        below, above = exactly(name) - unit, exactly(name) + unit
    assert verdict(f"{below} < {text} < {above}").verdict in ("proved", "certified")
    assert verdict(f"{text} > {above}").verdict == "refuted"
    assert verdict(f"{text} < {below}").verdict == "refuted"


def test_a_steep_gate_is_no_step():
    # mpmath took one for the other: they differ in the 7th digit.
    assert (
        verdict("gauss(sigmoid(1000*(z - 0.3)), z, q=1) == gauss(where(z > 0.3, 1, 0), z, q=1)").verdict
        == "refuted"
    )

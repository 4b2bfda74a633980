"""Errors certified up to ends where the target is singular, against mpmath close to them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest

import gateproof
from gateproof.numerics.fits.certified import certified_error
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula.nodes import Num

LOG, E = mpmath.log, mpmath.e
CASES = [
    ("x*log(x)", "(0, 1]", lambda x: x * LOG(x)),
    ("x*log(x)**2", "(0, 1]", lambda x: x * LOG(x) ** 2),
    ("x**x", "(0, 1]", lambda x: x**x),
    ("x**x", "[0, 1]", lambda x: x**x),
    ("sqrt(x)*log(x)", "(0, 1]", lambda x: mpmath.sqrt(x) * LOG(x)),
    ("-x*log(x) - (1 - x)*log(1 - x)", "(0, 1)", lambda x: -x * LOG(x) - (1 - x) * LOG(1 - x)),
    ("exp(-1/x)", "(0, 1]", lambda x: mpmath.exp(-1 / x)),
    ("sqrt(x)", "[0, 1]", mpmath.sqrt),
    ("1/x", "[1, oo)", lambda x: 1 / x),
    ("log(x)", "[0.5, 4]", LOG),
    ("(x - 3)*log(x - 3)/100", "(3, 100]", lambda x: (x - 3) * LOG(x - 3) / 100),
    ("where(x > 0, x*log(x), 0)", "[-1, 1]", lambda x: x * LOG(x) if x > 0 else mpmath.mpf(0)),
]


def gate(found, x):
    """The gate at x in mpmath, from the printed numbers."""
    tau, theta, slope, intercept = (
        [None if t == "oo" else mpmath.mpf(Fraction(t).numerator) / Fraction(t).denominator for t in values]
        for values in (found.to_json()[n] for n in ("tau", "theta", "slope", "intercept"))
    )
    above = [
        (mpmath.mpf(int(x > h)) if t is None else 1 / (1 + mpmath.exp(-t * (x - h))))
        for t, h in zip(tau, theta, strict=True)
    ]
    steps = [1, *above, 0]
    return sum((steps[k] - steps[k + 1]) * (slope[k] * x + intercept[k]) for k in range(len(slope)))


def places(domain):
    """Points that crowd towards both ends."""
    lo, hi = (e.strip() for e in domain[1:-1].split(","))
    a = mpmath.mpf(lo)
    b = a + 1000 if hi == "oo" else mpmath.mpf(hi)
    close = [mpmath.mpf(10) ** (-mpmath.mpf(k) / 40) for k in range(1, 900)]
    even = [a + (b - a) * k / 600 for k in range(1, 600)]
    ends = [e for e, inside in ((a, domain[0] == "["), (b, domain[-1] == "]" or hi == "oo")) if inside]
    return [*ends, *even, *(a + (b - a) / 2 * c for c in close), *(b - (b - a) / 2 * c for c in close)]


@pytest.mark.parametrize("sharpness", ["shared", "hard"])
@pytest.mark.parametrize(("text", "domain", "function"), CASES, ids=[f"{c[0]} {c[1]}" for c in CASES])
def test_the_certified_error_is_that_of_mpmath(text, domain, function, sharpness):
    found = gateproof.fit(text, 2, domain=domain, sharpness=sharpness)
    assert found.error.evidence == "certified", found.message
    assert verify(found.certificate).accepted
    with mpmath.workdps(40):
        seen = max(abs(gate(found, x) - function(x)) for x in places(domain))
        lo, hi = (mpmath.mpf(v.numerator) / v.denominator for v in (found.error.lo, found.error.hi))
        assert seen <= hi
        assert lo <= hi <= lo * (1 + mpmath.mpf(10) ** -8)
        assert seen >= lo * (1 - mpmath.mpf(10) ** -3)


@pytest.mark.parametrize("sharpness", ["shared", "hard"])
def test_a_gate_that_is_off_beside_the_end_is_seen_to_be(sharpness):
    found = gateproof.fit("x*log(x)", 2, domain="(0, 1]", sharpness=sharpness)
    first = found.gate.intercept[0]
    moved = replace(found.gate, intercept=(Num(first.value + 1), *found.gate.intercept[1:]))
    known = certified_error(
        moved, found.target.expr, found.target.lo, found.target.hi, left_out=(True, False)
    )
    assert not isinstance(known, str)
    assert known.lo > found.error.hi
    with mpmath.workdps(30):
        near = abs(gate(replace(found, gate=moved), mpmath.mpf("1e-30")))
        assert near <= mpmath.mpf(known.hi.numerator) / known.hi.denominator


def test_the_domain_is_the_one_that_was_given():
    found = gateproof.fit("x*log(x)", 2, domain="(0, 1]", sharpness="hard")
    document = found.to_json()
    assert (document["target"], document["domain"]) == ("x*log(x)", "(0, 1]")
    assert gateproof.fit("gelu(x)", 2, domain="(-1, 1)").to_json()["domain"] == "(-1, 1)"
    assert gateproof.fit("gelu(x)", 2, domain="(-1, oo)").to_json()["domain"] == "(-1, oo)"
    assert gateproof.fit("gelu(x)", 2, domain=(-1, 1)).to_json()["domain"] == "[-1, 1]"


def test_a_function_without_a_finite_limit_is_refused():
    with pytest.raises(gateproof.RefusedError, match="unbounded at x = 0"):
        gateproof.fit("log(x)", 2, domain="(0, 1]")
    with pytest.raises(gateproof.RefusedError, match="no value"):
        gateproof.fit("x*log(x)", 2, domain="[0, 1]")

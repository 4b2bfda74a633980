"""Statements with integrals and normal means; which is true is known from calculus and from mpmath."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading

#: E abs(u) = 0.0050055974047.., E u^2 = 4.7710036784990e-5 with u = x sigmoid(1.702 x) - gelu(x) (mpmath).
GAP = "(x*sigmoid(1.702*x) - gelu(x))"
PROVED = [
    "for x in R: integrate(s**2, s, 0, x) == x**3/3",
    "for x in R: integrate(abs(s), s, 0, x) == x*abs(x)/2",
    "for x > 0: integrate(1/s, s, 1, x) == log(x)",
    "for x in R: integrate(exp(s), s, 0, x) >= x",
    "integrate(sin(x)**2, x, 0, pi) == pi/2",
    "integrate(exp(-x)*sin(x), x, 0, oo) == 1/2",
    "integrate(x**(-3/2), x, 0, 1) == oo",
    # Between a name and infinity nothing on the name's other side counts.
    "for z > 0: integrate(1/x**2, x, z, oo) == 1/z",
    "for z < 0: integrate(1/x**2, x, -oo, z) == -1/z",
    "for z > 0: integrate(1/(2*x + 3)**4, x, z, oo) == 1/(6*(2*z + 3)**3)",
    "gauss(where(z == 1, 100, z**2), z, q=1) == 1",
    "gauss(log(z), z, q=0, mean=1) == 0",
    "for q in [0, 1]: gauss(relu(z)**2, z, q=q) == q/2",
    "for m in R, q > 0: gauss(exp(z), z, q=q, mean=m) == exp(m + q/2)",
    "for q in (0, 1/2): gauss(exp(z**2), z, q=q) == 1/sqrt(1 - 2*q)",
    "for q >= 0: gauss(gelu(z), z, q=q) == q/sqrt(2*pi*(1 + q))",
    "for c in [-1, 1], q > 0: gauss2(gelu(u)*v, u, v, q=q, c=c) == q*c/2",
    "gauss2(tanh(u)*tanh(v), u, v, q=1, c=0) == 0",
    "increasing(gauss(relu(z)**2, z, q=q), q > 0)",
]
CERTIFIED = [
    f"0.0050055974 < gauss(abs{GAP}, x, q=1) < 0.0050055975",
    f"0.0000477100 < gauss({GAP}**2, x, q=1) < 0.0000477101",
    "integrate(exp(-s**3), s, 0, oo) < 0.89298",
    "gauss(exp(z**2), z, q=1) == oo",
    "gauss(tanh(z)**2, z, q=1) == 0.39429449039784~",
    "sup(gauss(relu(z)**2, z, q=q), q in [1, 2]) == 1",
    "for q in [1/10, 1]: gauss(tanh(z)**2, z, q=q) >= q/3",
]
REFUTED = [
    "for x in [1, 2]: integrate(s**2, s, 0, x) == x**3/3 + 1",
    "for x in R: integrate(exp(s**2), s, 0, x) == exp(x**2)",
    "for x in R: integrate(1/(1 + s**2), s, 0, x) == atan(x) + 1/10**12",
    "for x in R: integrate(abs(s), s, 0, x) == x**2/2",
    "for z > 0: integrate(1/x**2, x, z, oo) == 2/z",
    "integrate(exp(-s**3), s, 0, oo) < 0.89297",
    "integrate(x**(-3/2), x, 0, 1) == -2",
    "for q > 0: gauss(silu(z), z, q=q) == 0",
    "for m in R, q > 0: gauss(exp(z), z, q=q, mean=m) == exp(m + q)",
    f"sqrt(gauss({GAP}**2, x, q=1)) <= 0.003",
    f"gauss(abs{GAP}, x, q=1) <= 0.003",
    "gauss(tanh(z)**2, z, q=1) == 0.394294490397842",
    "for q in [1/10, 4]: gauss(tanh(z)**2, z, q=q) <= 0.63",
    "gauss2(relu(u)*relu(v), u, v, q=1, c=1/2) == 1/4",
]
ILL_POSED = [
    "for x in R: integrate(1/s, s, 1, x) == log(x)",
    "for z > -1: integrate(1/x**2, x, z, oo) == 1/z",
    "for z < 1: integrate(1/x**2, x, -oo, z) == -1/z",
    "integrate(1/x**2, x, -1, 1) == -2",
    "integrate(1/(x - pi), x, 0, 4) == 0",
    "integrate(x, x, -oo, oo) == 0",
    "integrate(x - 1/x, x, 0, oo) == oo",
    "integrate(sin(x), x, 0, oo) == 1",
    "gauss(sqrt(z), z, q=1) > 0",
    "gauss(log(z), z, q=0, mean=-1) == 0",
    "gauss(z*exp(z**2), z, q=1) == 0",
    "gauss(diff(relu(z), z)**2, z, q=1) == 1/2",
    "for q in R: gauss(z**2, z, q=q) == q",
    "for c in [-2, 2]: gauss2(u*v, u, v, q=1, c=c) == c",
]
UNDECIDED = [
    "integrate(x**2*sech(x)**2, x, -oo, oo) == pi**2/6",  # true: no closed form is known here
    "integrate(sin(x)/x, x, 1, oo) < 1",
    "gauss(where(z == 0, 0, 1/z), z, q=1) == 0",
    "limit(gauss(tanh(z)**2, z, q=q), q, 0) == 0",
    "integrate(1/x, x, 1, oo) + 1 == oo",
    "for x in N: integrate(s, s, 0, x) == x**2/2 + sin(pi*x)",
]


def outcome(text: str) -> tuple[str, str]:
    found = decide(Reading("t", text))
    return found.verdict, found.reason


@pytest.mark.parametrize("text", PROVED)
def test_proved(text: str) -> None:
    assert outcome(text)[0] == "proved", outcome(text)


@pytest.mark.parametrize("text", CERTIFIED)
def test_certified(text: str) -> None:
    assert outcome(text)[0] == "certified", outcome(text)


@pytest.mark.parametrize("text", REFUTED)
def test_refuted(text: str) -> None:
    assert outcome(text)[0] == "refuted", outcome(text)


@pytest.mark.parametrize("text", ILL_POSED)
def test_ill_posed(text: str) -> None:
    assert outcome(text)[0] == "ill-posed", outcome(text)


@pytest.mark.parametrize("text", UNDECIDED)
def test_undecided_with_a_reason(text: str) -> None:
    verdict, reason = outcome(text)
    assert verdict == "inconclusive"
    assert reason


def test_equality_says_how_far_it_agrees() -> None:
    assert outcome(UNDECIDED[0])[1] == "agree to 50 digits"


def test_certificates_are_accepted_and_are_of_integrals() -> None:
    found = decide(Reading("t", f"sqrt(gauss({GAP}**2, x, q=1)) <= 0.003"))
    assert found.trust == ("arb", "mpfr")
    assert found.certificate is not None
    assert found.certificate["kind"] == "integral"
    assert verify(dict(found.certificate)).accepted
    both = decide(
        Reading("t", "gauss(tanh(z)**2, z, q=1) < gauss(erf(z)**2*sech(z)**2 + 1/10, z, q=1) + 1/5")
    )
    assert both.certificate is not None
    assert verify(dict(both.certificate)).accepted

"""Statements on special functions: published identities, tables, near misses, and points without a value.

Right values: DLMF (dlmf.nist.gov) where its number is given, else mpmath at 30 digits.
"""

from __future__ import annotations

import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings

TRUE = [
    "for x in R, x > 0: gamma(x + 1) == x*gamma(x)",  # 5.5.1
    "for x in (0, 1): gamma(x)*gamma(1 - x) == pi/sin(pi*x)",  # 5.5.3
    "for x in R, x > 0: gamma(x)*gamma(x + 1/2) == 2**(1 - 2*x)*sqrt(pi)*gamma(2*x)",  # 5.5.5
    "for x in R, x > 0: loggamma(x + 1) == log(x) + loggamma(x)",
    "for x in R, x > 0: digamma(x + 1) == digamma(x) + 1/x",  # 5.5.2
    "for x in R, x > 0: diff(loggamma(x), x) == digamma(x)",
    "gamma(5) == 24",
    "gamma(-3/2) == 4*sqrt(pi)/3",
    "gamma(1/3)*gamma(2/3) == 2*pi/sqrt(3)",
    "digamma(1/2) == digamma(1) - 2*log(2)",  # 5.4.13
    "polygamma(1, 1/2) == pi**2/2",  # 5.15.3
    "beta(2, 3) == 1/12",
    "zeta(4) == pi**4/90",
    "zeta(-1) == -1/12",
    "zeta(0) == -1/2",
    "lambertw(e) == 1",
    "for x in [-1, oo): lambertw(x*exp(x)) == x",  # 4.13.1
    "at(diff(lambertw(x), x), x=0) == 1",
    "taylor(lambertw(x), x, 0, 3) == x - x**2 + 3*x**3/2",  # 4.13.5
    "for x in R: x*(besselj(0, x) + besselj(2, x)) == 2*besselj(1, x)",  # 10.6.1
    "for x in R: diff(besselj(0, x), x) == -besselj(1, x)",  # 10.6.3
    "for x in R, x > 0: besselk(1/2, x) == sqrt(pi/(2*x))*exp(-x)",  # 10.39.2
    "for x in R, x > 0: besselk(2, x) - besselk(0, x) == 2/x*besselk(1, x)",  # 10.29.1
    "for x in R, x > 0: besseli(0, x) - besseli(2, x) == 2/x*besseli(1, x)",
    "even(besselj(0, x), x in R)",
    "for x in R: diff(airyai(x), x, 2) == x*airyai(x)",  # 9.2.1
    "taylor(si(x), x, 0, 3) == x - x**3/18",  # 6.6.5
    "at(diff(si(x), x, 3), x=0) == -1/3",
    "elliptick(0) == pi/2",
    "elliptice(1) == 1",
    "for n in 1..5: gamma(n + 1) == n*gamma(n)",
    "gamma(1/4) == 3.625609908221908~",
    "zeta(3) == 1.202056903159594~",
    "lambertw(1) == 0.567143290409784~",
    "airyai(0) == 0.355028053887817~",
    "elliptick(1/2) == 1.854074677301372~",
    "li(2) == 1.045163780117493~",
    "zeros(besselj(0, x), x in [0, 5]) == 2.404825557695773~",
    "inf(gamma(x), x in [1, 2]) == 0.885603194410889~",  # 5.4.20
    "sup(besselj(1, x), x in [1, 3]) <= 0.5818652243",
    "integrate(besselj(0, x), x, 0, 1) == 0.919730410089760~",
    "logistic(z**2, z) == pi**2/3",
    "uniform(gamma(z), z, 1, 2) == 0.92274595~",
    "for x in R, x > 0: gamma(x) > 0",
    "for x in R, x > 0: exp(loggamma(x)) == gamma(x)",
    "for x in R, x > 0: polygamma(1, x) > 0",
    "for x in R, x > 0: besselk(1, x) > 0",
    "for x in R: abs(besselj(0, x)) <= 1",  # 10.14.1
    "for x in [-exp(-1), oo): lambertw(x)*exp(lambertw(x)) == x",
    "for x in [-exp(-1), oo): lambertw(x) >= -1",
    "for x in R, y > 0, x > y: lambertw(x) > lambertw(y)",
    "for gamma > 0, zeta in R: gamma*zeta**2 >= 0",
]
FALSE = [
    "for x in R, x > 0: gamma(x + 1) == (x + 1)*gamma(x)",
    "for x in [1, 2]: gamma(x) >= 0.89",
    "for x in R: diff(besselj(0, x), x) == besselj(1, x)",
    "at(diff(si(x), x, 3), x=0) == 0",
    "zeta(3) == 1.202056903159595~",
    "elliptick(1/2) == 1.685750354812596~",  # that of the modulus k = 1/2
    "besselj(0, 2.404825557695773) == 0",
    "polygamma(1, 3) == pi**2/6 - 1/4",
    "digamma(1) == 0",
    "for x in R, x > 0: gamma(x) > 1",
    "for x in [-exp(-1), oo): lambertw(x)*exp(lambertw(x)) == 1000001*x/1000000",
    "for x in [-exp(-1), oo): lambertw(x) >= 0",
    "for x in R: abs(besselj(1, x)) <= 1/2",
    "lambertw(1) == 0.567143290409785~",
    "differentiable(besselj(1/2, x), x in [0, 1])",
    "defined(lambertw(x), x in [-1, 1])",
    "logistic(z**2, z) == pi**2/4",
    "for s > 0: logistic(z**2, z, scale=s) == pi**2*s/3",
    "uniform(z**2, z, 0, 1) == 1/2",
]
NO_VALUE = [
    "gamma(0) > 0",
    "gamma(-1) == 0",
    "for x in R: gamma(x + 1) == x*gamma(x)",
    "digamma(-2) > 0",
    "loggamma(-1/2) > 0",
    "zeta(1) > 0",
    "for x in [0, 2]: zeta(x) < 10 or zeta(x) >= 10",
    "lambertw(-1) == -1",
    "besselk(0, 0) > 0",
    "bessely(0, 0) < 0",
    "elliptick(1) > 0",
    "ei(0) < 0",
    "li(1) < 0",
    "ci(0) < 0",
    "zeros(exp(gamma(x)), x in [-1, 2]) == {}",
    "integrate(ei(x), x, -1, 1) < 0",
]


def verdict(text: str) -> str:
    decision = decide(Reading("special", text), Settings())
    assert "fault" not in decision.reason
    return decision.verdict


@pytest.mark.parametrize("text", TRUE)
def test_true(text):
    assert verdict(text) in ("proved", "certified")


@pytest.mark.parametrize("text", FALSE)
def test_false(text):
    assert verdict(text) == "refuted"


@pytest.mark.parametrize("text", NO_VALUE)
def test_no_value(text):
    assert verdict(text) == "ill-posed"


# True, and beyond the methods: never refuted, and no fault of the engine.
@pytest.mark.parametrize(
    "text",
    [
        "lambertw(-exp(-1)) == -1",
        "limit(gamma(x), x, oo) == oo",
        "for x in [2, 3]: zetaderiv(1, x) < 0",
        "for nu > 0: besselj(nu, 1) > 0",
        "elliptick(1/2) == gamma(1/4)**2/(4*sqrt(pi))",
        "sup(lambertw(x), x in [-exp(-1), 0]) == 0",
    ],
)
def test_open_questions_stay_open_or_hold(text):
    assert verdict(text) in ("proved", "certified", "inconclusive")

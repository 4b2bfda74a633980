"""Sums over all places of a vector of any length: textbook inequalities, and what is off by little."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.api import decide_text
from gateproof.proofs_check.checker.check import verify

Z = "for n in N1, z in R**n:"
TRUE = [
    f"{Z} sum(z[k], k in 1..n)**2 <= n*sum(z[k]**2, k in 1..n)",
    f"{Z} min(z[k], k in 1..n) <= sum(softmax(z, k)*z[k], k in 1..n)",
    f"{Z} sum(softmax(z, k)*z[k], k in 1..n) <= max(z[k], k in 1..n)",
    f"{Z} abs(sum(z[k], k in 1..n)) <= sum(abs(z[k]), k in 1..n)",
    f"{Z} n*min(z[k], k in 1..n) <= sum(z[k], k in 1..n)",
    f"{Z} sum(z[k], k in 1..n) <= n*max(z[k], k in 1..n)",
    f"{Z} 1/n <= sum(softmax(z, k)**2, k in 1..n)",
    f"{Z} sum(softmax(z, k)**2, k in 1..n) <= 1",
    f"{Z} sum(tanh(z[k]), k in 1..n) <= sum(abs(z[k]), k in 1..n)",
    f"{Z} sum(softplus(z[k]), k in 1..n) <= sum(relu(z[k]), k in 1..n) + n*log(2)",
    f"{Z} sum(exp(z[k]), k in 1..n) >= n + sum(z[k], k in 1..n)",
    f"{Z} sum(relu(z[k]), k in 1..n) - sum(relu(-z[k]), k in 1..n) == sum(z[k], k in 1..n)",
    "for n in N1, z in [0, oo)**n: sum(z[k]**2, k in 1..n) <= sum(z[k], k in 1..n)**2",
    "for n in N1, z in R**n, c > 0: sum(abs(c*z[k]), k in 1..n) == c*sum(abs(z[k]), k in 1..n)",
]
FALSE = [
    f"{Z} sum(z[k], k in 1..n)**2 <= sum(z[k]**2, k in 1..n)",
    f"{Z} sum(z[k], k in 1..n)**2 <= (n - 1/100)*sum(z[k]**2, k in 1..n)",
    f"{Z} sum(softmax(z, k)*z[k], k in 1..n) < max(z[k], k in 1..n)",
    f"{Z} sum(abs(z[k]), k in 1..n) <= abs(sum(z[k], k in 1..n))",
    f"{Z} sum(z[k], k in 1..n) <= max(z[k], k in 1..n)",
    f"{Z} sum(softmax(z, k)**2, k in 1..n) > 1/n",
    f"{Z} sum(softmax(z, k)**2, k in 1..n) < 1",
    f"{Z} sum(softplus(z[k]), k in 1..n) <= sum(relu(z[k]), k in 1..n) + 0.69*n",
    f"{Z} sum(exp(z[k]), k in 1..n) > n + sum(z[k], k in 1..n)",
    f"{Z} sum(z[k]**2, k in 1..n) <= sum(z[k], k in 1..n)**2",
    f"{Z} sum(z[k]**2, k in 1..n) <= n*max(z[k], k in 1..n)**2",
    f"{Z} sum(relu(z[k]), k in 1..n) == sum(z[k], k in 1..n)",
]


@pytest.mark.parametrize("text", TRUE)
def test_what_holds(text: str) -> None:
    assert decide_text(text).verdict in ("proved", "certified")


@pytest.mark.parametrize("text", FALSE)
def test_what_fails(text: str) -> None:
    assert decide_text(text).verdict == "refuted"


@pytest.mark.parametrize(
    "text",
    [
        f"{Z} sum(1/z[k], k in 1..n) == sum(1/z[k], k in 1..n)",
        f"{Z} sum(log(z[k]), k in 1..n) <= sum(z[k], k in 1..n)",
        "for n in N1, z in R**n, c in R: sum(z[k], k in 1..n)/c == sum(z[k]/c, k in 1..n)",
    ],
)
def test_terms_without_a_value_show_nothing(text: str) -> None:
    assert decide_text(text).verdict in ("ill-posed", "inconclusive")


def test_the_certificate_of_the_terms_is_accepted() -> None:
    found = decide_text(f"{Z} sum(tanh(z[k]), k in 1..n) <= sum(abs(z[k]), k in 1..n)")
    if found.verdict == "certified":
        assert found.certificate is not None
        assert verify(dict(found.certificate)).accepted

"""Sums and products up to a symbolic n: textbook closed forms and bounds, and what is off by little."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.api import decide_text

TRUE = [
    "for n in N1: sum(k**4, k in 1..n) == n*(n + 1)*(2*n + 1)*(3*n**2 + 3*n - 1)/30",
    "for n in N1: sum(k**5, k in 1..n) == n**2*(n + 1)**2*(2*n**2 + 2*n - 1)/12",
    "for n in N1: sum(k**6, k in 1..n) == n*(n + 1)*(2*n + 1)*(3*n**4 + 6*n**3 - 3*n + 1)/42",
    "for n in N, q in R, q != 1: sum(q**k, k in 0..n) == (1 - q**(n + 1))/(1 - q)",
    "for n in N1, q in R, q != 1: sum(k*q**k, k in 1..n) == q*(1 - (n + 1)*q**n + n*q**(n + 1))/(1 - q)**2",
    "for n in N1: sum(k**2*2**k, k in 1..n) == (n**2 - 2*n + 3)*2**(n + 1) - 6",
    "for n in N1: sum(1/(k*(k + 1)*(k + 2)), k in 1..n) == n*(n + 3)/(4*(n + 1)*(n + 2))",
    "for n in N1: sum(1/(4*k**2 - 1), k in 1..n) == n/(2*n + 1)",
    "for n in N1: sum(1/k**2, k in 1..n) <= 2 - 1/n",
    "for n in N1: sum(1/k, k in 1..n) <= 1 + log(n)",
    "for n in N1: sum(1/k, k in 1..n) >= log(n + 1)",
    "for n in N1: 2*sqrt(n) - 1 >= sum(1/sqrt(k), k in 1..n)",
    "for n in N1: sum(sqrt(k), k in 1..n) >= 2/3*n*sqrt(n)",
    "for n in N1: prod(1 + 1/k, k in 1..n) == n + 1",
    "for n in N1: prod(1 - 1/(k + 1)**2, k in 1..n) == (n + 2)/(2*(n + 1))",
    "for n in N1: prod((2*k - 1)/(2*k), k in 1..n) <= 1/sqrt(3*n + 1)",
    "for n in N1: sum((-1)**(k + 1)*k**2, k in 1..n) == (-1)**(n + 1)*n*(n + 1)/2",
    "for n in N1: sum(k*prod(j, j in 1..k), k in 1..n) == prod(j, j in 1..n + 1) - 1",
    "for n in N1: sum(k/prod(j, j in 1..k + 1), k in 1..n) == 1 - 1/prod(j, j in 1..n + 1)",
    "for n in N1: sum(sum(j, j in 1..k), k in 1..n) == n*(n + 1)*(n + 2)/6",
    "for n in N1: sum(sum(j*k, j in 1..n), k in 1..n) == (n*(n + 1)/2)**2",
    "for n in N1: sum(sum(sum(i, i in 1..j), j in 1..k), k in 1..n) == n*(n + 1)*(n + 2)*(n + 3)/24",
    "for n in N1: sum(sum(1/j, j in 1..k), k in 1..n) == (n + 1)*sum(1/j, j in 1..n) - n",
    "for n in N1: sum(sum(2**j, j in 0..k), k in 0..n) == 2**(n + 2) - n - 3",
    "for n in N1, x in R: sin(x/2)*sum(cos(k*x), k in 1..n) == (sin((n + 1/2)*x) - sin(x/2))/2",
    "for n in N1, x in R: sin(x/2)*sum(sin(k*x), k in 1..n) == (cos(x/2) - cos((n + 1/2)*x))/2",
    "for n in N1: sum(1/(sqrt(k) + sqrt(k + 1)), k in 1..n) == sqrt(n + 1) - 1",
    "for n in N1: sum(atan(1/(k**2 + k + 1)), k in 1..n) == atan(n + 1) - pi/4",
    "for n in N, n >= 4: prod(k, k in 1..n) > 2**n",
    "for n in N1, x > 0: (1 + x)**n >= 1 + n*x + n*(n - 1)/2*x**2",
]
#: A false statement and the first n at which it fails, by exact arithmetic.
FALSE = [
    ("for n in N1: sum(k**6, k in 1..n) == n*(n + 1)*(2*n + 1)*(3*n**4 + 6*n**3 - 3*n + 2)/42", "1"),
    ("for n in N, q in R, q != 1: sum(q**k, k in 0..n) == (1 - q**n)/(1 - q)", "0"),
    ("for n in N, q in R, q != 1: sum(q**k, k in 0..n) == (1 - q**(n + 1))/(1 - q) + n*q/10**6", "1"),
    ("for n in N1: sum(1/k**2, k in 1..n) <= 3/2 - 1/n**2", "1"),
    ("for n in N1: sum(1/k, k in 1..n) <= log(n) + 3/5", "1"),
    ("for n in N1: prod((2*k - 1)/(2*k), k in 1..n) <= 1/sqrt(4*n)", "2"),
    ("for n in N1: sum(k*prod(j, j in 1..k), k in 1..n) == prod(j, j in 1..n + 1) - n", "2"),
    ("for n in N1: sum(sum(j, j in 1..k), k in 1..n) == n*(n + 1)*(n + 2)/3", "1"),
    ("for n in N1: sum(sum(1/j, j in 1..k), k in 1..n) == n*sum(1/j, j in 1..n)", "2"),
    ("for n in N1, x in R: sin(x/2)*sum(cos(k*x), k in 1..n) == (sin((n + 1/2)*x) + sin(x/2))/2", "1"),
    ("for n in N, n >= 3: prod(k, k in 1..n) > 2**n", "3"),
    # The inner product is empty, and 1, below its first factor.
    ("for n in N1: sum(prod(j, j in 4..k), k in 1..n) == 4*n", "1"),
    ("for n in N1: sum(prod(j, j in 4..k), k in 1..n) == n", "4"),
]


@pytest.mark.parametrize("text", TRUE)
def test_what_holds(text: str) -> None:
    assert decide_text(text).verdict == "proved"


@pytest.mark.parametrize(("text", "first"), FALSE)
def test_what_fails(text: str, first: str) -> None:
    found = decide_text(text)
    assert found.verdict == "refuted"
    assert found.witness is not None
    assert found.witness["n"] == first


@pytest.mark.parametrize(
    "text",
    [
        "for n in N1: sum(sum(1/(j - 2), j in 1..k), k in 1..n) == n",
        "for n in N1: sum(prod(j, j in 1..k/2), k in 1..n) == n",
        "for n in N: sum(1/prod(j, j in 0..k), k in 0..n) == n",
    ],
)
def test_sums_in_sums_without_a_value_are_not_accepted(text: str) -> None:
    assert decide_text(text).verdict in ("ill-posed", "inconclusive")


@pytest.mark.parametrize(
    "text",
    [
        "for n in N1: sum(sum(j, j in 5..k), k in 1..n) == n*(n + 1)*(n + 2)/6 - 10*n",
        "for n in N1: sum(prod(j, j in 4..k), k in 1..n) >= 4*n",
        "for n in N1: sum(sum(1, j in 3..k), k in 1..n) == n*(n + 1)/2 - 2*n",
    ],
)
def test_a_form_beyond_the_empty_sum_is_not_used(text: str) -> None:
    """The closed form holds from hi = lo - 1 on, and these inner ranges begin below that."""
    assert decide_text(text).verdict == "refuted"

"""exists, alone and under other names: true, false, without meaning."""

from __future__ import annotations

import pytest
from deciding import cases, check, verdict

TRUE = [
    "for y in (-1,1): exists x in R: (tanh(x) == y)",
    "for x in R: exists n in N: (n > x)",
    "for x in R, y in R, x < y: exists z in R: (x < z and z < y)",
    "for y > 0: exists x in R: (exp(x) == y)",
    "for y in R: exists x in R: (x**3 + x == y)",
    "for y in R: exists x in R: (x**3 == y)",
    "for d > 0: exists n in N1: (1/n < d)",
    "for y >= 0: exists x in R: (x**2 == y)",
    "for y in (0,1): exists x in R: (sigmoid(x) == y)",
    "for y in [0,1]: exists x in [0,1]: (x**2 == y)",
    "for y in R: exists x in R: (x + sin(x) == y)",
    "for y in R: not (exists x in R: (x**2 + y**2 == -1))",
    "for a in R: exists b in R: (a + b == 0)",
    "for a in R \\ {0}: exists b in R: (a*b == 1)",
    "exists x in R: (x > 10**30)",
    "exists n in N: (2**n > 10**50)",
    "exists x in (0,1): (1/x > 10**30)",
    "exists x in R: (exp(x) == 2)",
    "exists a in R, b in R: (a + b == 1 and a - b == 3)",
    "exists a in R, b in R: (a*b == 2 and a == b)",
    "for n in Z: exists m in Z: (m == n + 1)",
    "for n in Z: exists m in Z: (2*m == n*(n+1))",
    "for x in R: exists y in R: (y > x**2 and y < x**2 + 1)",
    "for q in (0, 1): exists t > 0: (exp(-t) < q)",
]
FALSE = [
    "for y in [-1,1]: exists x in R: (tanh(x) == y)",
    "for x in R: exists n in N: (n == x)",
    "for x in R, y in R: exists z in R: (x < z and z < y)",
    "for y >= 0: exists x in R: (exp(x) == y)",
    "for y in R: exists x in R: (x**2 + x == y)",
    "for d >= 0: exists n in N1: (1/n < d)",
    "for y in R: exists x in R: (x**2 == y)",
    "for y in [0,2]: exists x in [0,1]: (x**2 == y)",
    "for y in R: not (exists x in R: (x**2 + y**2 == 1))",
    "for a in R: exists b in R: (a*b == 1)",
    "exists x in R: (x**2 < 0)",
    "exists x in R: (tanh(x) >= 1)",
    "exists a in R, b in R: (a**2 + b**2 == -1)",
    "for y in R: exists n in Z: (2*n == y)",
    "for n in Z: exists m in N: (m == n - 1)",
    "for n in Z: exists m in Z: (2*m == n)",
    "exists x in [0,1]: (x**2 == 2)",
]
ILL_POSED = [
    "exists x in R: (1/x > 10**30)",
]


@pytest.mark.parametrize(("text", "allowed"), cases(TRUE, FALSE, ILL_POSED))
def test_verdict(text: str, allowed: tuple[str, ...]) -> None:
    check(text, allowed)


def test_refutation_names_the_value_without_a_witness():
    found = verdict("for y in R: exists x in R: (x**2 == y)")
    assert (
        float(found.witness["y"]) < 0 if "/" not in found.witness["y"] else found.witness["y"].startswith("-")
    )


def test_witness_is_written_out():
    found = verdict("for x in R, y in R, x < y: exists z in R: (x < z and z < y)")
    assert any("take z = " in step for step in found.steps)


@pytest.mark.parametrize("text", ["for y in R: exists x in R: (x**5 + x*sin(x*y)**2 == y + 1)"])
def test_what_is_not_known_is_not_guessed(text):
    assert verdict(text).verdict in ("inconclusive", "proved", "certified")

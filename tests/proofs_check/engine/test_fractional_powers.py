"""Powers with a fractional exponent: 0**p is 0 for p > 0 and has no value for p < 0."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings

TRUE = [
    "for x >= 0: x**(1/4) >= 0",
    "for x >= 0: x**(1/3) >= 0",
    "for x in R: abs(x)**1.702 >= 0",
    "for n in N: n**(1/4) >= 0",
    "min(x**0.25, x in [0, 1]) == 0",
    "sup(x**0.75 - x, x in [0, 1]) == 27/256",  # at x = (3/4)**4
    "defined(x**0.1, x in [0, 1])",
    "0**(1/4) == 0",
    "for x > 0: x**(1/4) == exp(log(x)/4)",
    "for x >= 0: (x**(1/4))**4 == x",
    "for x >= 0: x**(1/4)*x**(3/4) == x",
    "for x > 0: diff(x**(5/4), x) == 5*x**(1/4)/4",
    "continuous(x**(1/4), x in [0, oo))",
    "increasing(x**(1/4), x in [0, oo))",
]
FALSE = [
    "for x >= 0: x**(1/4) > 0",
    "for x >= 0: x**(1/4) <= x",
    "defined(x**0.1, x in [-1, 1])",
    "defined(x**(-0.1), x in [0, 1])",
    "continuous(where(x > 0, 1, x**(1/4)), x in [0, oo))",
]
ILL_POSED = [
    "for x in R: x**(1/4) >= 0",
    "for x >= 0: x**(-1/4) >= 0",
    "for x >= 0: x**(1/4) == exp(log(x)/4)",
    "0**(-1/4) == 0",
]
CASES = [
    *((text, ("proved", "certified")) for text in TRUE),
    *((text, ("refuted",)) for text in FALSE),
    *((text, ("ill-posed",)) for text in ILL_POSED),
]


@pytest.mark.parametrize(("text", "allowed"), CASES)
def test_fractional_power(text: str, allowed: tuple[str, ...]) -> None:
    found = decide(Reading("power", text), Settings())
    assert found.verdict in allowed, found.reason

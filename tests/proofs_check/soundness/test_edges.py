"""Statements at the edges of the language that once got a wrong verdict, or none but an error."""

from __future__ import annotations

import pytest
from wall_clock import within

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings

ACCEPTED = {
    "true": {"proved", "certified", "inconclusive"},
    "false": {"refuted", "inconclusive"},
    "ill-posed": {"ill-posed", "inconclusive"},
}

CASES = [
    # A jump at an end that belongs to the domain.
    ("false", "continuous(step(x), x in [0, 1])"),
    ("true", "continuous(step(x), x in (0, 1])"),
    ("false", "continuous(where(x >= 1, 2, 0), x in [0, 1])"),
    ("false", "continuous(where(x > 1, 2, 0), x in [1, 2])"),
    ("true", "continuous(where(x > 1, 2, 0), x in [0, 1])"),
    ("false", "continuous(sign(x), x in [0, 1])"),
    ("false", "continuous(sign(x), x in [-1, 0])"),
    ("false", "differentiable(step(x), x in [0, 1])"),
    # Over whole numbers the least absolute value need not lie at the kink.
    ("true", "for n in Z, n != 0: abs(n) >= 1"),
    ("true", "for n in Z: abs(n - 1000001/2) >= 1/2"),
    ("false", "for n in Z: abs(n - 1000001/2) > 1/2"),
    # A whole power of a negative number or of zero is a number.
    ("true", "for n in N: (-1)**n <= 1"),
    ("false", "for n in N: (-1)**n == 1"),
    ("true", "for n in Z: (-1)**(2*n) == 1"),
    ("true", "for n in N: cos(pi*n) == (-1)**n"),
    ("true", "for n in N1: 0**n == 0"),
    # The derivative exists where the pieces meet smoothly, and only there.
    ("true", "for x in R: diff(x*abs(x), x) == 2*abs(x)"),
    ("true", "for x in R: diff(relu(x)**2, x) == 2*relu(x)"),
    ("false", "for x in R: diff(relu(x)**2, x) == relu(x)"),
    ("true", "for x in R: diff(abs(x)**3, x, 2) == 6*abs(x)"),
    ("true", "at(diff(x*abs(x), x), x=0) == 0"),
    ("ill-posed", "for x in R: diff(relu(x), x) == step(x)"),
    ("ill-posed", "for x in R: diff(where(x > 0, x**2 + 1, x**2), x) == 2*x"),
    # Nothing is in scope, or nothing is there to compare.
    ("ill-posed", "for x > 0, x < 0: 1 == 2"),
    ("ill-posed", "for n in 1..3, n > 5: n == n"),
    ("ill-posed", "argmax(-x, x in (0, 1]) == 1"),
    ("ill-posed", "oo - oo == 0"),
    ("ill-posed", "0*oo == 0"),
    ("ill-posed", "for z in R**2, i in 1..3: z[i] == z[i]"),
    # Printed numbers, sums and derivatives inside bounds; values of extreme size.
    ("true", "inf(silu(x), x in R) == -0.2784645~"),
    ("false", "inf(silu(x), x in R) == -0.2784646~"),
    ("true", "argmin(silu(x), x in R) == -1.27846~"),
    ("true", "for n in 1..20: sum(1/2**k, k in 1..n) < 1"),
    ("true", "for x in R: diff(silu(x), x) <= 1.09983933"),
    ("true", "for x in R: exp(-x**2) > 0"),
    ("true", "exp(10**9) > 0"),
    ("true", "exp(-10**9) < 10**-400"),
    ("true", "for x in [0, 1]: exp(-(10**12*(x - 1/pi))**2) <= 1"),
]


@pytest.mark.parametrize(("truth", "statement"), CASES, ids=[s for _, s in CASES])
def test_edge(truth: str, statement: str) -> None:
    with within(20):
        decision = decide(Reading("edge", statement), Settings())
    assert decision.verdict in ACCEPTED[truth], decision

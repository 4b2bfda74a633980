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
    # Every part of an `or`, and every condition, must have a value.
    ("ill-posed", "for x in R: x**2 >= 0 or 1/x > 0"),
    ("ill-posed", "for x in R, y in R: diff(x*abs(x - y), y) <= 1 or 1 == 1"),
    ("ill-posed", "for x in R, 1/x > 0: abs(x) >= x"),
    ("ill-posed", "for x in [1/0, 2]: x > 0"),
    ("true", "for x in R, x >= 0, sqrt(x) > 1: x > 1"),
    ("true", "for x in R, x < oo: x == x"),
    # One choice of a printed number serves all parts; before `not` some choice must fail.
    ("false", "1.04 <= 1.0~ <= 0.96"),
    ("false", "1.0~ + 1 == 2.04 and 1.0~ + 1 == 1.96"),
    ("false", "for n in 0..1: 1.0~ - 0.1*n == 0.95"),
    ("true", "1.04 == 1.0~ and 0.96 == 1.0~"),
    ("true", "1.0~ < 1.1~ < 1.2~"),
    ("true", "not (1.04 <= 1.0~)"),
    # A predicate on a derivative that does not exist everywhere.
    ("false", "defined(diff(abs(x), x), x in R)"),
    ("true", "defined(diff(abs(x), x), x > 0)"),
    ("ill-posed", "even(diff(abs(x), x), x in R)"),
    # A formula that fails at a kink says nothing of the derivative there.
    ("true", "for x in R: diff(abs(sin(x))**2, x) == 2*sin(x)*cos(x)"),
    ("true", "for x in R, y in R: diff(abs(x - y)**2, x) == 2*(x - y)"),
    ("true", "for x >= 0: diff(x*sqrt(x), x) == 3/2*sqrt(x)"),
    ("true", "for x in R: diff(sqrt(x**4), x) == 2*x"),
    ("true", "defined(diff(abs(sin(x))**2, x), x in R)"),
    ("ill-posed", "for x in R: diff(x*abs(x), x, 2) == 2"),
    # What an extremum ranges over is cut by its conditions.
    ("ill-posed", "max(x, x in [0, 2], x < 1) <= 5"),
    ("true", "max(x, x in (0, 1), x <= 1/2) == 1/2"),
    ("false", "sup(x, x in R, x < 1) == oo"),
    ("ill-posed", "sup(x, x in [0, 1], x > 2) <= 1"),
    ("false", "argmax(x, x in [0, 2], x <= 1) == 2"),
    ("true", "max(x + y, x in [0, 1], y in [0, 1]) == 2"),
    ("true", "zeros(x, x in R) == {0, 0}"),
    # Conditions on vectors, and places of a set other than R.
    ("true", "for z in R**2, z[1] > 0: z[1] > 0"),
    ("true", "for z in R**2, t > 0, t < 1: z[1]**2 + t < z[1]**2 + 1"),
    ("true", "for n in N1, z in R**n, t > 0, t < 1: t < 1"),
    ("false", "for z in R**2, z[1] > 0: z[2] > 0"),
    ("true", "for z in [0, 1]**2: z[1] >= 0"),
    ("ill-posed", "for z in R**2, z[1] > 0, z[1] < 0: z[1] == 5"),
    # No power of 0 to a real exponent that passes through 0.
    ("false", "continuous(0**x, x in [0, 1])"),
]


@pytest.mark.parametrize(("truth", "statement"), CASES, ids=[s for _, s in CASES])
def test_edge(truth: str, statement: str) -> None:
    with within(20):
        decision = decide(Reading("edge", statement), Settings())
    assert decision.verdict in ACCEPTED[truth], decision

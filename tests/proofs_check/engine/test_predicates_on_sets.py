"""Predicates over sets with holes and over integers, and their negation under other names."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings


def verdict(formal: str) -> str:
    return decide(Reading("x", formal), Settings()).verdict


@pytest.mark.parametrize(
    "formal",
    [
        r"differentiable(abs(x), x in R \ {0})",
        r"differentiable(abs(x - 1)*abs(x), x in R \ {0, 1})",
        r"continuous(1/x, x in R \ {0})",
        r"continuous(step(x), x in R \ {0})",
        r"increasing(step(x), x in R \ {0})",
        r"increasing(x**3, x in R \ {0})",
        r"increasing(x + sign(x), x in R \ {0})",
        r"decreasing(1/x, x in (0, oo))",
        r"decreasing(1/x, x in [1, 3] \ {2})",
        r"increasing(tanh(x), x in R \ {-1, 1})",
        r"even(1/x**2, x in R \ {0})",
        r"odd(1/x, x in R \ {0})",
        r"odd(x, x in R \ {1, -1})",
        r"increasing(n**2, n in N)",
        r"even(n**2, n in Z)",
        r"decreasing(1/n, n in N1)",
        r"increasing(n*(7 - n), n in 0..4)",
        r"increasing(2**n, n in N)",
        r"increasing((n - 1/2)**2, n in N)",
        r"for a > 0: not even(x**2 + a*x, x in R)",
        r"for a > 0: not odd(x**2 + a*x, x in R)",
        r"for a in R: not odd(x**2 + a*x, x in R)",
        r"for a > 0: not increasing(a*x**2, x in R)",
        r"for a < 0: not increasing(a*x, x in R)",
        r"for a < 0: not convex(a*x**2, x in R)",
        r"for a > 0: not even(silu(a*x), x in R)",
        r"not even(x, x in R)",
        r"increasing(x**2, x in [0, 1))",
        r"for a >= 0: increasing(x**3 + a*x, x in R \ {0})",
    ],
)
def test_true_ones_hold(formal: str) -> None:
    assert verdict(formal) in ("proved", "certified")


@pytest.mark.parametrize(
    "formal",
    [
        r"differentiable(abs(x - 1), x in R \ {0})",
        r"continuous(step(x - 1), x in R \ {0})",
        r"increasing(-1/x, x in R \ {0})",
        r"increasing(x - sign(x), x in R \ {0})",
        r"decreasing(1/x, x in R \ {0})",
        r"even(1/x, x in R \ {0})",
        r"increasing(n**2, n in Z)",
        r"odd(n**2, n in Z)",
        r"increasing(n*(7 - n), n in 0..6)",
        r"increasing(n*(7 - n), n in 0..5)",
        r"for a in R: not even(x**2 + a*x, x in R)",
        r"for a in R: not increasing(a*x, x in R)",
        r"for a in R: not convex(a*x**2, x in R)",
        r"for a in R: not differentiable(abs(a*x), x in R)",
        r"for a in R: increasing(x**3 + a*x, x in R \ {0})",
    ],
)
def test_false_ones_fail(formal: str) -> None:
    assert verdict(formal) == "refuted"


@pytest.mark.parametrize(
    "formal",
    [
        r"continuous(1/x, x in R)",
        r"continuous(1/x, x in R \ {1})",
        r"convex(1/x, x in R \ {0})",
        r"odd(x, x in R \ {1})",
        r"even(n**2, n in N)",
        r"for a in R: not even(log(a + x), x in R)",
    ],
)
def test_those_without_meaning_are_ill_posed(formal: str) -> None:
    assert verdict(formal) == "ill-posed"

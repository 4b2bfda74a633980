"""Kinks, jumps, periods, open ends and slopes: what calculus says, each with a near miss."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings

VERDICTS = {"proved": "T", "certified": "T", "refuted": "F", "ill-posed": "I"}
LINES = r"""
T limit(diff(relu(x), x), x, 0, -) == 0
F limit(diff(relu(x), x), x, 0, +) == 0
I limit(diff(relu(x), x), x, 0) == 1
I gauss(diff(relu(z), z), z, q=1) == 1/2
T taylor(x**3*abs(x), x, 0, 3) == 0
F taylor(x**3*abs(x), x, 0, 3) == x**3/1000
I taylor(x**3*abs(x), x, 0, 4) == 0
I taylor(silu_positive_cap(x), x, asinh(1), 1) == x
T differentiable(sqrt(x**2)**3, x in R)
F differentiable(max(x**2, 2), x in R)
T continuous(where(x**2 > 2, 2, x**2), x in R)
F continuous(where(x**2 > 2, 2, x), x in R)
F for a in R: differentiable(prelu(x, a), x in R)
F for a in R: increasing(prelu(x, a), x in R)
T for a > 0: increasing(prelu(x, a), x in R)
T for x in R, y in R: abs(elu(y) - elu(x)) <= abs(x - y)
F for x in R, y in R: abs(hardswish(x) - hardswish(y)) <= 1.499*abs(x - y)
F for x in R, y in R: abs(hardshrink(x) - hardshrink(y)) <= 100*abs(x - y)
F for x in [0, 1], y in [0, 1]: abs(sqrt(x) - sqrt(y)) <= 100*abs(x - y)
F for x in R, y in R: abs(x**2 - y**2) <= 10*abs(x - y)
T max(cos(x), x in R) == 1
F argmax(cos(x), x in R) == 0
F argmax(cos(x), x in R) == 1
T inf(cos(x), x in R) == -1
F for x in R: cos(x) > -1
T for x in R: cos(x) >= -1
T increasing(snake(x, 3), x in R)
I max(arctan(x), x in R) == 0
F sup(arctan(x), x in R) == pi/2 + 1/1000
I min(gaussian(x), x in R) == 0
T min(prelu(x, -1), x in R) == 0
F argmin(prelu(x, -1), x in R) == 1/1000
T sup(abs(diff(hardswish(x), x)), x in R \ {-3, 3}) == 3/2
F sup(abs(diff(hardswish(x), x)), x in R \ {-3, 3}) == 1
I sup(abs(diff(relu6(x), x)), x in R) == 1
F sup(x, x in [0, 1] \ {1}) < 1
T zeros(where(x > sqrt(2), x - 3, x), x in R) == {0, 3}
T zeros(where(x > sqrt(2), x - sqrt(2), x - sqrt(2)), x in R) == sqrt(2)
F zeros(where(x < 0, x, x + 1), x in R) == 0
F zeros(where(x > 0, 1, 0), x in R) == 0
F zeros(diff(silu(x), x), x in R) == -1.278464533~
T for x in R: where(x <= 0, 1, x) > 0
T for x in R: where(x < 0, 1 - x, where(x == 0, 1, x**2)) > 0
F for x in R: where(x < 0, 1, x**2 - 2*x + 1) > 0
T for x in (0, sqrt(2)): sin(x)*(2 - x**2) > 0
F for x in (0, 2]: x*(2 - x)*(3 - x) > 0
T argmin(where(x < 0, 1, x), x in R) == 0
T max(silu_hard_removal(x), x in R) == asinh(1)/sqrt(2)
F argmax(silu_hard_removal(x), x in R) == asinh(1) + 1/1000
F argmax(silu_positive_cap(x), x in R) == asinh(1)
T limit(telu(x), x, -oo) == 0
F limit(telu(x), x, -oo) == 1/1000
I limit(snake(x) - x, x, oo) == 0
I limit(cos(x)**2, x, oo) == 0
T limit(log(x)/sqrt(x), x, oo) == 0
T sup(log(1 + x**2) - 2*log(1 + abs(x)), x in R) == 0
"""


@pytest.mark.parametrize("line", LINES.strip().splitlines())
def test_is_decided_as_calculus_says(line):
    mark, statement = line.split(" ", 1)
    assert VERDICTS.get(decide(Reading("x", statement), Settings()).verdict) == mark


@pytest.mark.parametrize(
    "statement",
    [
        "inf(where(x <= 0, 1, x), x in R) == 0",
        "min(where(x <= 0, 1, x), x in R) == 0",
        "argmax(where(x < sqrt(2), x, 0), x in R) == sqrt(2)",
        "for x in (-pi, pi): cos(x) > -1",
    ],
)
def test_a_limit_at_a_jump_is_never_taken_for_a_value(statement):
    right = {"inf": "T", "min": "I", "arg": "I", "for": "T"}[statement[:3]]
    assert VERDICTS.get(decide(Reading("x", statement), Settings()).verdict, right) == right

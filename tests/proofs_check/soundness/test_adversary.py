"""Statements at gaps that a search for wrong verdicts found: each with what it may be called, and why.

``true``, ``false`` and ``ill-posed`` name the truth; an answer of ``inconclusive`` is always allowed.
"""

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
    # A sign takes no value between those of its two sides: no intermediate value theorem.
    ("false", "sign(1.0~ - 1) == 1/2", "it is -1, 0 or 1"),
    ("false", "(1.0~ - 0.5)*sign(1.0~ - 1) == 1/3", "of size 0.45 to 0.55 or 0"),
    ("false", "where(1.0~ > 1, 1, 0) == 1/2", "it is 0 or 1"),
    ("false", "step(0.5~ - 0.5) == 1/2", "it is 0 or 1"),
    # With variance 0 nothing counts but the value at the mean.
    ("false", "for q in [cos(pi/2), 1/7]: gauss(sin(z)**2, z, q=q) < q", "both are 0 at q = 0"),
    ("false", "for q in [sin(pi), 1/7]: gauss(tanh(z)**2, z, q=q) < q", "both are 0 at q = 0"),
    # The sign that a limit asks for belongs to a name bound further in.
    ("true", "sup(limit(tanh(t*x), t, oo), x in R) == 1", "the limit is sign(x)"),
    ("false", "sum(limit(tanh(k*t), t, oo), k in -1..1) == 1", "-1 + 0 + 1"),
    # Names that the engine makes up are no names of the statement.
    ("true", "for x_a in [0, 1]: increasing(x_a*x, x in R)", "a factor that is not negative"),
    ("false", "for x_a in R: increasing(abs(x - x_a), x in R)", "it falls below x_a"),
    ("true", "for x_b in [0, 1]: convex(x_b*x**2, x in R)", "a factor that is not negative"),
    ("false", "for z in R**2, z_1 in R: z_1 == z[1]", "z_1 is a number of its own"),
    ("true", "for z in R**2, z_1 > 0: z_1 > 0", "z_1 is a number of its own"),
    ("false", "for z in R**2, z_2 in R: softmax(z, 1) == sigmoid(z[1] - z_2)", "as above"),
    (
        "false",
        "for x_ in R, y in R, a in [0, 1], x_ > y, y > 5: limit(sign(x - 3 - a), x, 0, +) == 1",
        "it is sign(-3 - a) = -1, whatever x_ is",
    ),
    (
        "false",
        "for x_ in R, y in R, a in [0, 1], x_ > y, y > 5: limit(abs(x - 3 - a), x, 0, +) == -3 - a",
        "it is 3 + a",
    ),
    # A kink at an end of an integral, or outside of it, does no harm.
    ("true", "integrate(diff(abs(x), x), x, 0, 1) == 1", "the slope is 1 between the ends"),
    ("true", "integrate(diff(abs(x), x), x, -1, 0) == -1", "the slope is -1 between the ends"),
    ("true", "integrate(diff(abs(x - sqrt(2)), x), x, sqrt(2), 2) == 2 - sqrt(2)", "as above"),
    ("true", "for a > 0: integrate(diff(abs(x), x), x, 0, a) == a", "as above"),
    ("ill-posed", "integrate(diff(abs(x), x), x, -1, 1) == 0", "no slope at 0"),
    # Undefined at a point known by a change of sign alone: no meaning, though it fails elsewhere.
    ("ill-posed", "for x in R: 1/(x**3 - x - 1) > 0", "the cubic has a zero"),
    ("ill-posed", "for x in R: tan(x) < 5", "no value at pi/2"),
    ("ill-posed", "for x in R: atan(tan(x)) == x", "no value at pi/2"),
    ("ill-posed", "for x in R, t in [1, 2]: 1/(exp(x) - x - 2*t) > 0", "the divisor has zeros"),
    ("true", "for x in R: where(x > 2, 1/(x**3 - x - 1), 1) > 0", "the zero lies in the other branch"),
    ("false", "for x > 2: 1/(x**3 - x - 1) > 1/6", "less at 3"),
    # The value at an open end, where a case or a sign jumps, is none of the values inside.
    ("true", "sup(where(x == 0, 5, x), x in [-1, 0)) == 0", "x alone on [-1, 0)"),
    ("false", "sup(where(x >= 0, 5, x), x in [-1, 0)) >= 1", "x alone on [-1, 0)"),
    ("true", "inf(step(x), x in (0, 1]) == 1", "1 on (0, 1]"),
    ("true", "sup(sign(x), x in [-1, 0)) == -1", "-1 on [-1, 0)"),
    ("true", "inf(hardshrink(x, 1), x in (1, 2]) == 1", "x on (1, 2]"),
    ("true", "for t in [0, 1]: sup(where(x == 0, 5, x*t), x in (0, 1]) == t", "t*x on (0, 1]"),
    ("false", "sup(where(x >= 1, 7, x), x in [0, 1]) < 7", "the end belongs to the set"),
    # A value beyond the bound says nothing of a supremum over a set where values are missing.
    ("ill-posed", "sup(log(x), x in R) >= 0", "no value below 0"),
    ("ill-posed", "sup(1/(x**2 - 2), x in R) < 5", "no value at sqrt(2)"),
    ("ill-posed", "sup(tan(x)**2, x in R) >= 0", "no value at pi/2"),
    ("ill-posed", "sup(1/(x - 2)**2, x in R \\ {0}) >= 0", "no value at 2"),
    ("ill-posed", "inf(asin(x), x in [-1, 2]) <= 0", "no value above 1"),
    ("ill-posed", "sup(x, x in [0, 0] \\ {0}) == 0", "over nothing"),
    ("true", "sup(where(x == 0, 5, x), x in [-1, 1] \\ {0}) == 1", "x alone"),
    # There is no derivative where there is no value.
    ("ill-posed", "diff(log(-1 - x**2), x) == 2*x/(1 + x**2)", "no logarithm anywhere"),
    ("ill-posed", "for x < 0: diff(log(x), x) == 1/x", "no logarithm"),
    ("ill-posed", "at(diff(log(x), x), x=-1) == -1", "no logarithm"),
    ("ill-posed", "for x > 2: diff(atanh(x), x) == 1/(1 - x**2)", "no value above 1"),
    ("ill-posed", "limit(diff(log(x), x), x, 0, -) == -oo", "no logarithm"),
    ("true", "limit(diff(log(x), x), x, 0, +) == oo", "1/x from the right"),
    ("false", "defined(diff(log(x), x), x in R)", "not below 0"),
    ("true", "integrate(diff(log(x), x), x, 1, 2) == log(2)", "a value between the ends"),
    # What fails for some values of the names has no meaning if it has none for others.
    ("ill-posed", "for t in R: argmax(-(x - 1/t)**2, x in R) == 5", "no value for t = 0"),
    ("ill-posed", "for t in R: sup(x, x in [0, t]) == 5", "over nothing for t < 0"),
    ("ill-posed", "for a in R: limit(1/(x - a), x, 0) == 5", "no limit for a = 0"),
    ("ill-posed", "for n in N: sum(1/(k - 3), k in 1..n) == 5", "no term for k = 3"),
    ("ill-posed", "for n in N, z in R**n: lse(z) > 5", "no vector of 0 places"),
    ("false", "for t in [1, 2]: sup(x, x in [0, t]) == 5", "it is t"),
    ("false", "for a in R: limit(tanh(a*x), x, oo) == 1", "it is sign(a)"),
    # A printed number where the engine has no place for one.
    ("false", "exists x in [2, 3]: (x == 1.0~)", "at most 1.05"),
    ("true", "for x in R, x < 1.0~: x < 1.06", "whatever the number is"),
    ("false", "1.0~ in Z and 1.0~ != 1", "the one integer is 1"),
    ("false", "odd(1.0~*x**2, x in R)", "the factor is not 0"),
    ("false", "continuous(where(x < 1.0~, 0, 1), x in R)", "it jumps wherever the number lies"),
]


@pytest.mark.parametrize(("truth", "statement", "reason"), CASES, ids=[s for _, s, _ in CASES])
def test_no_verdict_is_wrong(truth: str, statement: str, reason: str) -> None:
    with within(60):
        decision = decide(Reading("adversary", statement), Settings())
    assert decision.verdict in ACCEPTED[truth], (reason, decision)

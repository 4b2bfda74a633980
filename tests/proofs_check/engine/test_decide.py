"""Statements whose truth is known from mathematics, through the whole engine.

The reasons stand beside the statements; no verdict here was read off the engine.
"""

from __future__ import annotations

import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings

TRUE = [
    "for x in R: silu(x) == x*sigmoid(x)",
    "for x in R: tanh(x) == 2*sigmoid(2*x) - 1",
    # sup |x sigmoid(tau x) - relu(x)| = W(1/e)/tau = 0.278464542761.../tau, by x = y/tau
    "for x in R, tau > 0: abs(x*sigmoid(tau*x) - relu(x)) <= 0.27847/tau",
    "sup(abs(x*sigmoid(1.702*x) - gelu(x)), x in R) <= 0.0203349",
    "sup(abs(x*sigmoid(1.702*x) - gelu(x)), x in R) == 0.02033487~",
    # tanh sech = (t^3 - t) 2/(t^2 + 1)^2 with t = exp x; maximum 1/2 at t = 1 + sqrt 2
    "argmax(tanh(x)*sech(x), x in R) == asinh(1)",
    "argmax(abs(tanh(x)*sech(x)), x in R) == {-asinh(1), asinh(1)}",
    "taylor(tanh(x)*sech(x), x, 0, 4) == x - 5*x**3/6",
    "limit(tanh(x)*sech(x), x, oo) == 0",
    "for n in N1, z in R**n, i in 1..n: softmax(z, i) == sigmoid(z[i] - lse(z, without=i))",
    "for x in R: abs(tanh(x)*sech(x)) <= 1/2",
    "sup(tanh(x)*sech(x), x in R) == 1/2",
    "max(tanh(x)*sech(x), x in R) == 1/2",
    "sup(tanh(x), x in R) == 1",
    "inf(sigmoid(x), x in R) == 0",
    r"for x in R \ {0}: x/x == 1",
    "for a in R, b in R: log(exp(a)+exp(b)) == max(a,b) + softplus(-abs(a-b))",
    "for a in R, b in R: max(a,b) == tg(a-b, tau=oo, theta=[0], slope=[0,1], intercept=[0,0]) + b",
    "for x in R: diff(softplus(x), x) == sigmoid(x)",
    "for x in R: integrate(sigmoid(t), t, -oo, x) == softplus(x)",
    # sigmoid increases and h1 < h2
    "for x in R, h1 in R, h2 in R, t > 0, h1 < h2: sigmoid(t*(x-h1)) - sigmoid(t*(x-h2)) >= 0",
    # (29.314 - 29.249)/29.249 = 0.2222 %; the roundings allow 0.2188 ... 0.2257 %
    "(29.314~ - 29.249~)/29.249~ == 0.22~/100",
    "32768*192 + 6*(4*192**2 + 3*192*512 + 2*192) + 192 == 8948160",
    "odd(tanh(x)*sech(x), x in R)",
    "even(cosh(x) - x**4, x in [-2, 2])",
    "increasing(softplus(x), x in R)",
    "increasing(relu(x), x in R)",
    "decreasing(exp(-x), x in R)",
    "convex(softplus(x), x in R)",
    "convex(abs(x - 1/3), x in R)",
    "continuous(leaky_relu(x), x in R)",
    "differentiable(x*abs(x), x in R)",
    "for x in (0, oo): log(x) <= x - 1",
    "for x in [0, oo): tanh(x) <= x",
    "for x in R: relu(x) < softplus(x)",
    "for x in R: gelu(x) <= relu(x)",
    "for x in R: exp(x) >= 1 + x",
    (
        "for x in R, d >= 0: soft_threshold(x, d)"
        " == tg(x, tau=oo, theta=[-d, d], slope=[1,0,1], intercept=[d,0,-d])"
    ),
    # the proximal map: completing squares in the three cases
    (
        "for x in R, D >= 0, u in R: (soft_threshold(x,D)-x)**2/2 + D*abs(soft_threshold(x,D))"
        " <= (u-x)**2/2 + D*abs(u)"
    ),
    "zeros(diff(tanh(x)*sech(x), x), x in R) == {-asinh(1), asinh(1)}",
    "zeros(x**2 - 2, x in [0, 5]) == sqrt(2)",
    "exists x in R: (x**2 == 2)",
    "for x in R: x**2 >= 0",
    "for x in R: x**4 - x**2 + 1/4 >= 0",
    # minimum -0.27846454276... = -W(1/e)
    "for x in R: silu(x) >= -0.278465",
    "gelu_tanh(1) == 0.84119199~",
    "for x in [0, 1]: x**2 <= x",
    "for x in [-1,1]: x*sqrt(1-x**2) <= 1/2",
    "for g in R: tanh(g)*sqrt(1-tanh(g)**2) == tanh(g)*sech(g)",
    "for x in R: x > 1 => x**2 > 1",
    "for x in R: x <= 1 or x**2 > 1",
    "for n in 1..20: n**2 >= n",
    "sum(k**2, k in 1..10) == 385 and prod(k, k in 1..6) == 720",
    "for z in R**3, i in 1..3: softmax(z, i) > 0",
    "not 1 == 2",
    "sup(x, x in R) == oo",
    "limit(1/x, x, 0, +) == oo",
    "at(diff(sin(x), x, 3), x=0) == -1",
]

FALSE = [
    "for x in R: tanh(x) == 2*sigmoid(x) - 1",
    "for x in R, tau > 0: abs(x*sigmoid(tau*x) - relu(x)) <= 0.27846/tau",
    "sup(abs(x*sigmoid(1.702*x) - gelu(x)), x in R) <= 0.003",
    "argmax(tanh(x)*sech(x), x in R) == asinh(1.01)",
    "argmax(abs(tanh(x)*sech(x)), x in R) == asinh(1)",
    "for x in R: abs(tanh(x)*sech(x)) < 1/2",
    "for x in R: integrate(sigmoid(t), t, -oo, x) == softplus(x) + 1",
    "for x in R: integrate(sigmoid(t), t, -oo, x) == 2*softplus(x)",
    # with unequal sharpness the gates cross
    "for x in R, h1 in R, h2 in R, s > 0, t > 0, h1 < h2: sigmoid(t*(x-h1)) - sigmoid(s*(x-h2)) >= 0",
    "(29.314~ - 29.249~)/29.249~ == 0.24~/100",
    "32768*192 + 6*(4*192**2 + 3*192*512 + 2*192) == 8948160",
    "even(tanh(x)*sech(x), x in R)",
    "odd(silu(x), x in R)",
    "increasing(silu(x), x in R)",
    "convex(tanh(x), x in R)",
    "continuous(sign(x), x in R)",
    "differentiable(abs(x), x in R)",
    "defined(1/x, x in [-1, 1])",
    "for x in R: silu(x) >= -0.278464",
    "for x in [0, 2]: x**2 <= x",
    "for x in [0, oo): tanh(x) < x",
    "for x in R: exp(x) > 1 + x",
    "taylor(tanh(x)*sech(x), x, 0, 4) == x + 5*x**3/6",
    "limit(tanh(x)*sech(x), x, oo) == 1/100",
    "sup(tanh(x), x in R) == 0.999999",
    "inf(gelu(x), x in R) == -0.17",
    "zeros(x**2 - 2, x in R) == sqrt(2)",
    "exists x in R: (x**2 == -1)",
    "for n in 0..20: n**2 > n",
    "for z in R**3, i in 1..3: softmax(z, i) < 1/2",
    "for n in N1, z in R**n, i in 1..n: softmax(z, i) == sigmoid(z[i] - lse(z))",
    "not 1 == 1",
    "1/3 == 0.333333333333333333333333333333",
]

ILL_POSED = [
    "for x in R: x/x == 1",
    "for x in R: log(x) <= x",
    "for x in [-1, 1]: sqrt(x) >= 0",
    "max(tanh(x), x in R) == 1",
    "argmax(tanh(x), x in R) == 1000",
    "limit(sign(x), x, 0) == 1",
    "for x in [2, 1]: x == x",
    "for x in R: x**2 < -1 => x == 7",
    "argmax(sech(x), x in R) < 1",
    "1/0 == 1",
    "at(diff(abs(x), x), x=0) == 0",
]


def verdict(text: str) -> tuple[str, str]:
    found = decide(Reading("", text), Settings())
    return found.verdict, found.reason


@pytest.mark.parametrize("text", TRUE)
def test_true_statements(text: str) -> None:
    found, reason = verdict(text)
    assert found in ("proved", "certified"), reason


@pytest.mark.parametrize("text", FALSE)
def test_false_statements(text: str) -> None:
    found, reason = verdict(text)
    assert found == "refuted", reason


@pytest.mark.parametrize("text", ILL_POSED)
def test_statements_without_meaning(text: str) -> None:
    found, reason = verdict(text)
    assert found == "ill-posed", (found, reason)


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("sup(gauss(tanh(z)**2, z, q=q), q in [1, 2]) <= 1", "gauss"),
        ("inf(sup(x*t, x in [0, 1])**2, t > 0) >= 0", "nested inf"),
    ],
)
def test_what_is_not_there_yet_says_so_by_name(text: str, operator: str) -> None:
    found, reason = verdict(text)
    assert found == "inconclusive"
    assert reason.startswith(f"not implemented: {operator}")

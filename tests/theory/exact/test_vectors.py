from __future__ import annotations

import mpmath as mp
import pytest

from gateproof.theory.exact.vectors import expand_vectors, prove_vector_relation
from gateproof.theory.formula import expand_node, parse_claim
from gateproof.theory.formula.nodes import Rel

TRUE = [
    "for n in N1, z in R**n, i in 1..n: softmax(z, i) == sigmoid(z[i] - lse(z, without=i))",
    "for n in N1, z in R**n, i in 1..n: softmax(z, i) <= 1",
    "for n in N1, z in R**n, i in 1..n: softmax(z, i) > 0",
    "for z in R**3, i in 1..3: softmax(z, i) < 1",
    "for n in N1, z in R**n: sum(softmax(z, k), k in 1..n) == 1",
    "for n in N1, z in R**n: lse(z) == log(sum(exp(z[k]), k in 1..n))",
    "for n in N1, z in R**n, i in 1..n: lse(z) >= z[i]",
    "for n in N1, z in R**n, i in 1..n: softmax(z, i) == exp(z[i] - lse(z))",
    "for n in N1, z in R**n, i in 1..n: log(softmax(z, i)) == -softplus(lse(z, without=i) - z[i])",
    "for n in N1, S in R**n, i in 1..n: softmax(S, i) <= 1",
]
FALSE = [
    "for n in N1, z in R**n, i in 1..n: softmax(z, i) == sigmoid(z[i] - lse(z))",
    "for n in N1, z in R**n, i in 1..n: softmax(z, i) < 1",
    "for z in R**1, i in 1..1: softmax(z, i) < 1",
    "for n in N1, z in R**n, i in 1..n: lse(z) > z[i]",
    "for n in N1, z in R**n, i in 1..n: softmax(z, i) == sigmoid(lse(z, without=i) - z[i])",
    "for n in N1, z in R**n, i in 1..n: z[i] - lse(z, without=i) <= 10",
    "for n in N1, S in R**n, i in 1..n: S[i] > 0",
    "for n in N1, z in R**n, i in 1..n: softmax(z, i) >= 1/n",
    "for n in N, z in R**n: sum(softmax(z, k), k in 1..n) == 1",
]


def found(text):
    claim = expand_node(parse_claim(text))
    body = claim.body
    assert isinstance(body, Rel)
    return prove_vector_relation(body.terms[0], body.ops[0], body.terms[1], claim.scope)


@pytest.mark.parametrize("text", TRUE)
def test_proved_for_every_length(text):
    result = found(text)
    assert result is not None
    if "N1" in text and " i in" in text:
        assert any(s.startswith("n = 1") for s in result.steps)


@pytest.mark.parametrize("text", FALSE)
def test_near_misses_are_not_proved(text):
    assert found(text) is None


@pytest.mark.parametrize("text", TRUE[:1] + TRUE[5:9])
@pytest.mark.parametrize("n", [2, 3, 5])
def test_expansion_agrees_with_numbers(mp_value, text, n):
    body = expand_node(parse_claim(text)).body
    for i in range(1, n + 1):
        vectors = {"z": n}
        fixed, domains = expand_vectors(body, vectors, {"n": n, "i": i})
        assert list(domains) == [f"z_{k}" for k in range(1, n + 1)]
        at = {name: mp.mpf(7 * k % 5) - k for k, name in enumerate(domains)}
        left, right = (mp_value(t, at) for t in fixed.terms)
        if fixed.ops[0] == "==":
            assert mp.almosteq(left, right, 1e-50)
        else:
            assert left >= right


def test_a_place_outside_is_refused():
    body = expand_node(parse_claim(TRUE[0])).body
    with pytest.raises(ValueError, match="no place"):
        expand_vectors(body, {"z": 2}, {"n": 2, "i": 3})

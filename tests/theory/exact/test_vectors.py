from __future__ import annotations

import mpmath as mp
import pytest

from gateproof.theory.exact.vector_expand import NoProbability
from gateproof.theory.exact.vector_reduction import NoValue
from gateproof.theory.exact.vectors import expand_vectors, prove_vector_relation
from gateproof.theory.formula import expand_node, parse_claim, to_text
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


SEVERAL = [
    # one place or two, and what is beside them
    "for n in N1, z in R**n, i in 1..n, j in 1..n: softmax(z, i)/softmax(z, j) == exp(z[i] - z[j])",
    "for n in N1, z in R**n, i in 1..n, j in 1..n, z[i] < z[j]: softmax(z, i) < softmax(z, j)",
    "for n in N1, z in R**n, i in 1..n, j in 1..n, i != j: softmax(z, i) + softmax(z, j) <= 1",
    "for n in N1, n >= 2, z in R**n: softmax(z, 1) + softmax(z, 2) <= 1",
    "for n in N1, n >= 2, z in R**n, i in 1..n: softmax(z, i) < 1",
    "for n in N1, z in [0, 1]**n, i in 1..n: softmax(z, i) >= exp(z[i])/(exp(z[i]) + lse(z) + exp(lse(z)))",
    # the mean of exp lies between its least and its greatest value
    "for n in N1, z in R**n: max(z[k], k in 1..n) <= lse(z)",
    "for n in N1, z in R**n: lse(z) <= max(z[k], k in 1..n) + log(n)",
    "for n in N1, z in R**n: min(z[k], k in 1..n) + log(n) <= lse(z)",
    # shifts and sums of parts
    "for n in N1, z in R**n, c in R: log(sum(exp(z[k] + c), k in 1..n)) == lse(z) + c",
    "for n in N1, z in R**n: sum(exp(z[k] - lse(z)), k in 1..n) == 1",
    "for n in N1, z in R**n: sum(2*z[k] + 1, k in 1..n) == 2*sum(z[k], k in 1..n) + n",
    "for n in N1, z in R**n: sum(z[k]**2, k in 1..n) >= 0",
    # gates of K branches sum to 1: the differences telescope
    (
        "for n in N1, h in R**n, x in R: 1 - sigmoid(x - h[1])"
        " + sum(sigmoid(x - h[k]) - sigmoid(x - h[k + 1]), k in 1..n - 1) + sigmoid(x - h[n]) == 1"
    ),
]
SEVERAL_FALSE = [
    "for n in N1, z in R**n, i in 1..n, j in 1..n: softmax(z, i) + softmax(z, j) <= 1",
    "for n in N1, z in R**n, i in 1..n, j in 1..n, z[i] <= z[j]: softmax(z, i) < softmax(z, j)",
    "for n in N1, z in R**n: softmax(z, 1) + softmax(z, 2) <= 1",
    "for n in N1, z in R**n: lse(z) <= max(z[k], k in 1..n)",
    "for n in N1, z in R**n: max(z[k], k in 1..n) < lse(z)",
    "for n in N1, z in R**n: lse(z) <= min(z[k], k in 1..n) + log(n)",
    "for n in N1, z in R**n: lse(z) < max(z[k], k in 1..n) + log(n)",
    "for n in N1, z in R**n, c in R: log(sum(exp(z[k] + c), k in 1..n)) == lse(z)",
    "for n in N1, z in R**n: sum(z[k]**2, k in 1..n) > 0",
    "for n in N1, z in R**n: sum(z[k]**2, k in 1..n) == sum(z[k], k in 1..n)**2",
    "for n in N1, z in R**n: sum(log(z[k]), k in 1..n) == sum(log(z[k]), k in 1..n)",
    (
        "for n in N1, h in R**n, x in R: 1 - sigmoid(x - h[1])"
        " + sum(sigmoid(x - h[k]) - sigmoid(x - h[k + 1]), k in 1..n) + sigmoid(x - h[n]) == 1"
    ),
]
SOME = "exists k in 1..n: (z[k] > -oo)"
MASKED = [
    f"for n in N1, z in [-oo, oo)**n, i in 1..n, {SOME}: softmax(z, i) == sigmoid(z[i] - lse(z, without=i))",
    f"for n in N1, z in [-oo, oo)**n, i in 1..n, {SOME}: softmax(z, i) >= 0",
    f"for n in N1, z in [-oo, oo)**n, {SOME}: sum(softmax(z, k), k in 1..n) == 1",
    "for n in N1, z in [-oo, oo)**n, i in 1..n, z[i] > -oo: softmax(z, i) > 0",
    "for n in N1, z in [-oo, oo)**n, i in 1..n: z[i] <= lse(z)",
]
MASKED_FALSE = [
    f"for n in N1, z in [-oo, oo)**n, i in 1..n, {SOME}: softmax(z, i) > 0",
    f"for n in N1, z in [-oo, oo)**n, i in 1..n, {SOME}: softmax(z, i) == sigmoid(z[i] - lse(z))",
    f"for n in N1, z in [-oo, oo)**n, i in 1..n, {SOME}: lse(z, without=i) < lse(z)",
    f"for n in N1, z in [-oo, oo)**n, i in 1..n, {SOME}: lse(z, without=i) > -oo",
]


@pytest.mark.parametrize("text", SEVERAL + MASKED)
def test_more_places_sums_and_masks(text):
    assert found(text) is not None


@pytest.mark.parametrize("text", SEVERAL_FALSE + MASKED_FALSE)
def test_their_near_misses_are_not_proved(text):
    assert found(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "for n in N1, z in [-oo, oo)**n, i in 1..n: softmax(z, i) >= 0",
        "for n in N1, z in [-oo, oo)**n, i in 1..n: sigmoid(z[i] - lse(z)) >= 0",
        "for n in N1, z in [-oo, oo)**n: sum(softmax(z, k), k in 1..n) == 1",
    ],
)
def test_all_masked_has_no_value(text):
    # softmax is 0/0 there, and the difference -oo + oo
    with pytest.raises(NoValue):
        found(text)


def test_masked_places_of_a_fixed_length():
    body = expand_node(parse_claim("for z in R**3: softmax(z, 1) == exp(z[1] - lse(z))")).body
    fixed, domains = expand_vectors(body, {"z": 3}, masked=frozenset({("z", 2)}))
    assert list(domains) == ["z_1", "z_3"]
    assert to_text(fixed) == "exp(z_1)/(exp(z_1) + exp(z_3)) == exp(z_1 - log(exp(z_1) + exp(z_3)))"
    with pytest.raises(NoProbability):
        expand_vectors(body, {"z": 2}, masked=frozenset({("z", 1), ("z", 2)}))


def test_a_condition_that_is_not_used_may_exclude_the_masked_row():
    text = "for n in N1, z in [-oo, oo)**n, i in 1..n, exists k in 1..n: (z[k] > 3): softmax(z, i) >= 0"
    assert found(text) is None

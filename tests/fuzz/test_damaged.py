"""True statements with one literal, sign or operator damaged: none that sampling contradicts is proved."""

from __future__ import annotations

import pytest
from fuzz.damage import Statement, cases, contradicted, false_suggestions, judged, true_statements, verdict
from fuzz.oracle import contradiction

from gateproof.theory.formula import parse_claim

EACH = 15
#: Half of the first seeds take four times as long as the others.
SLOW = (2, 3, 4, 7, 8)
SEEDS = [pytest.param(seed, marks=[pytest.mark.deep] * (seed in SLOW)) for seed in range(10)]
DEEP_SEEDS = range(10, 144)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_damaged_statement_is_proved_against_sampling(seed):
    score, wrong = judged(seed, EACH)
    assert wrong == []
    assert sum(score.values()) == EACH


@pytest.mark.deep
@pytest.mark.parametrize("seed", DEEP_SEEDS)
def test_damaged_deep(seed):
    assert judged(seed, EACH)[1] == []


def test_no_nearest_statement_is_contradicted_by_sampling():
    made, wrong = false_suggestions(400, 24)
    assert wrong == []
    assert made >= 5


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(401, 441))
def test_nearest_deep(seed):
    assert false_suggestions(seed, EACH)[1] == []


def test_much_of_the_damage_shows():
    """Sampling that contradicts nothing would make the test above empty."""
    both = [(verdict(s, t), contradicted(s, t)) for s, t in cases(0, 20)]
    assert sum(false is True for _, false in both) >= 6
    assert sum(said == "refuted" and false is True for said, false in both) >= 5


def test_damage_is_the_same_each_time():
    assert list(cases(3, 10)) == list(cases(3, 10)) != list(cases(4, 10))
    assert len(true_statements()) > 200


@pytest.mark.parametrize(
    ("text", "false"),
    [
        ("for x in R: silu(x) >= -0.2784", True),
        ("for x in R: silu(x) >= -0.2785", False),
        ("for m >= 600: 6/m <= 0.01", False),
        ("for m >= 599: 6/m <= 0.01", True),
        ("sup(abs(silu(x) - relu(x)), x in R) <= 0.278", True),
        ("sup(abs(silu(x) - relu(x)), x in R) >= 0.279", True),
        ("sup(abs(silu(x) - relu(x)), x in R) <= 0.2785", False),
        ("sup(tanh(x), x in R) == 1", False),
        ("limit(sin(x)/x, x, 0) == 1.001", True),
        ("at(diff(tanh(x), x, 3), x=0) == -2", False),
        ("at(diff(tanh(x), x, 3), x=0) == 2", True),
        ("taylor(tanh(x)*sech(x), x, 0, 4) == x - x**3/3", True),
        ("taylor(tanh(x)*sech(x), x, 0, 4) == x - 5*x**3/6", False),
        ("integrate(exp(-s), s, 0, oo) == 1.01", True),
        ("gauss(z**2, z, q=1) == 1", False),
        ("gauss(z**4, z, q=1) == 1", True),
        ("argmax(tanh(z)*sech(z), z in R) == asinh(1.001)", True),
        ("argmax(tanh(z)*sech(z), z in R) == asinh(1)", False),
        ("zeros(x**2 - 2, x in R) == {-sqrt(2), sqrt(2)}", False),
        ("zeros(x**2 - 2, x in R) == 1.41", True),
        ("100*(29.314~/29.249~ - 1) == 0.22~", False),
        ("100*(29.314~/29.249~ - 1) == 0.25~", True),
        ("even(silu(x), x in R)", True),
        ("convex(tanh(x), x in R)", True),
        ("for n in N1, z in R**n, i in 1..n: softmax(z, i) == sigmoid(z[i] - lse(z))", True),
        ("for n in N1, z in R**n, i in 1..n: softmax(z, i) == sigmoid(z[i] - lse(z, without=i))", False),
        ("for x in R: tg(x, tau=1, theta=[0], slope=[1, 0], intercept=[0, 0]) == silu(x)", True),
        ("for x in R: tg(x, tau=oo, theta=[0], slope=[0, 1], intercept=[0, 0]) == relu(x)", False),
        ("for x in R: cosh(x)**2 - sinh(x)**2 == 1", False),
        ("exists x in R: (tanh(x) == 1)", False),  # no sample can speak against it
    ],
)
def test_the_oracle_contradicts_what_is_false_and_nothing_else(text, false):
    assert (contradiction(parse_claim(text)) is not None) is false


def test_a_proved_falsehood_would_be_seen(monkeypatch):
    from fuzz import damage

    monkeypatch.setattr(damage, "verdict", lambda statement, text: "proved")
    monkeypatch.setattr(damage, "cases", lambda seed, count: iter([(Statement("1 < 2"), "2 < 1")]))
    assert damage.judged(0, 1)[1] == ["1 < 2 | 2 < 1"]


def test_a_place_that_a_vector_lacks_is_no_value():
    claim = parse_claim("for z in R**2: z[1] == z[3]")
    assert contradiction(claim) is None

"""The empty set, membership in sets of points, and equality of two of them."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.read import parse_claim


def verdict(formal: str) -> str:
    return decide(Reading("x", formal), Settings()).verdict


@pytest.mark.parametrize(
    "formal",
    [
        "zeros(x**2 + 1, x in R) == {}",
        "zeros(exp(x), x in R) == {}",
        "zeros(x**2 - 1, x in R) != {}",
        "zeros(n**2 - 2, n in N) == {}",
        "1 in zeros(x**2 - 1, x in R)",
        "1 in zeros(x**2 - 1, x in [1, 3))",
        "1 in zeros(log(x), x > 0)",
        "2 in zeros(n**2 - 4, n in N)",
        "asinh(1) in argmax(tanh(x)*sech(x), x in R)",
        "3/2 in argmax(min(x, 1), x in [0, 2])",
        "for a > 0: 1/a in argmax(x*exp(-a*x), x in [0, oo))",
        "for a in R: a in zeros(x**2 - a**2, x in R)",
        "not (2 in zeros(x**2 - 1, x in R))",
        "zeros(x**2 - 1, x in R) == zeros(x**4 - 1, x in R)",
        "zeros(x**2 - 1, x in R) == argmax(x**2, x in [-1, 1])",
        "zeros(x**2 + 1, x in R) == zeros(exp(x), x in R)",
        "zeros(x**2 - 1, x in R) != zeros(x - 1, x in R)",
        "argmax(tanh(x)*sech(x), x in R) == zeros(x - asinh(1), x in R)",
        "2 in {1, 2, 3}",
        "pi in {e, pi}",
        "sin(pi) in {0}",
    ],
)
def test_true_ones_hold(formal: str) -> None:
    assert verdict(formal) in ("proved", "certified")


@pytest.mark.parametrize(
    "formal",
    [
        "zeros(x**2 - 1, x in R) == {}",
        "zeros(x - x, x in R) == {}",
        "zeros((x-1)**2, x in R) == {}",
        "argmax(x*(1-x), x in R) == {}",
        "zeros(n**2 - 4, n in N) == {}",
        "2 in zeros(x**2 - 1, x in R)",
        "1 in zeros(x**2 - 1, x in (1, 3))",
        "0 in zeros(log(x), x > 0)",
        "1/2 in zeros(n*(2*n - 1), n in N)",
        "1 in argmax(tanh(x)*sech(x), x in R)",
        "7 in argmax(x, x in [0, 1])",
        "1/2 in argmax(min(x, 1), x in [0, 2])",
        "3 in argmax(min(x, 1), x in [0, 2])",
        "for a > 0: 1 in argmax(x*exp(-a*x), x in [0, oo))",
        "for a in R: 1 in zeros(x**2 - a**2, x in R)",
        "zeros(x**2 - 1, x in R) == zeros(x - 1, x in R)",
        "zeros(x**2 - 1, x in R) == zeros(x**3 - x, x in R)",
        "5 in {1, 2, 3}",
        "1 in {}",
    ],
)
def test_false_ones_fail(formal: str) -> None:
    assert verdict(formal) == "refuted"


@pytest.mark.parametrize(
    "formal",
    [
        "zeros(1/x, x in R) == {}",
        "argmax(tanh(x), x in R) == {}",
        "0 in zeros(1/x, x in R)",
        "1 in zeros(log(x), x in R)",
        "1 in argmax(tanh(x), x in R)",
        "1 in argmax(x, x in [0, 1))",
        "zeros(1/x, x in R) == zeros(x, x in R)",
    ],
)
def test_those_without_meaning_are_ill_posed(formal: str) -> None:
    assert verdict(formal) == "ill-posed"


def test_a_far_maximum_is_not_taken_for_none() -> None:
    assert verdict("argmax(x*exp(-x/1000), x in [0, oo)) == 1000") != "refuted"


@pytest.mark.parametrize("text", ["1 in zeros(x**2 - 1, x in R)", "zeros(x, x in R) == {}", "2 in {1, 2}"])
def test_printed_form_reads_back(text: str) -> None:
    assert to_text(parse_claim(to_text(parse_claim(text)))) == to_text(parse_claim(text))


@pytest.mark.parametrize(
    "text", ["for x in {1, 2}: x > 0", "1 in {1,}", "1 in {", "for x in zeros(y, y in R): x > 0"]
)
def test_sets_of_points_bind_no_names(text: str) -> None:
    with pytest.raises(FormulaError):
        parse_claim(text)

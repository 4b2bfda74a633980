"""Names that are bound twice: what is put in for one must not be caught by another."""

import pytest

from gateproof.proofs_check.api import decide_text
from gateproof.proofs_check.certify_text import certify_text
from gateproof.proofs_check.records import Settings
from gateproof.theory.formula import parse_claim, to_text
from gateproof.theory.formula.apart import apart

#: A definition of x, the true value at y, and what comes out if the y inside catches it.
CAUGHT = [
    ("sup(x*y, y in [0, 1])", "y", "1"),
    ("limit(x*y, y, 2)", "2*y", "4"),
    ("sum(x*y, y in 1..3)", "6*y", "14"),
    ("at(diff(x*y, y), y=1)", "y", "2"),
    ("integrate(x*y, y, 0, 1)", "y/2", "1/3"),
    ("gauss(x + y**2, y, q=1)", "y + 1", "1"),
]


@pytest.mark.parametrize(("body", "true", "wrong"), CAUGHT)
def test_a_definition_at_a_name_that_it_binds(body: str, true: str, wrong: str) -> None:
    define = {"f": body}
    scope = "for y in [0, 5]:"
    assert decide_text(f"{scope} f(y) == {true}", define=define).verdict in ("proved", "certified")
    assert decide_text(f"{scope} f(y) == {wrong}", define=define).verdict == "refuted"


def test_a_definition_within_one_that_binds_the_same_name() -> None:
    define = {"f": "limit(x*t, t, 2)", "g": "limit(f(x + t), t, 3)"}
    assert decide_text("for x in R: g(x) == 2*(x + 3)", define=define).verdict == "proved"
    assert decide_text("for x in R: g(x) == 4 + 2*x", define=define).verdict == "refuted"


@pytest.mark.parametrize(
    ("true", "wrong"),
    [
        ("for y in R: at(limit(x*y, y, 2), x=y) == 2*y", "for y in R: at(limit(x*y, y, 2), x=y) == 4"),
        (
            "for x in R, y in R, x == 2*y: limit(x*y, y, 2) == 2*x",
            "for x in R, y in R, x == 2*y: limit(x*y, y, 2) == 8",
        ),
        ("limit(at(limit(x*y, y, 2), x=y), y, 5) == 10", "limit(at(limit(x*y, y, 2), x=y), y, 5) == 4"),
    ],
)
def test_a_limit_over_a_name_of_its_surroundings(true: str, wrong: str) -> None:
    assert decide_text(true).verdict == "proved"
    assert decide_text(wrong).verdict == "refuted"


def test_certify_of_a_limit_in_a_limit() -> None:
    found = certify_text("limit(at(limit(x*y, y, 2), x=y), y, 5)", None, Settings())
    assert (found["value"]["lo"], found["value"]["hi"]) == ("10.0000000000000", "10.0000000000000")


@pytest.mark.parametrize(
    "text",
    [
        "for x in R: limit(tanh(x), x, oo) == 1",
        "for x in R: at(diff(tanh(x), x), x=0)*x == x",
        "sup(x, x in [0, 1]) == 1",
    ],
)
def test_nothing_is_renamed_where_nothing_can_be_caught(text: str) -> None:
    claim = parse_claim(text)
    assert apart(claim) == claim


def test_a_fresh_name_is_none_that_is_there() -> None:
    claim = parse_claim("for y in R, y_1 in R: limit(y_1*y, y, y) == y_1*y")
    assert to_text(apart(claim)) == "for y in R, y_1 in R: limit(y_1*y_2, y_2, y) == y_1*y"

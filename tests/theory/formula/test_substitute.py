"""Values put in for names: nothing in them is caught by a name that is bound inside."""

import pytest

from gateproof.proofs_check.api import decide_text
from gateproof.theory.formula import expand, parse_expr, substitute, to_text

#: An expression, what is put in, and the value worked out by hand that a claim holds it to.
CAUGHT = [
    ("sum(t*x, x in 1..3)", {"t": "x"}, "6*x", "14"),
    ("prod(t + x, x in 1..2)", {"t": "x"}, "(x + 1)*(x + 2)", "8*x"),
    ("diff(t*x**2, x)", {"t": "x"}, "2*x**2", "3*x**2"),
    ("diff(t*x**2, x)", {"x": "x + t"}, "2*t*(x + t)", "2*t*x"),
    ("diff(t*x**2, x)", {"t": "x", "x": "t"}, "2*x*t", "3*x**2"),
    ("taylor(t*exp(x), x, 0, 1)", {"t": "x"}, "x*(1 + x)", "x"),
    ("taylor(exp(x), x, t, 1)", {"t": "x"}, "exp(x)", "1 + x"),
    ("integrate(t*x, x, 0, 1)", {"t": "x"}, "x/2", "1/3"),
    ("limit(t + x, x, 2)", {"t": "x"}, "x + 2", "4"),
    ("gauss(t + x**2, x, q=1)", {"t": "x"}, "x + 1", "1"),
    ("sup(t*x, x in [0, 1])", {"t": "x**2"}, "x**2", "1"),
    ("sum(sum(t*x*y, y in 1..2), x in 1..3)", {"t": "x*t"}, "18*x*t", "36"),
]


@pytest.mark.parametrize(("text", "put", "true", "wrong"), CAUGHT)
def test_a_value_is_not_caught(text: str, put: dict[str, str], true: str, wrong: str) -> None:
    done = to_text(substitute(parse_expr(text), {k: parse_expr(v) for k, v in put.items()}))
    scope = "for x in R, t in R:"
    assert decide_text(f"{scope} {done} == {true}").verdict == "proved"
    assert decide_text(f"{scope} {done} == {wrong}").verdict == "refuted"


def test_at_written_out() -> None:
    assert to_text(expand(parse_expr("at(sum(t*x, x in 1..3), t=x)"))) == "sum(x*x_1, x_1 in 1..3)"


@pytest.mark.parametrize("text", ["sum(t*x, x in 1..3)", "diff(t*x, x)", "sup(t*x, x in [0, 1])"])
def test_nothing_is_renamed_without_need(text: str) -> None:
    assert to_text(substitute(parse_expr(text), {"t": parse_expr("s")})) == text.replace("t*x", "s*x")
    assert to_text(substitute(parse_expr(text), {"s": parse_expr("x")})) == text

"""Every rewriting is an identity, and each spelling of one function ends in one form."""

from __future__ import annotations

import pytest

from gateproof.numerics.backends.identities import IDENTITIES
from gateproof.numerics.backends.normal import normal
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula import expand, parse_claim, parse_expr, to_text
from gateproof.theory.formula.nodes import Expr

REALS = Assumptions({n: Domain() for n in ("u", "v")})

#: Where an identity holds that has a hole.
HOLES = {
    "1/(1 + u) - u/(1 + u)**2": ["u < -1", "u > -1"],
    "cosh(u)/sinh(u)**2": ["u < 0", "u > 0"],
}


def form(text: str) -> Expr:
    return normal(expand(parse_expr(text)))


@pytest.mark.parametrize("text", IDENTITIES)
def test_each_rule_is_an_identity(text: str) -> None:
    sides = expand(parse_expr(text)), expand(parse_expr(IDENTITIES[text]))
    for condition in HOLES.get(text, ["0 == 0"]):
        where = Assumptions(REALS.domains, (parse_claim(f"for u in R: {condition}").body,))
        assert prove_relation(sides[0], "==", sides[1], where) is not None


@pytest.mark.parametrize("text", IDENTITIES)
def test_each_rule_fires(text: str) -> None:
    assert form(text) == form(IDENTITIES[text])


def test_the_prover_refuses_a_false_identity() -> None:
    left, right = expand(parse_expr("1/(1 + exp(-u))")), expand(parse_expr("sigmoid(-u)"))
    assert prove_relation(left, "==", right, REALS) is None
    assert form("1/(1 + exp(-u))") != form("sigmoid(-u)")


SPELLINGS = {
    "mish(x)": [
        "x*tanh(log(1+exp(x)))",
        "x*((1+exp(x))**2-1)/((1+exp(x))**2+1)",
        "tanh(softplus(x))*x",
    ],
    "gelu(x)": [
        "x*(1+erf(x/sqrt(2)))/2",
        "0.5*x*(1+erf(x/2**0.5))",
        "x*erfc(-x/sqrt(2))/2",
        "x/2 + x*erf(x*sqrt(1/2))/2",
    ],
    "gelu_tanh(x)": ["0.5*x*(1+tanh(sqrt(2/pi)*(x+0.044715*x**3)))"],
    "silu(x)": ["x/(1+exp(-x))", "x*exp(x)/(1+exp(x))", "x*(1+tanh(x/2))/2", "x*(1 - sigmoid(-x))"],
    "memglu(x)": ["tanh(x)/cosh(x)", "sinh(x)/cosh(x)**2", "tanh(x)*sech(x)"],
    "tanh(x)": ["(exp(x)-exp(-x))/(exp(x)+exp(-x))", "(exp(2*x)-1)/(exp(2*x)+1)", "2*sigmoid(2*x)-1"],
    "log_sigmoid(x)": ["log(1/(1+exp(-x)))", "-log(1+exp(-x))"],
    "abs(x)": ["sqrt(x**2)", "sqrt(x*x)"],
}


@pytest.mark.parametrize("text", [t for texts in SPELLINGS.values() for t in texts])
def test_spellings_of_one_function_have_one_form(text: str) -> None:
    name = next(n for n, texts in SPELLINGS.items() if text in texts)
    assert form(text) == form(name), to_text(form(text))


def test_functions_without_a_value_are_not_cancelled() -> None:
    assert "log" in to_text(form("log(x) - log(x)"))
    assert "sqrt" in to_text(form("sqrt(x)/sqrt(x)"))
    assert form("x/x") == form("1")

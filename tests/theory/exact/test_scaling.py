from __future__ import annotations

import pytest

from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.scaling import remove_parameter
from gateproof.theory.formula import to_text

SCALED = [
    "for x in R, tau > 0: abs(x*sigmoid(tau*x) - relu(x)) <= 0.27847/tau",
    "for x in R, tau > 0: abs(softplus(tau*x)/tau - relu(x)) <= log(2)/tau",
    "for x in R, tau > 0: abs(sigmoid(tau*x) - step(x)) <= 1/2",
    "for x > 0, tau > 0: x**2*exp(-tau*x) <= 1/tau**2",
]
KEPT = [
    "for x in R, tau > 0: abs(x*sigmoid(tau*x) - relu(x)) <= 0.27847",
    "for x in R, tau > 0: x*sigmoid(tau*x) <= 1/tau**2",
    "for x in (-oo, 1), tau > 0: abs(x*sigmoid(tau*x) - relu(x)) <= 0.27847/tau",
    "for x in R, tau >= 0: sigmoid(tau*x) <= 1",
    "for x in R, tau in (0, 1): sigmoid(tau*x) <= 1",
    "for x in R, tau > 0: x*sigmoid(tau*(x - 1)) <= 1/tau",
]


@pytest.mark.parametrize("text", SCALED)
def test_one_name_less(claim, text):
    body, assumptions = claim(text)
    found = remove_parameter(body.terms[0], body.ops[0], body.terms[1], assumptions)
    assert found is not None
    assert "tau" not in found[2].domains
    assert "tau" not in to_text(found[0]) + to_text(found[1])
    assert found[3].steps


@pytest.mark.parametrize("text", KEPT)
def test_what_does_not_scale_is_left(claim, text):
    body, assumptions = claim(text)
    assert remove_parameter(body.terms[0], body.ops[0], body.terms[1], assumptions) is None


def test_the_scaled_claim_can_be_proved(claim):
    body, assumptions = claim(SCALED[1])
    left, right, rest, _ = remove_parameter(body.terms[0], "<=", body.terms[1], assumptions)
    assert prove_relation(left, "<=", right, rest) is not None
    assert prove_relation(left, "<", right, rest) is None


SHIFTED = [
    "for x in R, h in R: abs((x - h)*sigmoid(x - h) - relu(x - h)) <= 0.2785",
    "for x in R, h > 0: softplus(x + h) >= relu(x + h)",
    "for x in R, h in [2, 3]: tanh(h - x)**2 <= 1",
]
NOT_SHIFTED = [
    "for x > 0, h > 0: (x - h)**2 >= 0",
    "for x in R, h in R: x*sigmoid(x - h) <= 1",
    "for x in R, h in R, x < h: (x - h)**2 >= 0",
]


@pytest.mark.parametrize("text", SHIFTED)
def test_a_shift_removed(claim, text):
    body, assumptions = claim(text)
    found = remove_parameter(body.terms[0], body.ops[0], body.terms[1], assumptions)
    assert found is not None
    assert "h" not in found[2].domains


@pytest.mark.parametrize("text", NOT_SHIFTED)
def test_no_shift_on_half_lines_or_under_conditions(claim, text):
    body, assumptions = claim(text)
    assert remove_parameter(body.terms[0], body.ops[0], body.terms[1], assumptions) is None


def test_several_names_scaled_together(claim):
    text = "for x in R, D > 0, C > 0: softplus(C*(x - D))/C - relu(x - D - D) <= 3*D + 1/C"
    body, assumptions = claim(text)
    found = remove_parameter(body.terms[0], body.ops[0], body.terms[1], assumptions)
    assert found is not None
    assert set(found[2].domains) == {"x", "D"}

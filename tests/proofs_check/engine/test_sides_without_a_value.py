"""A side that has no value decides nothing, whatever the other side is."""

import pytest

from gateproof.proofs_check.api import decide_text

#: |t| has no slope at 0, the logarithm no value at 0 and -1, sign no limit at 0.
NOWHERE = ("at(diff(abs(t), t), t=0)", "log(0)", "at(log(t), t=-1)", "limit(sign(t), t, 0)")
STATEMENTS = (
    "{} <= sup(x, x in R)",
    "{} != inf(exp(x), x in R)",
    "sup(exp(x), x in [0, 1]) >= {}",
    "argmax(sin(x), x in [0, 3]) != {{{}}}",
    "inf(sup(a*x, x in [0, 1]), a in [1, 2]) >= {}",
    "{} != 7.0~",
    "{} < oo",
    "sum(1/k**2, k in 1..oo) >= {}",
)


@pytest.mark.parametrize("nowhere", NOWHERE)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_nothing_is_proved_or_refuted_of_it(statement, nowhere):
    assert decide_text(statement.format(nowhere)).verdict in ("ill-posed", "inconclusive")


def test_a_slope_that_exists_bounds_as_a_number_does():
    assert decide_text("sup(tanh(x), x in R) <= at(diff(sin(t), t), t=0)").verdict in ("proved", "certified")
    assert decide_text("sup(2*tanh(x), x in R) <= at(diff(t*abs(t) + t, t), t=0)").verdict == "refuted"


def test_a_derivative_at_a_kink_has_no_sides_to_show():
    """The condition that fails there, 0 != 0, is none of the statement's: its sides are no witness."""
    found = decide_text("abs(at(diff(relu(x), x, 3), x=0)) == 0")
    assert (found.verdict, found.witness) == ("ill-posed", None)
    assert "derivative does not exist at the point" in found.reason

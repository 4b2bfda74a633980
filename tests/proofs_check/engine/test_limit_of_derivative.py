"""A limit of a derivative of a function with a kink is never decided wrongly, and never an error."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings

#: The value from the piece on that side.
TRUE = (
    "limit(diff(where(x > 0, x, x**2), x), x, 0, -) == 0",
    "limit(diff(where(x > 0, x, x**2), x), x, 0, +) == 1",
    "limit(diff(elu(x), x, 2), x, 0, -) == 1",
    "limit(diff(abs(x), x), x, 0, +) == 1",
)
FALSE = (
    "limit(diff(where(x > 0, x, x**2), x), x, 0, -) == 1",
    "limit(diff(elu(x), x, 2), x, 0, -) == 0",
    "limit(diff(abs(x), x), x, 0, -) == 1",
)


@pytest.mark.parametrize("text", TRUE)
def test_true_statement_is_not_refuted(text):
    assert decide(Reading("r", text), Settings()).verdict in {"proved", "certified", "inconclusive"}


@pytest.mark.parametrize("text", FALSE)
def test_false_statement_does_not_hold(text):
    assert decide(Reading("r", text), Settings()).verdict in {"refuted", "inconclusive"}


def test_a_limit_of_a_derivative_without_a_kink_is_decided():
    assert decide(Reading("r", "limit(diff(tanh(x), x), x, oo) == 0"), Settings()).verdict == "proved"

"""Taylor coefficients: recurrences against mpmath's derivatives, on points and over boxes."""

from __future__ import annotations

from fractions import Fraction

import gmpy2
import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_certificates import FUNCTIONS, PRIMITIVES, number, tree_of, value
from random_formulas import SMOOTH, formulas

from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.evaluate import Program
from gateproof.proofs_check.checker.interval import Interval, Intervals
from gateproof.proofs_check.checker.jet import Jets
from gateproof.theory.formula.serial import to_json

F = Fraction
FIELD = Intervals(150)
ORDER = 6

# Where a function is smooth, away from its domain's ends: centre and half-width of a box.
PLACES = {
    "log": (F(3), F(1)),
    "asin": (F(1, 5), F(1, 2)),
    "acos": (F(-1, 4), F(1, 2)),
    "atanh": (F(-1, 5), F(1, 2)),
    "acosh": (F(5, 2), F(1)),
    "tan": (F(1, 3), F(1, 2)),
}
INNER = ["x", "1/2 - x", "3/4*x + x**2/7"]


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(80):
        yield


def box_of(lo, hi) -> Interval:
    return Interval(FIELD.number(lo).lo, FIELD.number(hi).hi)


def holds(found: Interval, real) -> bool:
    low, high = (
        number(Fraction(*map(int, end.as_integer_ratio()))) if gmpy2.is_finite(end) else end * mp.inf
        for end in found
    )
    room = mp.mpf("1e-30") * (1 + abs(real))
    return bool(low - room <= real <= high + room)


def coefficients(tree, at, order):
    """Taylor coefficients by mpmath's numerical differentiation at many digits."""
    with mp.workdps(120):
        return [+c for c in mp.taylor(lambda x: value(tree, x), number(at), order)]


CASES = [
    (f"{head}({inner})", PLACES.get(head, (F(1, 3), F(2)))) for head in PRIMITIVES for inner in INNER[:1]
]
CASES += [(f"{head}({inner})", (F(1, 4), F(1, 8))) for head in SMOOTH[1:] for inner in INNER[1:]]
CASES += [
    ("x**5", (F(0), F(1))),
    ("x**6", (F(1, 7), F(1))),
    ("x**-3", (F(2), F(1))),
    ("(x + 1/3)**2*(2 - x)", (F(0), F(1))),
    ("x**(3/2)", (F(2), F(1))),
    ("x**(-1/3)", (F(2), F(1))),
    ("sqrt(1 + x**2)", (F(0), F(2))),
    ("2**x", (F(0), F(2))),
    ("x**x", (F(2), F(1))),
    ("e**(-x)*pi", (F(0), F(1))),
    ("(1 + x)/(3 + x**2)", (F(0), F(2))),
    ("abs(x - 4) + max(x, 5)*min(x, -5) + sign(x + 9)", (F(0), F(1))),
    ("where(x < 3 and not (x >= 2 or x == 7), x**2, 0)", (F(0), F(1))),
    ("x*sigmoid(1.702*x) - x*erfc(-x/sqrt(2))/2", (F(1), F(1, 2))),
    ("tanh(x)*sech(x)", (F(1), F(1, 2))),
    ("x*tanh(softplus(x))", (F(-1), F(1, 2))),
]


@pytest.mark.parametrize(("text", "place"), CASES)
def test_coefficients(text, place):
    tree = tree_of(text)
    program = Program(tree, {"x"})
    middle, radius = place
    jets = Jets(FIELD, ORDER)
    at = program.evaluate(jets, {"x": jets.variable(FIELD.number(middle))})
    real = coefficients(tree, middle, ORDER)
    for found, wanted in zip(at, real, strict=True):
        assert holds(found, wanted)
        assert FIELD.sub(found, found).hi < 1e-25 * (1 + abs(float(wanted)))
    over = program.evaluate(jets, {"x": jets.variable(box_of(middle - radius, middle + radius))})
    for part in (-1, F(-1, 3), F(1, 2), 1):
        if abs(part) == 1 and text.startswith("where"):
            continue
        for found, wanted in zip(over, coefficients(tree, middle + radius * part, ORDER), strict=True):
            assert holds(found, wanted)


@settings(max_examples=40, deadline=None)
@given(expr=formulas(SMOOTH, 4), middle=st.fractions(-3, 3, max_denominator=20), radius=st.fractions(0, 1))
def test_coefficients_of_random_formulas(expr, middle, radius):
    tree = to_json(expr)
    jets = Jets(FIELD, 3)
    program = Program(tree, {"x"})
    try:
        over = program.evaluate(jets, {"x": jets.variable(box_of(middle - radius, middle + radius))})
    except Rejected:
        return
    for part in (-1, F(2, 7), 1):
        for found, wanted in zip(over, coefficients(tree, middle + radius * part, 3), strict=True):
            assert holds(found, wanted)


@pytest.mark.parametrize(
    "text",
    ["abs(x)", "max(x, 0)", "min(x, x**2)", "sign(x)", "where(x > 0, x, 0)", "sqrt(x + 1)", "log(x + 1)",
     "1/x", "acos(x)", "x**(1/3)", "where(x == 0, 1, 0)"],
)  # fmt: skip
def test_no_taylor_polynomial_over_a_kink(text):
    jets = Jets(FIELD, 2)
    with pytest.raises(Rejected):
        Program(tree_of(text), {"x"}).evaluate(jets, {"x": jets.variable(box_of(-1, 1))})


def test_a_kink_at_the_end_of_a_box_is_one_sided():
    # abs(x) is x on [0, 1], ends included, and Taylor's theorem holds there for x.
    jets = Jets(FIELD, 2)
    found = Program(tree_of("abs(x)*x"), {"x"}).evaluate(jets, {"x": jets.variable(box_of(0, 1))})
    assert found[2] == (1, 1)


def test_first_derivatives_of_gates_are_narrow_over_wide_boxes():
    # 1 - tanh^2 and s (1 - s) would be up to four times as wide as the true ranges.
    jets = Jets(FIELD, 1)
    whole = jets.variable(box_of(-2, 2))
    assert jets.function(whole, "tanh")[1].hi <= 1
    assert jets.function(whole, "sigmoid")[1].hi <= 0.25
    assert jets.function(whole, "sigmoid")[1].lo > 0.1


def test_every_primitive_has_a_recurrence():
    assert {text.partition("(")[0] for text, _ in CASES} >= {*FUNCTIONS} - {"neg", "abs", "sign"}

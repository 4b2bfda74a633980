"""Claims on the least error over whole families of gates."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gateproof.numerics.ranges import Range
from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.engine.gate_bounds import closest_point, decide_gate_bound, gate_error
from gateproof.proofs_check.engine.nested import _ranges
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula import expand, parse_claim, parse_expr
from gateproof.theory.formula.nodes import num

TWO = "inf(sup(abs(tg(x, tau=t, theta=[h], slope=[a, b], intercept=[c, d]) - gelu(x)), x in R), t > 0, h in R"
TWO = f"{TWO}, a in R, b in R, c in R, d in R)"
THREE = "tg(x, tau=t, theta=[h, k], slope=[0, a, 1], intercept=[c, b, d])"
THREE = f"inf(sup(abs(gelu(x) - {THREE}), x in R), t > 0, h in R, k in R, a in R, b in R, c in R, d in R)"
# The optima by fits: 0.0133326 and 0.00286926.
DECIDED = [
    (TWO, ">=", "0.01333", True),
    (TWO, ">", "0.013332", True),
    (TWO, "==", "0.01333", False),
    (TWO, "<=", "0.0133", False),
    (THREE, ">=", "0.00286", True),
    (THREE, "<=", "0.0004", False),
    (THREE, "<", "0.0028", False),
]
#: On the other side of the optimum nothing may be said by a lower bound.
OPEN = [
    (TWO, ">=", "0.01334"),
    (TWO, "<=", "0.01334"),
    (TWO, "==", "0.01334"),
    (THREE, ">", "0.00287"),
    (THREE, "<", "0.00287"),
    (THREE, ">=", "0"),
    (THREE, "!=", "0.002"),
]


def by_lower_bound(family, op, bound):
    claim = parse_claim(f"{family} {op} {bound}").body
    node = claim.terms[0]
    ranges = [_ranges(n)[1] for n in (node.body, node)]
    value = Fraction(bound)
    return decide_gate_bound(expand(node.body.body), *ranges, op, (value, value))


@pytest.mark.parametrize(("family", "op", "bound", "truth"), DECIDED)
def test_decided(family, op, bound, truth):
    found = by_lower_bound(family, op, bound)
    assert found is not None
    assert found.truth is truth
    assert found.trust == ("arb", "mpfr")
    assert verify(found.certificate).accepted
    assert Fraction(found.certificate["bound"]) >= Fraction(bound)


@pytest.mark.parametrize(("family", "op", "bound"), OPEN)
def test_left_open(family, op, bound):
    assert by_lower_bound(family, op, bound) is None


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (f"{TWO} > 0.01333", "certified"),
        (f"{TWO} >= 0.01334", "refuted"),
        (f"{TWO} < 0.013333", "certified"),
        (f"{THREE} <= 0.0004", "refuted"),
        (f"{THREE} <= 0.00287", "certified"),
    ],
)
def test_in_the_engine(text, verdict):
    found = decide(Reading("gates", text), Settings())
    assert found.verdict == verdict, found.reason


def test_closest_gate():
    # By a fit: sharpness 2.16988, thresholds -+0.595491, the middle line 0.5 x + 0.002869.
    claim = parse_claim(f"{THREE} >= 0").body.terms[0]
    point = closest_point(expand(claim.body.body), *(_ranges(n)[1] for n in (claim.body, claim)))
    right = {
        "t": 2.16988,
        "h": -0.595491,
        "k": 0.595491,
        "a": 0.5,
        "b": 0.002869,
        "c": 0.002869,
        "d": 0.002869,
    }
    assert {n: float(v) for n, v in point.items()} == pytest.approx(right, abs=2e-5)
    narrow = tuple((n, Range(num(3), num(4), True, True) if n == "t" else REALS) for n in right)
    assert closest_point(expand(claim.body.body), _ranges(claim.body)[1], narrow) is None


POSITIVE, REALS = Range(num(0), None), Range()
OUTER = (("t", POSITIVE), *((n, REALS) for n in "abcdhk"))
GATE = "abs(tg(x, tau=t, theta=[h], slope=[a, b], intercept=[c, d]) - gelu(x))"
HALF = "tg(x, tau=t, theta=[0.5], slope=[0, 1], intercept=[0.1, d])"
APART = "tg(x, tau=t, theta=[h, h + 1], slope=[0, a, 1], intercept=[c, 0, 0])"


def shape(text, inner=REALS, outer=OUTER):
    return gate_error(expand(parse_expr(text)), (("x", inner),), outer)


@pytest.mark.parametrize(
    ("text", "branches", "ends", "theta"),
    [
        (GATE, 2, (None, None), None),
        ("abs(gelu(x) - x*sigmoid(t*x))", 2, (0, 0), 0),
        (
            "abs(tg(x, tau=t, theta=[1/2], slope=[0, 1], intercept=[0.1, d]) - gelu(x))",
            2,
            (num(1).value / 10, None),
            None,
        ),
        (
            "abs(tg(x, tau=t, theta=[h, k], slope=[0, a, 1], intercept=[0, b, d]) - gelu(x))",
            3,
            (0, None),
            None,
        ),
        (
            "abs(tg(x, tau=t, theta=[h, h + 1], slope=[0, a, 1], intercept=[c, 0, 0]) - gelu(x))",
            3,
            (None, 0),
            None,
        ),
    ],
)
def test_shapes(text, branches, ends, theta):
    found = shape(text)
    assert found is not None
    family = found.family
    assert family.branches == branches
    assert tuple(None if e.free else e.intercept for e in (family.left, family.right)) == ends
    assert family.theta == theta


@pytest.mark.parametrize(
    "text",
    [
        # Other sharpnesses, other gates, names elsewhere, no gate, another function of the parameters.
        "abs(tg(x, tau=[t, a], theta=[h, k], slope=[0, 0, 1], intercept=[0, b, d]) - gelu(x))",
        "abs(tg(x, tau=oo, theta=[h], slope=[0, 1], intercept=[0, 0]) - gelu(x))",
        "abs(x*tanh(t*x) - gelu(x))",
        "abs(x*sigmoid(t*x**2) - gelu(x))",
        "abs(x**2*sigmoid(t*x) - gelu(x))",
        "abs(x*sigmoid(t*x) - gelu(a*x))",
        "abs(x*sigmoid(t*x) + a - gelu(x))",
        "abs(x*sigmoid(t*x) + x*sigmoid(t*(x - 1)) - gelu(x))",
        "abs(x*sigmoid(t*x) + c*sigmoid(-(t*(x - 1))) - gelu(x))",
        "abs(sigmoid(t*x)*(x + h*x**2) - gelu(x))",
        "abs(gelu(x) - x)",
        "x*sigmoid(t*x) - gelu(x)",
    ],
)
def test_other_shapes(text):
    assert shape(text) is None


def test_where_the_names_range():
    assert shape(GATE) is not None
    assert shape(GATE, inner=Range(num(-1), num(1), True, True)) is None
    assert shape(GATE, outer=(("t", REALS), *OUTER[1:])) is None
    assert shape(GATE, outer=(("t", Range(num(0), None, True)), *OUTER[1:])) is None
    assert shape(GATE, outer=(("t", Range(num(1), num(2), True, True)), *OUTER[1:])) is not None
    assert shape(GATE, outer=OUTER[1:]) is None

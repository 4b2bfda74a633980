"""Suprema over several names: values from calculus, certificates that the checker accepts."""

from __future__ import annotations

import copy
from fractions import Fraction

import mpmath as mp
import pytest

from gateproof.numerics.bounds import Budget
from gateproof.numerics.certify import certify
from gateproof.numerics.joint_rules import quadratic_top
from gateproof.numerics.worst_case import worst_case
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula import expand, parse_expr

F = Fraction
R = (None, None)
mp.mp.dps = 40


def found(text, limits, digits=12, **more):
    return worst_case(expand(parse_expr(text)), limits, digits, text=text, **more)


def holds(answer, right, digits=12):
    lo, hi = answer.value
    right = F(str(right))
    return lo <= right <= hi and hi - lo <= abs(right) * F(10) ** (1 - digits)


LAMBERT = mp.lambertw(mp.exp(-1)).real


@pytest.mark.parametrize(
    ("text", "limits", "right"),
    [
        # sup of |x sigmoid(t x) - relu(x)| is W(1/e)/t: largest at the least t.
        ("abs(x*sigmoid(t*x) - relu(x))", {"x": R, "t": (F(3, 2), F(2))}, LAMBERT / 1.5),
        # d/dx and d/dy vanish together at 1/sqrt(2): a maximum inside in both names.
        ("x*y*exp(-x**2 - y**2)", {"x": (F(-2), F(2)), "y": (F(-1), F(2))}, 1 / (2 * mp.e)),
        ("x + y", {"x": (F(0), F(1)), "y": (F(0), F(1))}, 2),
        ("abs(x - t)", {"x": (F(-1), F(3)), "t": (F(0), F(1, 2))}, 3),
        ("-(x - t)**2 + t", {"x": R, "t": (F(1), F(5, 2))}, F(5, 2)),
        ("t*tanh(x)", {"x": R, "t": (F(1), F(3))}, 3),
        ("min(max(x, 0), 6)*c - c", {"x": (F(-9), F(9)), "c": (F(1), F(2))}, 10),
    ],
)
def test_a_supremum_that_calculus_gives(text, limits, right):
    answer = found(text, limits, 9)
    assert answer.status == "ok"
    assert holds(answer, right, 9)
    verdict = verify(answer.certificate)
    assert verdict.accepted, verdict.reason


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("inf(x**2 + y**2 - x*y + x, x in [-2, 2], y in [-2, 2])", "-1/3"),
        ("inf(exp(x*y), x in [-1, 1], y in [0, 2])", str(mp.exp(-2))),
        ("sup(sin(x)*y, x in (0, pi), y in [0, sqrt(2)])", str(mp.sqrt(2))),
    ],
)
def test_certify_of_several_names(text, right):
    answer = certify(parse_expr(text), 10)
    assert answer["kind"] == "value"
    assert answer["digits"] >= 10
    lo, hi = (F(answer["value"][k]) for k in ("lo", "hi"))
    assert lo - F(1, 10**30) <= F(right) <= hi + F(1, 10**30)
    assert verify(answer["certificate"]).accepted


def test_unbounded_and_open():
    assert certify(parse_expr("sup(x*t, x in R, t in [1, 2])"), 8)["value"] == {"lo": "oo", "hi": "oo"}
    # Not attained at the open end, and nothing is claimed.
    assert certify(parse_expr("sup(x*t, x in [0, 1), t in [1, 2])"), 8)["attained"] is None
    assert certify(parse_expr("sup(x*t, x in [0, 1], t in [1, 2])"), 8)["attained"] is True
    # Undefined at t = 0: no bound from above is found.
    assert certify(parse_expr("sup(x/t, x in [0, 1], t in (0, 1])"), 8)["kind"] is None


def test_a_value_at_an_end_left_out_does_not_count():
    # 5 t at x = 0 only: 10 if that belongs to the range, and 2 is the supremum if not.
    text = "sup(where(x > 0, x, 5)*t, x in {}0, 1], t in [1, 2])"
    assert F(certify(parse_expr(text.format("[")), 8)["value"]["lo"]) == 10
    found = certify(parse_expr(text.format("(")), 8)
    assert found["value"] is None or F(found["value"]["lo"]) <= 2 <= F(found["value"]["hi"])


def test_a_supremum_approached_far_out_is_not_called_attained():
    answer = found("t*tanh(x)", {"x": R, "t": (F(1), F(3))}, 9)
    assert answer.attained is None
    assert found("t*sech(x)", {"x": R, "t": (F(1), F(3))}, 9).attained is True


def test_more_digits_narrow_and_meet():
    text, limits = "abs(x*sigmoid(t*x) - gelu(x))", {"x": R, "t": (F(8, 5), F(9, 5))}
    before = None
    for digits in (4, 12, 40):
        lo, hi = found(text, limits, digits).value
        assert hi - lo <= hi * F(10) ** (1 - digits)
        if before is not None:
            assert max(lo, before[0]) <= min(hi, before[1])
        before = lo, hi


@pytest.mark.parametrize("change", ["bound", "face", "leaf", "domain", "witness"])
def test_a_damaged_certificate_is_rejected(change):
    answer = found("abs(x*sigmoid(t*x) - gelu(x))", {"x": R, "t": (F(8, 5), F(9, 5))}, 12)
    document = copy.deepcopy(answer.certificate)
    assert verify(document).accepted
    if change == "bound":
        document["conclusion"]["upper"] = str(F(answer.value[0]) - F(1, 10**9))
        document["conclusion"]["lower"] = str(-F(answer.value[0]) + F(1, 10**9))
    elif change == "face":
        document["tree"] = _renamed(document["tree"])
    elif change == "leaf":
        document["tree"] = ["leaf", "natural"]
    elif change == "domain":
        document["domain"]["t"]["lo"] = "3/2"
    else:
        document["witnesses"][0]["lower"] = document["conclusion"]["upper"]
    assert not verify(document).accepted


def _renamed(tree):
    """Every leaf proved by the opposite of what was found: natural evaluation of the faces alone."""
    if tree[0] == "split":
        return [*tree[:3], _renamed(tree[3]), _renamed(tree[4])]
    return ["leaf", ["face", "x", ["face", "t", "natural"]]]


def test_little_work_gives_few_digits_and_says_so():
    answer = found(
        "x*y*exp(-x**2 - y**2)", {"x": (F(-2), F(2)), "y": (F(-2), F(2))}, 12, budget=Budget(boxes=400)
    )
    assert answer.status == "ok"
    assert answer.digits < 12
    assert "digits within the budget" in answer.reason
    assert answer.value[0] <= F(str(1 / (2 * mp.e))) <= answer.value[1]
    assert verify(answer.certificate).accepted


def test_more_than_one_infinite_range_is_left_to_others():
    assert found("exp(-x**2 - y**2)", {"x": R, "y": R}).status == "unknown"


def test_the_top_of_a_parabola():
    from flint import arb

    # Inside: c1**2/(4 |c2|); beyond the end: the value there.
    assert quadratic_top(arb(2), arb(-1), arb(3)) == 1
    assert quadratic_top(arb(2), arb(-1), arb(1) / 2) == arb(3) / 4
    assert quadratic_top(arb(2), arb(1), arb(2)) == 8
    # An interval for the second coefficient: its upper end counts.
    assert quadratic_top(arb(0), arb(0, 1), arb(3)) >= 9

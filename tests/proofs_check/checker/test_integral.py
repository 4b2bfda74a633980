"""Integral certificates: true ones, and corrupted ones held against values known from outside."""

from __future__ import annotations

import copy
import json
import random
from fractions import Fraction as F  # noqa: N817
from typing import Any

import pytest
from mpmath import mp

from gateproof.numerics.gauss import density_form
from gateproof.numerics.integral import Range
from gateproof.numerics.integral_certificate import integral_certificate
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula import expand_node, parse_expr
from gateproof.theory.formula.nodes import Expr, Gauss, num
from gateproof.theory.formula.serial import tree_hash

Document = dict[str, Any]


def body(text: str) -> Expr:
    node = expand_node(parse_expr(text))
    assert isinstance(node, Expr)
    return node


def make(text: str, lo: F | None, hi: F | None, right: F, tolerance: F) -> Document:
    found = integral_certificate(Range(body(text), "x", lo, hi), (right, right), tolerance, text)
    assert found is not None
    return json.loads(json.dumps(found))


def fraction(value: mp.mpf) -> F:
    return F(str(mp.nstr(value, 25)))


with mp.workdps(30):
    PI, ROOT2, E = fraction(mp.pi), fraction(mp.sqrt(2)), fraction(mp.e)
    BASEL = fraction(mp.pi**2 / 6)

#: A certificate and the integral, which calculus gives.
TRUE = {
    "bell": (make("exp(-x**2/2)/sqrt(2*pi)", None, None, F(1), F(1, 10**8)), F(1)),
    "square of x sech x": (make("x**2*sech(x)**2", None, None, BASEL, F(1, 10**7)), BASEL),
    "power tail": (make("1/(1 + x**2)", F(0), None, PI / 2, F(1, 10**4)), PI / 2),
    "exponential": (make("exp(x)", None, F(1), E, F(1, 10**6)), E),
    "polynomial": (make("x**3 - x", F(-1), F(2), F(9, 4), F(1, 10**9)), F(9, 4)),
    "kinks": (make("abs(x**2 - 2)", F(0), F(3), 3 + 8 * ROOT2 / 3, F(1, 10**5)), 3 + 8 * ROOT2 / 3),
    "step": (make("where(x > 1/3, 2, -1)", F(0), F(1), F(1), F(1, 10**5)), F(1)),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_certificates_are_accepted(name: str) -> None:
    document, right = TRUE[name]
    found = verify(document)
    assert found.accepted, found.reason
    assert found.kind == "integral"
    lower, upper = (F(document["conclusion"][k]) for k in ("lower", "upper"))
    assert lower < right < upper
    assert "known within" in found.reason


def changed(document: Document, **values: Any) -> Document:
    return {**copy.deepcopy(document), **values}


def leaves(tree: Any, way: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    if tree[0] == "leaf":
        return [way]
    return leaves(tree[3], (*way, 3)) + leaves(tree[4], (*way, 4))


def put(document: Document, way: tuple[int, ...], new: Any) -> Document:
    found = copy.deepcopy(document)
    place = found["tree"]
    for step in way[:-1]:
        place = place[step]
    if way:
        place[way[-1]] = new
    else:
        found["tree"] = new
    return found


def at(document: Document, way: tuple[int, ...]) -> Any:
    place = document["tree"]
    for step in way:
        place = place[step]
    return place


@pytest.mark.parametrize("name", TRUE)
def test_bounds_that_exclude_the_integral_are_rejected(name: str) -> None:
    document, right = TRUE[name]
    lower, upper = (F(document["conclusion"][k]) for k in ("lower", "upper"))
    width = upper - lower
    for low, high in ((right + width / 50, upper), (lower, right - width / 50), (upper, lower)):
        bounds = {**document["conclusion"], "lower": str(low), "upper": str(high)}
        assert not verify(changed(document, conclusion=bounds)).accepted
    moved = {**document["conclusion"], "lower": str(lower + width), "upper": str(upper + width)}
    assert not verify(changed(document, conclusion=moved)).accepted


@pytest.mark.parametrize("name", TRUE)
def test_a_box_left_out_is_not_accepted(name: str) -> None:
    """Its part of the integral is then missing, or its parent is one box with a poor rule."""
    document, right = TRUE[name]
    lower, upper = (F(document["conclusion"][k]) for k in ("lower", "upper"))
    found = [way for way in leaves(document["tree"]) if way]
    for way in random.Random(3).sample(found, min(4, len(found))):
        for shorter in (["leaf"], None, [], "leaf", ["leaf", ["taylor", 0]], ["leaf", ["taylor", 3]]):
            assert not verify(put(document, way, shorter)).accepted
        # The sibling in place of both: its box is then the whole of the parent's.
        sibling = at(document, (*way[:-1], 7 - way[-1]))
        verdict = verify(put(document, way[:-1], sibling))
        assert not verdict.accepted or lower < right < upper


@pytest.mark.parametrize("name", TRUE)
def test_gaps_and_reversed_boxes_are_rejected(name: str) -> None:
    document, _ = TRUE[name]
    if document["tree"][0] == "leaf":
        pytest.skip("one box")
    for cut in ("1/0", "nan", "1000000", "-1000000", 3, None, 0.5):
        assert not verify(put(document, (2,), cut)).accepted
    ((_, ends),) = document["domain"].items()
    if ends["lo"] != "-oo" and ends["hi"] != "oo":
        flipped = {"x": {"lo": ends["hi"], "hi": ends["lo"]}}
        assert not verify(changed(document, domain=flipped)).accepted


@pytest.mark.parametrize("name", TRUE)
def test_numbers_that_are_none_are_rejected(name: str) -> None:
    document, _ = TRUE[name]
    for bad in ("nan", "inf", "1/0", 0.5, True, [], ""):
        for key in ("lower", "upper"):
            assert not verify(changed(document, conclusion={**document["conclusion"], key: bad})).accepted


def test_cuts_nearer_to_0_are_paid_for() -> None:
    document, right = TRUE["bell"]
    for cut in ("1", "2", "3"):
        tails = {"x": {**document["tails"]["x"], "plus": cut}}
        found = verify(changed(document, tails=tails))
        assert not found.accepted
    without = {"x": {**document["tails"]["x"], "plus": None}}
    assert not verify(changed(document, tails=without)).accepted
    assert right == 1


def test_another_integrand_is_another_integral() -> None:
    document, _ = TRUE["bell"]
    core = json.loads(json.dumps(document["core"]).replace('["num", "2/1"]', '["num", "3/1"]'))
    core = core if core != document["core"] else ["app", "mul", ["num", "2"], document["core"]]
    assert not verify(changed(document, core=core)).accepted
    assert not verify(changed(document, core=core, formula_hash=tree_hash(core))).accepted


def certificate(core_text: str, lo: str, hi: str, tree: Any, lower: str, upper: str, **more: Any) -> Document:
    from gateproof.theory.formula.serial import to_json

    core = to_json(body(core_text))
    return {
        "kind": "integral",
        "version": 1,
        "text": core_text,
        "core": core,
        "formula_hash": tree_hash(core),
        "bits": 100,
        "domain": {"x": {"lo": lo, "hi": hi}},
        "conclusion": {"lower": lower, "lower_strict": False, "upper": upper, "upper_strict": False},
        "tails": {"x": {"minus": None, "plus": None}},
        "tree": tree,
        "witnesses": [],
        **more,
    }


def test_rules_by_hand() -> None:
    # x^2 on [0, 1] by one Taylor box of order 2 is exact; by its range it lies in [0, 1].
    exact = ["leaf", ["taylor", 4]]
    assert verify(certificate("x**2", "0", "1", exact, "1/3", "1/3")).accepted is False  # 1/3 is rounded
    assert verify(certificate("x**2", "0", "1", exact, "333333/1000000", "333334/1000000")).accepted
    assert verify(certificate("x**2", "0", "1", ["leaf", "natural"], "0", "1")).accepted
    assert not verify(certificate("x**2", "0", "1", ["leaf", "natural"], "0", "1/2")).accepted
    assert not verify(certificate("x**2", "0", "1", ["leaf", ["taylor", 3]], "0", "1")).accepted
    # An odd function over a box around 0: every even coefficient vanishes.
    assert verify(certificate("x**3", "-1", "1", ["leaf", ["taylor", 4]], "0", "0")).accepted
    # Not defined, or not bounded, on the box.
    assert not verify(certificate("1/x", "-1", "1", ["leaf", "natural"], "-1", "1")).accepted
    assert not verify(certificate("1/x", "0", "1", ["leaf", "natural"], "0", "1000000")).accepted
    assert not verify(certificate("log(x)", "0", "1", ["leaf", "natural"], "-2", "0")).accepted
    assert not verify(certificate("abs(x)", "-1", "1", ["leaf", ["taylor", 4]], "0", "1")).accepted


def test_tails_by_hand() -> None:
    def tail(text: str, cut: str, lower: str, upper: str) -> bool:
        tails = {"x": {"minus": None, "plus": cut}}
        return verify(certificate(text, cut, "oo", ["leaf", "natural"], lower, upper, tails=tails)).accepted

    # From 2 on: exp(-x) gives exp(-2) = 0.1353..
    assert tail("exp(-x)", "2", "0", "1354/10000")
    assert not tail("exp(-x)", "2", "0", "1353/10000")
    assert not tail("exp(-x)", "2", "1/1000", "1")  # only that it is not negative is known
    assert tail("1/x**2", "2", "0", "1/2")
    assert not tail("1/x**2", "2", "0", "499/1000")
    assert not tail("1/x", "2", "0", "1000000")
    assert not tail("1/2", "2", "0", "1000000")
    assert not tail("sin(x)", "2", "-10", "10")
    # x^3 exp(-x) grows up to 3: its rate at 2 is negative.
    assert not tail("x**3*exp(-x)", "2", "0", "1000000")
    # The integral of x exp(-x) from 4 on is 5 exp(-4) = 0.0915..
    assert tail("x*exp(-x)", "4", "0", "98/1000")
    assert not tail("x*exp(-x)", "4", "0", "91/1000")


def test_shape() -> None:
    document, _ = TRUE["polynomial"]
    assert not verify(changed(document, witnesses=[{"at": {"x": "0"}, "lower": "-1", "upper": "1"}])).accepted
    assert not verify(changed(document, kind="range")).accepted
    assert not verify(changed(document, version=2)).accepted
    two = {**document["domain"], "y": {"lo": "0", "hi": "1"}}
    assert not verify(changed(document, domain=two)).accepted
    empty = {"lower": None, "lower_strict": False, "upper": None, "upper_strict": False}
    assert not verify(changed(document, conclusion=empty)).accepted


def test_random_corruptions() -> None:
    """A changed document that is accepted still states what is true."""
    dice = random.Random(7)
    names = [n for n in TRUE if n != "power tail"]
    for _ in range(60):
        document, right = TRUE[dice.choice(names)]
        way = dice.choice(leaves(document["tree"]))
        broken = put(
            document, way, dice.choice([["leaf", "natural"], ["leaf", ["taylor", dice.choice([2, 4, 6])]]])
        )
        low, high = (F(document["conclusion"][k]) for k in ("lower", "upper"))
        shift = (high - low) * F(dice.randint(-12, 12), 10)
        broken["conclusion"] = {**broken["conclusion"], "lower": str(low + shift), "upper": str(high + shift)}
        if verify(broken).accepted:
            assert low + shift <= right <= high + shift


def test_a_normal_mean_as_a_certificate() -> None:
    node = expand_node(parse_expr("gauss(tanh(z)**2, z, q=4)"))
    assert isinstance(node, Gauss)
    on = Range(density_form(node.body, "z", num(4), num(0)), "z", None, None)
    right = F("0.6352612342569399248564")
    found = integral_certificate(on, (right, right), F(1, 10**10))
    assert found is not None
    assert verify(found).accepted
    wrong = integral_certificate(on, (right + F(3, 10**10), right + F(3, 10**10)), F(1, 10**10))
    assert wrong is not None
    assert not verify(wrong).accepted

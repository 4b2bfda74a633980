"""Rules for boxes in several variables, and branches that a box decides for its midpoint."""

from __future__ import annotations

import pytest
from naive_certificates import F, hash_of, make, tree_of, write

from gateproof.proofs_check.checker import verify

TINY = F(1, 10**9)


def several(text, domain, tree, *, lower=None, upper=None, tails=None, core=None):
    """A range certificate of a formula in the names of the domain."""
    document = make("x", 0, 1, lower=lower, upper=upper, pieces=1)
    document["core"] = core or tree_of(text)
    document["formula_hash"] = hash_of(document["core"])
    document["domain"] = {n: {"lo": write(lo), "hi": write(hi)} for n, (lo, hi) in domain.items()}
    document["tails"] = tails or {}
    return document | {"tree": tree if tree[0] == "split" else ["leaf", tree]}


UNIT = (0, 1)
#: Formula, domain, rule, and the exact bounds that the rule proves (None: not that side).
RULES = {
    "rising face": ("x*y + x", {"x": (0, 2), "y": UNIT}, ["face", "x", "natural"], 0, 4),
    "falling face": ("-x*y - x", {"x": (0, 2), "y": UNIT}, ["face", "x", "natural"], -4, 0),
    "faces within": ("x - y**3 + y*x", {"x": UNIT, "y": (2, 3)},
                     ["face", "x", ["face", "y", "natural"]], -27, -5),
    "constant in y": ("x**2 + 0*y", {"x": (1, 2), "y": UNIT}, ["face", "y", ["face", "x", "natural"]], 1, 4),
    "taylor by name": ("x*(2 - x)*y", {"x": (0, 2), "y": (1, 3)}, ["taylor", 2, "x"], -2, 3),
    "bounds apart": ("x*(1 - x)", {"x": UNIT}, ["bounds", "natural", ["taylor", 2]], 0, F(1, 4)),
    "mean of two": ("x*y", {"x": (1, 3), "y": (1, 3)}, "mean", -2, 10),
    "mean of one": ("x**2", {"x": (1, 3)}, "mean", -2, 10),
    "face of a decided kink": ("abs(x)*y", {"x": UNIT, "y": UNIT}, ["face", "x", "natural"], 0, 1),
    "a side of no width": ("x*y", {"x": (2, 2), "y": UNIT}, ["face", "y", "natural"], 0, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_rules_prove_what_they_say_and_no_more(name):
    text, domain, rule, lower, upper = RULES[name]
    assert verify(several(text, domain, rule, lower=lower, upper=upper)).accepted
    assert verify(several(text, domain, rule, lower=lower)).accepted
    assert verify(several(text, domain, rule, upper=upper)).accepted
    assert not verify(several(text, domain, rule, lower=lower + TINY)).accepted
    assert not verify(several(text, domain, rule, upper=upper - TINY)).accepted


REFUSED = {
    "a kink inside": ("abs(x)*y", {"x": (-1, 1), "y": UNIT}, ["face", "x", "natural"]),
    "no one sign": ("x*(2 - x)*y", {"x": (0, 3), "y": UNIT}, ["face", "y", "natural"]),
    "max inside": ("max(x, y)", {"x": UNIT, "y": UNIT}, ["face", "x", "natural"]),
    "a jump inside": ("where(x > 1/2, 0, 1)", {"x": UNIT}, ["face", "x", "natural"]),
    "a condition in another name": (
        "where(y > 1/2, x, -x)",
        {"x": UNIT, "y": UNIT},
        ["face", "x", "natural"],
    ),
    "a root at 0": ("sqrt(x)", {"x": UNIT}, ["face", "x", "natural"]),
    "mean over a kink": ("abs(x)", {"x": (-1, 1)}, "mean"),
    "mean over another kink": ("x + abs(y)", {"x": UNIT, "y": (-1, 1)}, "mean"),
    "no such name": ("x", {"x": UNIT}, ["face", "z", "natural"]),
    "taylor in no such name": ("x", {"x": UNIT}, ["taylor", 2, "z"]),
    "taylor in a list": ("x", {"x": UNIT}, ["taylor", 2, ["x"]]),
    "a name too few": ("x*y", {"x": UNIT, "y": UNIT}, ["taylor", 2]),
    "face without a rule": ("x", {"x": UNIT}, ["face", "x"]),
    "face of null": ("x", {"x": UNIT}, ["face", "x", None]),
    "bounds of one": ("x", {"x": UNIT}, ["bounds", "natural"]),
    "bounds, the other wrong": ("x", {"x": UNIT}, ["bounds", "natural", "magic"]),
    "an undefined corner": ("log(x + y)", {"x": UNIT, "y": UNIT}, ["face", "x", "natural"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_rules_that_do_not_apply_are_refused_though_the_bound_is_generous(name):
    text, domain, rule = REFUSED[name]
    assert not verify(several(text, domain, rule, lower=-99, upper=99)).accepted


IDLE = [["bounds", 0, 0], ["bounds", "natural", "natural"], ["bounds", ["bounds", 0, 0], 0], ["face", "x", 0]]


@pytest.mark.parametrize("rule", ["natural", ["taylor", 2], "mean", ["face", "x", "natural"], *IDLE])
def test_a_witness_alone_claims_that_the_formula_is_defined_too(rule):
    """1/x has no value at 0; without a bound no side of a rule is wanted for its own sake."""
    witness = {"at": {"x": "1"}, "lower": "1", "upper": "1"}
    document = several("1/x", {"x": (-1, 1)}, rule) | {"witnesses": [witness]}
    assert not verify(document).accepted
    sound = several("1/x", {"x": (1, 2)}, "natural") | {"witnesses": [witness]}
    assert verify(sound).accepted
    sound["tree"] = ["leaf", ["bounds", "natural", ["taylor", 2]]]
    assert verify(sound).accepted


def negative_square(head, *more):
    square = ["app", "neg", ["app", "pow", ["var", "x"], ["num", "2/1"]]]
    return ["app", head, square, *more]


@pytest.mark.parametrize(
    "core",
    [
        negative_square("abs"),  # x**2
        negative_square("max", ["num", "0/1"]),  # 0
        ["app", "neg", ["app", "min", ["num", "0/1"], ["app", "neg", negative_square("abs")]]],
        ["where", ["rel", ["<"], negative_square("mul", ["num", "-1/1"]), ["num", "0/1"]], ["var", "x"],
         negative_square("abs")],
    ],
)  # fmt: skip
@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_the_midpoint_takes_the_branch_of_the_box(core, order):
    """At 0 alone each branch would do, and -x**2 has other coefficients than abs(-x**2)."""
    most = 0 if core[1] == "max" else 1
    rule = ["taylor", order]
    domain = {"x": (-1, 1)}
    assert not verify(several("", domain, rule, upper=most - TINY, core=core)).accepted
    assert not verify(several("", domain, rule, lower=TINY, core=core)).accepted
    integral = several("", domain, ["taylor", 2], upper=F(1, 2), core=core) | {"kind": "integral"}
    assert verify(integral).accepted is (most == 0)  # the integral of x**2 is 2/3


def test_a_tail_beside_finite_names():
    tree = ["face", "t", "natural"]

    def tanh(lower, upper, lo="3/2", hi=2):
        tails = {"x": {"minus": None, "plus": "4"}}
        domain = {"x": (3, "oo"), "t": (F(lo), hi)}
        return verify(several("1 - tanh(t*x)", domain, tree, lower=lower, upper=upper, tails=tails))

    assert tanh(0, F(1, 100)).accepted  # 1 - tanh(9/2) = 0.00025
    assert not tanh(F(1, 10**6), F(1, 100)).accepted
    assert not tanh(0, F(1, 10**5)).accepted
    assert not tanh(0, F(1, 100), lo="-1/10").accepted
    # The width of a name stays: t - t is not 0 for an interval, t - 1 is at most 1/2.
    for text, least, upper in (("(t - 1)*exp(-x)", 0, 1), ("x*(t - 1)", 0, None), ("x*(t - 2)", -99, None)):
        tails = {"x": {"minus": None, "plus": "1"}}
        document = several(
            text, {"x": (1, "oo"), "t": (1, 2)}, "natural", lower=least, upper=upper, tails=tails
        )
        assert verify(document).accepted is (least == 0), verify(document).reason


def test_a_left_tail_beside_finite_names():
    tails = {"x": {"minus": "-3", "plus": None}}
    good = several(
        "exp(t*x)", {"x": ("-oo", -1), "t": (1, 2)}, "natural", lower=0, upper=F(1, 2), tails=tails
    )
    assert verify(good).accepted
    bad = several("exp(t*x)", {"x": ("-oo", -1), "t": (-1, 2)}, "natural", lower=0, upper=99, tails=tails)
    assert not verify(bad).accepted

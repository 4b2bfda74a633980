"""Certificates of lower bounds over parameters: of suprema, and of the errors of gates."""

from __future__ import annotations

import copy
import json
from collections import Counter
from functools import lru_cache
from math import exp
from typing import Any

import mpmath as mp
import pytest
from naive_certificates import F, hash_of, tree_of, write

from gateproof.numerics.lower_bound import lower_bound
from gateproof.proofs_check.checker import boxes, verify
from gateproof.proofs_check.checker.parameters import Gates
from gateproof.theory.formula import expand, parse_expr

Document = dict[str, Any]
NONE = F(0)
GATES = {
    "gelu, one threshold": ("gelu(x)", 2, {"left": NONE, "right": NONE, "theta": NONE}),
    "gelu, no intercepts": ("gelu(x)", 2, {"left": NONE, "right": NONE}),
    "a kinked target": ("x/(1 + abs(x))", 2, {}),
    "three branches": ("gelu(x)", 3, {}),
}


@lru_cache
def gates(name: str) -> Document:
    text, branches, family = GATES[name]
    node = expand(parse_expr(text))
    found = lower_bound(node, "x", branches, digits=2, **family).certificate
    assert found is not None
    return json.loads(json.dumps(found))


@pytest.mark.parametrize("name", GATES)
def test_bounds_of_gates_are_accepted(name):
    verdict = verify(gates(name))
    assert verdict.accepted, verdict.reason
    assert verdict.kind == "parameter-lower-bound"


def error(tau: float) -> float:
    """The largest error of x*sigmoid(tau*x) for gelu on a grid; its true sup is at least that."""
    return max(
        abs(x / (1 + exp(-tau * x)) - x * (1 + float(mp.erf(x / mp.sqrt(2)))) / 2)
        for x in (k / 50 for k in range(-300, 301))
    )


def test_a_bound_past_the_best_gate_is_rejected():
    """The best sharpness, to more digits than the grid has: 1.702 is the textbook's."""
    low, high = 1.5, 1.9
    for _ in range(30):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if error(a) < error(b) else (a, high)
    best = error(low)
    document = gates("gelu, one threshold")
    assert 0.97 * best < F(document["bound"]) <= best * 1.001
    for past in (best * 1.001, best + 1e-9, 2 * best):
        assert not verify(document | {"bound": write(F(past))}).accepted
    # Weights for one bound prove smaller ones too.
    assert verify(document | {"bound": write(F(best) / 2)}).accepted
    assert not verify(document | {"bound": write(F(-1, 9))}).accepted


def leaves(tree: Any) -> list[Any]:
    return [tree] if tree[0] == "leaf" else [leaf for part in tree[2:] for leaf in leaves(part)]


def change(name: str, edit: Any) -> Document:
    document = copy.deepcopy(gates(name))
    edit(document)
    return document


def cut(document: Document) -> None:
    document["tree"] = document["tree"][2]


def keep_right(document: Document) -> None:
    document["tree"] = document["tree"][3]


def swap(document: Document) -> None:
    document["tree"][2:] = document["tree"][:1:-1]


def weight(document: Document) -> None:
    for pair in leaves(document["tree"])[0][1]:
        pair[1] = write(-F(pair[1]))


def bent_core(document: Document) -> None:
    document["core"] = ["app", "mul", ["num", "9/8"], document["core"]]
    document["formula_hash"] = hash_of(document["core"])


EDITS = {
    "the left part alone": cut,
    "the right part alone": keep_right,
    "parts exchanged": swap,
    "weights of the other sign": weight,
    "another target": bent_core,
    "no weights": lambda d: leaves(d["tree"])[0].__setitem__(1, []),
    "a weight of three": lambda d: leaves(d["tree"])[0][1][0].append("1"),
    "a rule of a range": lambda d: leaves(d["tree"])[0].__setitem__(1, "natural"),
    "another slope": lambda d: d["family"]["right"].update(slope="1/2"),
    "another asymptote": lambda d: d["family"]["left"].update(intercept="1/1000", free=True),
    "four branches": lambda d: d["family"].update(branches=4),
    "branches true": lambda d: d["family"].update(branches=True),
    "own sharpness": lambda d: d["family"].update(sharpness="own"),
    "free null": lambda d: d["family"]["left"].update(free=None),
    "bound a float": lambda d: d.update(bound=0.001),
    "another variable": lambda d: d.update(variable="y"),
    "a list as variable": lambda d: d.update(variable=["x"]),
    "hash": lambda d: d.update(formula_hash="0" * 64),
    "extra key": lambda d: d.update(domain={}),
    "a threshold of three": lambda d: d["family"].update(theta="0", branches=3),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("name", ["gelu, one threshold", "three branches"])
def test_damaged_bounds_of_gates_are_rejected(name, edit):
    verdict = verify(change(name, EDITS[edit]))
    assert not verdict.accepted
    assert "the checker failed" not in verdict.reason


def test_the_sums_of_rows_are_within_the_budget(monkeypatch):
    document, spent = gates("gelu, one threshold"), Counter()
    Gates(document, spent).check()
    monkeypatch.setattr(boxes, "MAX_WORK", spent["work"])
    assert verify(document).accepted
    monkeypatch.setattr(boxes, "MAX_WORK", spent["work"] - 1)
    assert "work" in verify(document).reason


def test_weights_must_annihilate_lines():
    moved = copy.deepcopy(gates("three branches"))
    point = leaves(moved["tree"])[-1][1][0]
    point[0] = write(F(point[0]) + F(1, 10**9))
    assert "annihilate" in verify(moved).reason


def test_the_asymptote_must_be_approached():
    """silu is within x*exp(-abs x) of 0 and x; sin never settles, log leaves every line."""
    base = gates("gelu, one threshold")
    for text, sound in (("silu(x)", True), ("gelu(x) + sin(x)/99", True), ("log(1 + exp(x))*2", False),
                        ("x*sigmoid(x) + atan(x)*x", False)):  # fmt: skip
        core = tree_of(text)
        document = base | {"core": core, "formula_hash": hash_of(core), "bound": "0"}
        reason = verify(document).reason
        assert ("approach" not in reason) is sound, (text, reason)
        free = copy.deepcopy(document)
        free["family"]["right"]["free"] = True
        assert ("approach" not in verify(free).reason) is (text == "silu(x)")


def supremum(text, inner, domain, bound, tree, *, strict=False) -> Document:
    core = tree_of(text)
    return {
        "kind": "parameter-lower-bound",
        "version": 1,
        "text": text,
        "core": core,
        "formula_hash": hash_of(core),
        "bits": 106,
        "family": None,
        "inner": inner,
        "domain": {n: {"lo": write(lo), "hi": write(hi)} for n, (lo, hi) in domain.items()},
        "bound": write(bound),
        "strict": strict,
        "tree": tree,
    }


def at(point, rule="natural"):
    return ["leaf", ["at", point, rule]]


# sup over x of abs(x - t) on [-1, 1] is 1 + abs(t), at least 1.
ABS = ["split", "t", "0", at({"x": "1"}), at({"x": "-1"})]
# sup over x of x*t - x**2 is t**2/4 at x = t/2.
PEAK = at({"x": "1/2"}, ["face", "t", "natural"])


@pytest.mark.parametrize(
    ("document", "sound"),
    [
        (supremum("abs(x - t)", ["x"], {"t": (-1, 1)}, 1, ABS), True),
        (supremum("abs(x - t)", ["x"], {"t": (-1, 1)}, 1, ABS, strict=True), False),
        (supremum("abs(x - t)", ["x"], {"t": (-1, 1)}, F(999, 1000), ABS, strict=True), True),
        (supremum("abs(x - t)", ["x"], {"t": (-1, 1)}, 1 + F(1, 10**9), ABS), False),
        (supremum("abs(x - t)", ["x"], {"t": (-2, 1)}, 2, ABS), False),
        (supremum("abs(x - t)", ["x"], {"t": ("-oo", "oo")}, 1, ABS), False),
        (supremum("abs(x - t)", ["x"], {"t": (-1, 1)}, 1, at({"x": "1"})), False),
        (supremum("x*t - x**2", ["x"], {"t": (1, 2)}, F(1, 4), PEAK), True),
        (supremum("x*t - x**2", ["x"], {"t": (1, 2)}, F(1, 4) + F(1, 10**9), PEAK), False),
        (supremum("x*y", ["x", "y"], {}, 6, at({"x": "2", "y": "3"})), True),
        (supremum("x*y", ["x", "y"], {}, 7, at({"x": "2", "y": "3"})), False),
        (supremum("x*y", ["x", "y"], {}, 6, at({"x": "2"})), False),
        (supremum("x*t", ["x"], {"x": (0, 1), "t": (0, 1)}, 0, at({"x": "2"})), False),
        (supremum("log(x - t)", ["x"], {"t": (0, 1)}, 0, at({"x": "1"})), False),
        (supremum("x - t", ["x"], {"t": ("-oo", -1)}, 2, at({"x": "1"})), False),
        (supremum("x - t", ["x y"], {"t": (0, 1)}, 0, at({"x": "1", "y": "1"})), False),
        (supremum("x - t", "x", {"t": (0, 1)}, 0, at({"x": "1"})), False),
        (supremum("x - t", ["x"], {"t": (0, 1)}, 0, ["leaf", "natural"]), False),
        (supremum("x - t", ["x"], {"t": (0, 1)}, 0, at({"x": 1.0})), False),
    ],
)  # fmt: skip
def test_lower_bounds_of_suprema(document, sound):
    verdict = verify(document)
    assert verdict.accepted is sound, verdict.reason
    assert "the checker failed" not in verdict.reason

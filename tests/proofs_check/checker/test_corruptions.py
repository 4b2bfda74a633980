"""Corrupted certificates: none is accepted unless its conclusion holds all the same.

Whether it does is decided without the checker: by values of mpmath on many points of the
domain that the corrupted document states, the extrema of the true formulas among them.
"""

from __future__ import annotations

import contextlib
import copy
import json
import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from corruptions_of_kinds import CASES, DAMAGE
from naive_certificates import F, hash_of, make, number, value, write

from gateproof.proofs_check.checker import verify

Document = dict[str, Any]
NANO = F(1, 10**9)

# A certificate, and an extreme value with its place, so that a bound can be moved past the truth.
SILU = (F("-0.278464542761073795109358739022980155439"), F("-1.278464542761073795109358739022980155439"))
NATURAL = {"rule": "natural"}
BASES = [
    (make("silu(x)", lower="-28/100", pieces=None, cut=9), *SILU),
    (
        make("tanh(x)*sech(x)", lower="-51/100", upper="51/100", pieces=None, cut=7),
        F(1, 2),
        F("0.881373587019543"),
    ),
    (
        make("x*sigmoid(1.702*x) - gelu(x)", lower="-5/100", upper="1/20", pieces=None, cut=6),
        F("-0.02033487220923923022412990"),
        F("-2.270397737196610174547907"),
    ),
    (make("x**2", -1, 2, lower=0, upper=4, pieces=4, **NATURAL), F(4), F(2)),
    (make("abs(x) - x", -3, 3, lower=0, upper=6, pieces=2, rule=("taylor", 2)), F(6), F(-3)),
    (make("soft_threshold(x) - x", lower="-3/4", upper="3/4", pieces=64, **NATURAL), F(-1, 2), F(3)),
    (make("tanh(x)", lower=-1, upper=1, strict=True, pieces=8, **NATURAL), F(1), F(30)),
    (make("where(x > 1/3, 1/x, 3)", -1, 4, lower=0, upper="7/2", pieces=200, **NATURAL), F(3), F(0)),
    (
        make("log(x)*sqrt(x)", "1/20", 3, lower=-1, upper=2, pieces=64),
        F("-0.7357588823428846"),
        F("0.1353352832366127"),
    ),
]
for certificate, _, extreme in BASES:
    place = max(F(-4), min(F(3), extreme))
    real = F(str(value(certificate["core"], number(place))))
    witness = {"at": {"x": write(place)}, "lower": write(real - NANO), "upper": write(real + NANO)}
    certificate["witnesses"] = [witness]


def nodes(tree: Any, way: tuple[int, ...] = ()):
    yield way, tree
    for key, part in enumerate(tree):
        if isinstance(part, list) and part and part[0] in ("split", "leaf"):
            yield from nodes(part, (*way, key))


def put(document: Any, way: Any, new: Any) -> None:
    for step in way[:-1]:
        document = document[step]
    document[way[-1]] = new


def inner(document: Document, dice: random.Random) -> tuple[Any, Any]:
    """A split of the tree, or the leaf that is all of it."""
    found = [(("tree", *way), node) for way, node in nodes(document["tree"]) if node[0] == "split"]
    return dice.choice(found or [(("tree",), document["tree"])])


def leaf(document: Document, dice: random.Random) -> tuple[Any, Any]:
    return dice.choice([(("tree", *way), node) for way, node in nodes(document["tree"]) if node[0] == "leaf"])


def json_places(item: Any, way: tuple[Any, ...] = ()):
    yield way, item
    for key, part in (
        item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
    ):
        yield from json_places(part, (*way, key))


def remove_boxes(document, dice, truth, at):
    way, node = inner(document, dice)
    if node[0] == "split":
        put(document, way, node[dice.choice([3, 4])])


def swap_boxes(document, dice, truth, at):
    way, node = inner(document, dice)
    if node[0] == "split":
        put(document, way, [*node[:3], node[4], node[3]])


def move_split(document, dice, truth, at):
    _, node = inner(document, dice)
    if node[0] == "split":
        node[2] = write(F(node[2]) + F(dice.randint(-50, 50), dice.choice([10, 1000])))


def change_rule(document, dice, truth, at):
    _, node = leaf(document, dice)
    node[1] = dice.choice(
        ["natural", ["taylor", dice.randint(1, 9)], ["taylor", 0], "proof", None, ["natural"]]
    )


def truncate_tree(document, dice, truth, at):
    way, _ = inner(document, dice)
    put(document, way, dice.choice([["leaf", "natural"], ["leaf", ["taylor", 4]], [], None, ["leaf"]]))


def past_the_truth(document, dice, truth, at):
    step = NANO * dice.choice([1, 10, 1000, 10**6])
    document["conclusion"]["upper" if dice.random() < 0.5 else "lower"] = write(
        truth - step if dice.random() < 0.5 else truth + step
    )


def move_bound(document, dice, truth, at):
    side = dice.choice(["lower", "upper"])
    document["conclusion"][side] = dice.choice(
        [None, write(truth + F(dice.randint(-99, 99), 100)), "nan", "oo"]
    )


def turn_bounds(document, dice, truth, at):
    c = document["conclusion"]
    c["lower"], c["upper"] = c["upper"], c["lower"]


def toggle_strict(document, dice, truth, at):
    side = dice.choice(["lower_strict", "upper_strict"])
    document["conclusion"][side] = not document["conclusion"][side]


def change_domain(document, dice, truth, at):
    ends = document["domain"]["x"]
    side = dice.choice(["lo", "hi"])
    infinite = {"lo": "-oo", "hi": "oo"}[side]
    ends[side] = dice.choice(
        [infinite, write(F(dice.randint(-90, 90), 10)), "nan", {"lo": "oo", "hi": "-oo"}[side]]
    )
    if dice.random() < 0.7:  # with a cut that fits, so that only the tail itself can object
        cut = {"lo": "minus", "hi": "plus"}[side]
        document["tails"]["x"][cut] = None if ends[side] != infinite else write(F(dice.choice([-1, 1, 2, 8])))


def change_cut(document, dice, truth, at):
    side = dice.choice(["minus", "plus"])
    document["tails"]["x"][side] = dice.choice(
        [None, write(F(dice.randint(-80, 80), dice.choice([1, 4, 10])))]
    )


def change_core(document, dice, truth, at):
    places = [(way, item) for way, item in json_places(document["core"]) if isinstance(item, str)]
    way, item = dice.choice(places)
    heads = [
        "add",
        "mul",
        "div",
        "max",
        "min",
        "neg",
        "abs",
        "exp",
        "tanh",
        "sech",
        "sigmoid",
        "sqrt",
        "erf",
        "x",
    ]
    new = (
        dice.choice(heads)
        if "/" not in item
        else write(F(item) + F(dice.randint(-5, 5), dice.choice([1, 100])))
    )
    put(document["core"], way, new)
    if dice.random() < 0.8:
        document["formula_hash"] = hash_of(document["core"])


def change_hash(document, dice, truth, at):
    text = list(document["formula_hash"])
    text[dice.randrange(len(text))] = dice.choice("0123456789abcdefX")
    document["formula_hash"] = "".join(text)


def change_bits(document, dice, truth, at):
    document["bits"] = dice.choice([32, 53, 200, 1, 0, -5, 10**6, "106", None, math.nan])


def change_witness(document, dice, truth, at):
    witness = document["witnesses"][0]
    key = dice.choice(["at", "lower", "upper"])
    new = write(F(witness[key] if key != "at" else witness["at"]["x"]) + dice.choice([-2, 2, 1000]) * NANO)
    witness[key] = {"x": new} if key == "at" else new


def exchange_anything(document, dice, truth, at):
    places = [(way, item) for way, item in json_places(document) if way]
    put(document, dice.choice(places)[0], copy.deepcopy(dice.choice(places)[1]))


def drop_anything(document, dice, truth, at):
    way, _ = dice.choice([(way, item) for way, item in json_places(document) if way])
    place = document
    for step in way[:-1]:
        place = place[step]
    del place[way[-1]]


def truncate_text(document, dice, truth, at):
    text = json.dumps(document)
    document.clear()
    try:
        document["kind"] = json.loads(text[: dice.randrange(len(text))])
    except ValueError:
        document["kind"] = None


def not_a_number(document, dice, truth, at):
    places = [way for way, item in json_places(document) if way and isinstance(item, str)]
    put(document, dice.choice(places), dice.choice([math.nan, math.inf, "nan", 0.5]))


CORRUPTIONS: list[Callable[..., None]] = [
    remove_boxes, swap_boxes, move_split, change_rule, truncate_tree, past_the_truth, move_bound, turn_bounds,
    toggle_strict, change_domain, change_cut, change_core, change_hash, change_bits, change_witness,
    exchange_anything, drop_anything, truncate_text, not_a_number,
]  # fmt: skip


# What a second corruption runs into where the first one left another shape.
MISSES = (KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError)


def follows(document: Document, at: Fraction) -> bool:
    """Whether what an accepted document says is true, as far as many points can tell."""
    if document["formula_hash"] != hash_of(document["core"]):
        return False
    (lo, hi), c = document["domain"]["x"].values(), document["conclusion"]
    low = F(-60) if lo == "-oo" else F(lo)
    high = F(60) if hi == "oo" else F(hi)
    inside = [low + (high - low) * F(i, 100) for i in range(101)]
    inside += [F(i, 8) for i in range(-80, 81)] + [at, at + F(1, 10**6), at - F(1, 10**6), F(0), F(1, 3)]
    with mp.workdps(40):
        for x in (x for x in inside if low <= x <= high):
            with mp.workdps(40 if abs(x) < 10 else 120):
                real = value(document["core"], number(x))
            for side, sign in (("lower", 1), ("upper", -1)):
                if c[side] is not None:
                    room = sign * (real - number(c[side]))
                    # What is equal to 40 digits may differ: only what clearly fails is held against it.
                    if room < -mp.mpf("1e-35") or (c[side + "_strict"] and real == number(c[side])):
                        return False
        for witness in document["witnesses"]:
            real = value(document["core"], number(witness["at"]["x"]))
            if not number(witness["lower"]) - 1e-30 <= real <= number(witness["upper"]) + 1e-30:
                return False
    return True


def run(seed: int, count: int) -> Counter[str]:
    dice, accepted = random.Random(seed), Counter[str]()
    for number_of_try in range(count):
        base, truth, at = BASES[number_of_try % len(BASES)]
        document = json.loads(json.dumps(base))
        corrupt = CORRUPTIONS[number_of_try % len(CORRUPTIONS)]
        corrupt(document, dice, truth, at)
        if dice.random() < 0.1:
            with contextlib.suppress(*MISSES):
                dice.choice(CORRUPTIONS)(document, dice, truth, at)
        verdict = verify(document)
        assert "the checker failed" not in verdict.reason, (corrupt.__name__, document)
        if verdict.accepted:
            accepted[corrupt.__name__] += 1
            assert follows(document, at), (corrupt.__name__, document)
    return accepted


@pytest.mark.parametrize("base", range(len(BASES)))
def test_the_sound_ones_are_accepted_and_true(base):
    document, truth, at = BASES[base]
    verdict = verify(document)
    assert verdict.accepted, verdict.reason
    assert follows(document, at)
    moved = copy.deepcopy(document)
    side = "lower" if truth < 0 else "upper"
    moved["conclusion"][side] = write(truth + (NANO if truth < 0 else -NANO))
    assert not follows(moved, at), "the judge must see a bound that is past the truth by 1e-9"
    assert not verify(moved).accepted


def run_kinds(seed: int, count: int) -> Counter[str]:
    """Damage to certificates of all other kinds; how many of each kind were tried and accepted."""
    dice, seen = random.Random(seed), Counter[str]()
    for number_of_try in range(count):
        base, holds = CASES[number_of_try % len(CASES)]
        document = json.loads(json.dumps(base))
        names = []
        for _ in range(1 if dice.random() < 0.8 else 2):
            damage = dice.choice(DAMAGE)
            names.append(damage.__name__)
            with contextlib.suppress(*MISSES):
                damage(document, dice)
        seen[f"{base['kind']} tried"] += 1
        verdict = verify(document)
        assert "the checker failed" not in verdict.reason, (names, verdict.reason, document)
        if verdict.accepted and document != base:
            seen[f"{base['kind']} accepted"] += 1
            with mp.workdps(40):
                assert holds(document), (names, document)
    return seen


@pytest.mark.parametrize("case", range(len(CASES)))
def test_certificates_of_all_kinds_are_accepted_and_true(case):
    document, holds = CASES[case]
    verdict = verify(document)
    assert verdict.accepted, verdict.reason
    with mp.workdps(40):
        assert holds(document)


def far_off(document):
    """What each kind says, made false."""
    wrong = copy.deepcopy(document)
    if document["kind"] == "root":
        if document["conclusion"]["complete"]:
            wrong["conclusion"]["roots"].pop()
            yield copy.deepcopy(wrong)
        wrong["conclusion"]["roots"] = [{"lo": "3/2", "hi": "7/4"}]
    elif "bound" in document:
        wrong["bound"] = write(F(document["bound"]) * F(11, 10) + NANO)
    else:
        for side, sign in (("lower", 1), ("upper", -1)):
            moved = copy.deepcopy(wrong)
            moved["conclusion"][side] = write(F(document["conclusion"]["upper"]) + 1 if sign > 0 else F(-90))
            yield moved
        return
    yield wrong


@pytest.mark.parametrize("case", range(len(CASES)))
def test_the_judges_see_what_is_false_and_so_does_the_checker(case):
    document, holds = CASES[case]
    for wrong in far_off(document):
        with mp.workdps(40):
            assert not holds(wrong), wrong
        assert not verify(wrong).accepted


def test_a_hundred_corruptions_of_the_other_kinds():
    seen = run_kinds(2, 130)
    assert sum(n for name, n in seen.items() if "accepted" in name) > 3, "the judges were never asked"


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20, 30))
def test_ten_thousand_corruptions_of_the_other_kinds(seed):
    run_kinds(seed, 1000)


def test_two_hundred_corruptions():
    accepted = run(1, 209)
    assert sum(accepted.values()) > 5, "nothing was accepted: the judge was never asked"
    for harmful in (past_the_truth, truncate_text, not_a_number, turn_bounds):
        assert accepted[harmful.__name__] <= 3


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(10, 20))
def test_ten_thousand_corruptions(seed):
    run(seed, 1000)

"""Whole certificates: what must be accepted, and what must not, whatever the reason."""

from __future__ import annotations

import copy
import json
import math
import time
from collections import Counter
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_certificates import F, hash_of, make, tree_of, uniform, write

from gateproof.proofs_check.checker import boxes, verify
from gateproof.proofs_check.checker.interval import Interval, Intervals
from gateproof.proofs_check.checker.kinds import Range

NATURAL = {"rule": "natural"}
DEEPEST = [{"at": {"x": "-1278/1000"}, "lower": "-27847/100000", "upper": "-27846/100000"}]
ACCEPTED = {
    "tanh sech": make("tanh(x)*sech(x)", lower="-5001/10000", upper="5001/10000", pieces=None),
    "gate of 1.702": make("x*sigmoid(1.702*x) - gelu(x)", lower="-204/10000", upper="204/10000", pieces=None),
    "its error": make(
        "abs(x*sigmoid(1.702*x) - gelu(x))", -2, 0, lower=0, upper="22/1000", pieces=2048, **NATURAL
    ),
    "silu": make("silu(x)", lower="-27847/100000", pieces=None),
    "mish": make("mish(x)", lower="-309/1000", pieces=None),
    "gelu": make("gelu(x)", lower="-17/100", pieces=None),
    "gelu_tanh": make("gelu_tanh(x) - gelu(x)", lower="-1/400", upper="1/400", pieces=None, cut=6),
    "square": make("x**2", -1, 2, lower=0, upper=4, pieces=3, **NATURAL),
    "square, strictly": make("x**2 + 1", -1, 2, lower="9999/10000", strict=True, pieces=2, **NATURAL),
    "abs": make("abs(x) - x", -3, 3, lower=0, upper=6, pieces=2, rule=("taylor", 2)),
    "max": make("max(x, 0) - min(x, 0) - abs(x)", lower=0, upper=0, pieces=2, rule=("taylor", 3)),
    "one twice": make("max(x/3, x/3)", -1, 1, lower="-1/2", upper="1/2", pieces=2, rule=("taylor", 2)),
    "where": make("where(x > 1/3, x, 1/3) - max(x, 1/3)", -1, 2, lower="-1", upper="1", pieces=9, **NATURAL),
    "undefined branch": make("where(x > 0, x*log(x), 0)", 1, 3, lower=0, pieces=8, **NATURAL),
    "soft threshold": make("soft_threshold(x) - x", lower="-51/100", upper="51/100", pieces=2048, **NATURAL),
    "strict at infinity": make("tanh(x)", upper=1, strict=True, pieces=16, **NATURAL),
    "half-line": make("exp(-x)*sin(x)", 0, "oo", lower=-1, upper=1, pieces=4, **NATURAL),
    "left half-line": make("exp(x)", "-oo", -1, lower=0, upper="1/2", strict=True, pieces=4, **NATURAL),
    "linear": make("x - x", lower=0, upper=0, pieces=1, cut=1, **NATURAL),
    "one point": make("x + 1/3", "1/7", "1/7", lower="9/21", upper="11/21", strict=True, pieces=1, **NATURAL),
    "witness only": make("silu(x)", -2, 2, pieces=1, witnesses=DEEPEST, **NATURAL),
}
ACCEPTED["linear"]["core"] = ["app", "mul", ["num", "0"], ["var", "x"]]
ACCEPTED["linear"]["formula_hash"] = hash_of(ACCEPTED["linear"]["core"])


def two_names():
    document = make("x", -1, 1, lower=-2, upper=2, pieces=1, rule="natural")
    document["core"] = ["app", "mul", ["var", "x"], ["var", "y"]]
    document["formula_hash"] = hash_of(document["core"])
    document["domain"]["y"] = {"lo": "0", "hi": "2"}
    document["tree"] = [
        "split",
        "y",
        "1/1",
        ["leaf", "natural"],
        ["split", "x", "0", ["leaf", "natural"]] * 1,
    ]
    document["tree"][4] = ["split", "x", "0/1", ["leaf", "natural"], ["leaf", "natural"]]
    document["witnesses"] = [{"at": {"x": "-1", "y": "2"}, "lower": "-2", "upper": "-2"}]
    return document


def no_names():
    document = make("pi", lower="31415926535897932384/10000000000000000000", upper="22/7", strict=True)
    return document | {"domain": {}, "tails": {}, "tree": ["leaf", "natural"]}


ACCEPTED["two names"] = two_names()
ACCEPTED["no names"] = no_names()


@pytest.mark.parametrize("name", ACCEPTED)
def test_true_certificates_are_accepted(name):
    document = json.loads(json.dumps(ACCEPTED[name]))
    verdict = verify(document)
    assert verdict.accepted, verdict.reason
    assert verdict.kind == "range"
    assert verdict.conclusion_checked
    assert document == ACCEPTED[name], "verify changed its input"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("tanh(x)*sech(x)", {"upper": "4999/10000", "pieces": 512}),
        (
            "silu(x)",
            {"lower": "-278464/1000000", "pieces": 2048, "rule": ("taylor", 6)},
        ),  # least: -0.2784645...
        ("x*sigmoid(1.702*x) - gelu(x)", {"lower": "-203/10000", "pieces": 512}),
        ("x**2", {"lo": -1, "hi": 2, "upper": 4, "strict": True}),
        ("abs(x)", {"lo": -1, "hi": 2, "lower": "1/1000"}),
        ("tanh(x)", {"upper": "999999/1000000"}),
        ("exp(x)", {"upper": 10**9}),
        ("sin(x)", {"upper": 1, "strict": True}),
        ("1/x", {"lo": -1, "hi": 1, "lower": -(10**9)}),
        ("log(x)", {"lo": 0, "hi": 1, "upper": 1, "rule": "natural"}),
        ("sqrt(x)", {"lo": -1, "hi": 1, "upper": 2, "rule": "natural"}),
        ("tan(x)", {"lo": 1, "hi": 2, "upper": 10**9, "rule": "natural"}),
        ("where(x > 0, 1, 0)", {"lo": -1, "hi": 1, "upper": "1/2", "rule": "natural"}),
        ("x - x", {"upper": 0, "strict": True}),
    ],
)
def test_false_conclusions_are_rejected(text, options):
    assert not verify(make(text, **options)).accepted


def changed(name="tanh sech", **fields):
    document = copy.deepcopy(ACCEPTED[name])
    for path, new in fields.items():
        *way, last = path.split("__")
        place = document
        for step in way:
            place = place[step]
        if new is DELETE:
            del place[last]
        else:
            place[last] = new
    return document


DELETE = object()
LEAF = ["leaf", "natural"]
MALFORMED = {
    "not an object": [1, 2],
    "null": None,
    "a text": "certificate",
    "empty": {},
    "no kind": changed(kind=DELETE),
    "unknown kind": changed(kind="sum"),
    "unhashable kind": changed(kind=["range"]),
    "version 2": changed(version=2),
    "version true": changed(version=True),
    "version as text": changed(version="1"),
    "unknown key": changed(extra=1),
    "text missing": changed(text=DELETE),
    "text a number": changed(text=3),
    "core missing": changed(core=DELETE),
    "wrong hash": changed(formula_hash="0" * 64),
    "hash a number": changed(formula_hash=0),
    "another formula, old hash": changed(core=["app", "tanh", ["var", "x"]]),
    "bits as text": changed(bits="106"),
    "bits true": changed(bits=True),
    "few bits": changed(bits=2),
    "endless bits": changed(bits=10**9),
    "bits NaN": changed(bits=math.nan),
    "bits a float": changed(bits=106.0),
    "domain a list": changed(domain=[]),
    "no domain": changed(domain={}),
    "end a float": changed(domain={"x": {"lo": -1.0, "hi": 1.0}}),
    "end NaN": changed(domain={"x": {"lo": "nan", "hi": "oo"}}),
    "end missing": changed(domain={"x": {"lo": "-oo"}}),
    "domain from oo": changed(domain={"x": {"lo": "oo", "hi": "oo"}}),
    "domain to -oo": changed(domain={"x": {"lo": "-oo", "hi": "-oo"}}),
    "reversed domain": changed("square", domain={"x": {"lo": "2", "hi": "-1"}}),
    "another name": changed(domain={"y": {"lo": "-oo", "hi": "oo"}}),
    "an odd name": changed("no names", domain={"a b": {"lo": "0", "hi": "1"}}),
    "conclusion missing": changed(conclusion=DELETE),
    "conclusion null": changed(conclusion=None),
    "says nothing": changed(
        conclusion={"lower": None, "lower_strict": False, "upper": None, "upper_strict": False}
    ),
    "strictness null": changed(conclusion__lower_strict=None),
    "strictness 1": changed(conclusion__upper_strict=1),
    "bound a float": changed(conclusion__upper=0.5001),
    "bound infinite": changed(conclusion__upper="oo"),
    "bound with a point": changed(conclusion__upper="0.5001"),
    "bound with exponent": changed(conclusion__upper="1e5"),
    "bound with blanks": changed(conclusion__upper=" 1/1"),
    "bound with a line end": changed(conclusion__upper="1/1\n"),
    "bound with other digits": changed(conclusion__upper="١"),
    "denominator 0": changed(conclusion__upper="1/0"),
    "negative denominator": changed(conclusion__upper="-1/-2"),
    "endless number": changed(conclusion__upper="1" * 6000),
    "reversed bounds": changed(conclusion__lower="6/10", conclusion__upper="4/10"),
    "no tails": changed(tails={}),
    "tails null": changed(tails=None),
    "one tail": changed(tails__x__minus=None),
    "tail missing": changed(tails__x={"plus": "8"}),
    "cuts swapped": changed(tails__x={"minus": "8/1", "plus": "-8/1"}),
    "cut near 0": changed("strict at infinity", tails__x__plus="1/2"),
    "cut on a finite side": changed("square", tails__x__plus="1"),
    "tail of an unknown name": changed("square", tails__y={"minus": None, "plus": None}),
    "cut that the tree does not reach": changed(tails__x__plus="1/1"),
    "cut with many digits": changed(tails__x__plus="1" * 300),
    "tree missing": changed(tree=DELETE),
    "tree null": changed(tree=None),
    "empty tree": changed(tree=[]),
    "tree a rule": changed(tree="natural"),
    "leaf without a rule": changed(tree=["leaf"]),
    "one leaf for all": changed(tree=LEAF),
    "leaf with two rules": changed("square", tree=["leaf", "natural", "natural"]),
    "split without a side": changed("square", tree=["split", "x", "0", LEAF]),
    "split outside": changed("square", tree=["split", "x", "5", LEAF, LEAF]),
    "split at an end": changed("square", tree=["split", "x", "-1", LEAF, LEAF]),
    "split at the other end": changed("square", tree=["split", "x", "2", LEAF, LEAF]),
    "split of an unknown name": changed("square", tree=["split", "y", "0", LEAF, LEAF]),
    "split at a float": changed("square", tree=["split", "x", 0.5, LEAF, LEAF]),
    "unknown rule": changed("square", tree=["leaf", "magic"]),
    "rule null": changed("square", tree=["leaf", None]),
    "order 0": changed("square", tree=["leaf", ["taylor", 0]]),
    "order true": changed("square", tree=["leaf", ["taylor", True]]),
    "order a float": changed("square", tree=["leaf", ["taylor", 2.0]]),
    "endless order": changed("square", tree=["leaf", ["taylor", 10**6]]),
    "taylor over a kink": changed("abs", tree=["leaf", ["taylor", 2]]),
    "taylor of two names": changed("two names", tree=["leaf", ["taylor", 2]]),
    "witnesses null": changed(witnesses=None),
    "witness null": changed(witnesses=[None]),
    "witness outside": changed("square", witnesses=[{"at": {"x": "3"}, "lower": "9", "upper": "9"}]),
    "witness of another name": changed("square", witnesses=[{"at": {"y": "1"}, "lower": "1", "upper": "1"}]),
    "witness without a name": changed("square", witnesses=[{"at": {}, "lower": "1", "upper": "1"}]),
    "witness not on the value": changed("square", witnesses=[{"at": {"x": "1"}, "lower": "1", "upper": "0"}]),
    "witness a little off": changed(
        "square", witnesses=[{"at": {"x": "1"}, "lower": "1000000001/1000000000", "upper": "2"}]
    ),
    "witness without an end": changed("square", witnesses=[{"at": {"x": "1"}, "lower": "1"}]),
}
CORES = {
    "null": None,
    "a number": 3,
    "empty": [],
    "an unknown kind": ["call", "x"],
    "an unknown head": ["app", "barnesg", ["var", "x"]],
    "an inner method": ["app", "_wave", ["var", "x"]],
    "an operation": ["app", "undecided", ["var", "x"]],
    "too many arguments": ["app", "exp", ["var", "x"], ["var", "x"]],
    "too few arguments": ["app", "div", ["var", "x"]],
    "no argument": ["app", "add"],
    "oo": ["app", "mul", ["num", "0"], ["const", "oo"]],
    "an unknown constant": ["const", "i"],
    "a float": ["num", 0.5],
    "an integer": ["num", 1],
    "a float as text": ["num", "0.5"],
    "an unknown name": ["var", "y"],
    "a name that is a list": ["var", ["x"]],
    "a condition as a value": ["rel", ["<"], ["var", "x"], ["num", "1"]],
    "a value as a condition": ["where", ["var", "x"], ["num", "1"], ["num", "1"]],
    "a relation without terms": ["where", ["rel", [], ["var", "x"]], ["num", "1"], ["num", "1"]],
    "an unknown relation": ["where", ["rel", ["in"], ["var", "x"], ["num", "1"]], ["num", "1"], ["num", "1"]],
    "a list as a relation": ["where", ["rel", [[]], ["var", "x"], ["num", "1"]], ["num", "1"], ["num", "1"]],
    "or of nothing": ["where", ["or"], ["num", "1"], ["num", "1"]],
    "an object": {"app": "exp"},
    "0 to a negative power": ["app", "pow", ["num", "0"], ["num", "-1"]],
    "1/0": ["app", "div", ["num", "1"], ["num", "0"]],
    "an endless power": ["app", "pow", ["num", "2"], ["app", "pow", ["num", "9"], ["num", "999999"]]],
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_certificates_are_rejected_with_a_reason(name):
    verdict = verify(MALFORMED[name])
    assert not verdict.accepted
    assert verdict.reason
    assert len(verdict.reason) < 400
    assert "the checker failed" not in verdict.reason


@pytest.mark.parametrize("name", CORES)
def test_malformed_formulas_are_rejected(name):
    document = changed("square", core=CORES[name], formula_hash=hash_of(CORES[name]))
    document["conclusion"] = changed("square")["conclusion"] | {"lower": "-1000000", "upper": "1000000"}
    verdict = verify(document)
    assert not verdict.accepted
    assert "the checker failed" not in verdict.reason


def test_truncated_json_is_no_certificate():
    text = json.dumps(ACCEPTED["square"])
    for end in range(1, len(text), 7):
        try:
            document = json.loads(text[:end])
        except ValueError:
            continue
        assert not verify(document).accepted


def test_every_missing_key_and_every_foreign_value_is_noticed():
    def places(item, way=()):
        yield way
        for key, part in (
            item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
        ):
            yield from places(part, (*way, key))

    base = changed("two names")
    for way in places(base):
        if not way or "core" in way:
            continue
        for new in (None, 1.5, math.nan, [], {}, "", "junk", -7, [["leaf"]], DELETE):
            document = copy.deepcopy(base)
            place = document
            for step in way[:-1]:
                place = place[step]
            if new is DELETE:
                del place[way[-1]]
            else:
                place[way[-1]] = new
            free = way == ("text",) and isinstance(new, str)
            # A bound, witness or empty tail that goes missing leaves less to prove.
            fewer = way[0] in ("witnesses", "tails") or way in (
                ("conclusion", "lower"),
                ("conclusion", "upper"),
            )
            verdict = verify(document)
            assert not verdict.accepted or free or (fewer and new in (None, [], {}, DELETE)), (way, new)
            assert "the checker failed" not in verdict.reason, (way, new)


def composite(*parts, **fields):
    return {"kind": "composite", "version": 1, "parts": [*parts], "conclusion": "all of it"} | fields


def test_composite():
    verdict = verify(composite(ACCEPTED["square"], composite(ACCEPTED["abs"], ACCEPTED["max"])))
    assert verdict.accepted
    assert not verdict.conclusion_checked
    assert "not checked" in verdict.reason
    assert "all of it" in verdict.reason
    assert verdict.boxes == 7
    verdict = verify(composite(ACCEPTED["square"], composite(MALFORMED["wrong hash"])))
    assert not verdict.accepted
    assert verdict.reason.startswith("part 2: part 1: formula_hash")
    for bad in (
        composite(),
        composite(None),
        composite(ACCEPTED["square"], conclusion=None),
        composite(ACCEPTED["square"], parts={}),
        composite(ACCEPTED["square"], version=3),
        composite(ACCEPTED["square"], extra=3),
    ):
        assert not verify(bad).accepted


def nested(depth, item, wrap):
    for _ in range(depth):
        item = wrap(item)
    return item


def core_document(core, **fields):
    return changed(
        "square", core=core, formula_hash=hash_of(core) if fields.pop("hashed", True) else "", **fields
    )


def hostile():
    x = ["var", "x"]
    yield nested(490, x, lambda t: ["app", "neg", t]), True
    yield nested(600, x, lambda t: ["app", "neg", t]), False
    yield nested(100, x, lambda t: ["app", "exp", t]), True
    yield ["app", "sin", nested(9, x, lambda t: ["app", "exp", t])], True
    yield ["app", "pow", x, ["num", "1" * 4000]], True
    yield ["app", "pow", ["num", "2"], ["num", "9" * 4000 + "/7"]], True
    yield ["app", "erfc", ["app", "mul", x, ["num", "1" * 4999]]], True
    yield ["app", "add", *[["app", "mul", x, ["num", f"1/{n}"]] for n in range(1, 30_000)]], True
    yield ["app", "mul", *[["num", f"{n}/{n + 1}"] for n in range(10**9, 10**9 + 40_000)]], True
    yield nested(100, x, lambda t: ["where", ["rel", ["<"], t, ["num", "1"]], x, ["app", "exp", x]]), True


@pytest.mark.parametrize(("core", "hashed"), list(hostile()))
def test_hostile_formulas_end_soon(core, hashed):
    document = core_document(core, hashed=hashed)
    begin = time.process_time()
    verdict = verify(document)
    assert time.process_time() - begin < 10
    assert len(verdict.reason) < 400


def test_hostile_documents_end_soon(monkeypatch):
    monkeypatch.setattr(boxes, "MAX_WORK", boxes.MAX_WORK // 50)
    begin = time.process_time()
    deep = nested(100_000, LEAF, lambda t: ["split", "x", "0", t, LEAF])
    assert not verify(changed("square", tree=deep)).accepted
    assert "nested" in verify(nested(100_000, {}, lambda t: composite(t))).reason
    deep = ["leaf", nested(100_000, "natural", lambda t: ["bounds", t, "natural"])]
    assert "nested" in verify(changed("square", tree=deep)).reason
    core = nested(100_000, ["var", "x"], lambda t: ["app", "neg", t])
    assert "nested" in verify(changed("square", core=core)).reason
    wide = changed("square", witnesses=[{"at": {"x": "1"}, "lower": "1", "upper": "1"}] * 20_000)
    verify(wide)
    slow = make("erfc(erfc(x))", -6, 6, upper=2, pieces=20_000, rule=("taylor", 64), bits=2200)
    assert "work" in verify(slow).reason
    slow = make("x", -6, 6, upper=7, pieces=10, rule="natural")
    slow["tree"] = many = uniform(F(-6), F(6), 2**18, "natural")
    assert "boxes" in verify(slow).reason
    assert many[0] == "split"
    assert time.process_time() - begin < 45


def test_values_that_no_json_holds():
    class Odd:
        pass

    for odd in (
        Odd(),
        {1: 2},
        {"kind": Odd()},
        {"kind": "range", 3: 4},
        changed(core=Odd()),
        changed(tree=(1, 2)),
    ):
        assert not verify(odd).accepted
    loop: list[object] = []
    loop.append(loop)
    assert not verify(loop).accepted
    assert not verify({"kind": "composite", "parts": loop, "version": 1, "conclusion": ""}).accepted


def test_the_margin_between_true_and_false_is_narrow():
    # sup of tanh(x) sech(x) is 1/2, at asinh(1) = 0.8813...
    near = Fraction(1, 10**9)

    def bound(upper):
        return make("tanh(x)*sech(x)", "8813/10000", "8814/10000", upper=upper, pieces=64, rule=("taylor", 6))

    assert verify(bound(F(1, 2) + near)).accepted
    assert not verify(bound(F(1, 2) - near)).accepted


@pytest.mark.parametrize(
    ("text", "order", "lower", "upper"),
    [
        ("x**2", 1, -3, 5),  # 1 + [0, 4] h
        ("x**2", 2, 0, 4),  # 1 + 2 h + 1 h^2, all terms together
        ("x**2", 3, 0, 4),  # ... + 0 h^3
        ("x**3", 2, -2, 10),  # 1 + 3 h + [0, 6] h^2
        ("x**3", 3, "-3/4", 8),  # 1 + 3 h + 3 h^2, least at h = -1/2, + 1 h^3 by itself
        ("x**4", 4, F(1, 3) - 4, 16),  # 1 + 4 h + 6 h^2, least at h = -1/3, + 4 h^3 + [0, 1]
        ("-x**2 + 3*x", 2, 0, "9/4"),  # 2 + 1 h - 1 h^2, highest at h = 1/2
        ("-x**2 + 5*x", 2, 0, 6),  # 4 + 3 h - 1 h^2 rises up to h = 1
        ("5*x - x**2", 1, -1, 9),  # 4 + [1, 5] h
    ],
)
def test_the_taylor_rule_is_the_one_of_the_format(text, order, lower, upper):
    options = {"lo": 0, "hi": 2, "pieces": 1, "rule": ("taylor", order)}
    loose = {"lower": F(lower) - F(1, 10**20), "upper": F(upper) + F(1, 10**20)}
    assert verify(make(text, **loose, **options)).accepted
    assert not verify(make(text, lower=F(lower) + F(1, 10**6), **options)).accepted
    assert not verify(make(text, upper=F(upper) - F(1, 10**6), **options)).accepted


@pytest.mark.parametrize("rule", ["natural", ("taylor", 1), ("taylor", 2)])
@pytest.mark.parametrize(("lo", "hi"), [("1/3", "1/3"), ("1/3", "2/3"), ("-2/3", "1/7"), ("-10/7", "-1/3")])
def test_ends_that_no_float_holds_are_kept_inside(lo, hi, rule):
    options = {"lo": lo, "hi": hi, "pieces": 1, "rule": rule, "bits": 32}
    tiny = F(1, 10**20)
    assert not verify(make("x", upper=F(hi) - tiny, **options)).accepted
    assert not verify(make("x", lower=F(lo) + tiny, **options)).accepted
    assert verify(make("x", lower=F(lo) - F(1, 10**8), upper=F(hi) + F(1, 10**8), **options)).accepted
    # At a witness, rational arithmetic is exact.
    for low, high, sound in ((-tiny, tiny, True), (0, 0, True), (tiny, 1, False), (-1, -tiny, False)):
        witness = {"at": {"x": lo}, "lower": write(F(lo) + low), "upper": write(F(lo) + high)}
        assert verify(make("x", lower=-9, witnesses=[witness], **options)).accepted is sound


@pytest.mark.parametrize(("digits", "bits"), [(15, 106), (300, 1100), (1000, 3500)])
def test_a_maximum_to_many_digits_takes_three_boxes(digits, bits):
    # sin has its maximum 1 at pi/2; r is about a right angle, and 1 - sin falls short by c_1^2/(4 abs(c_2)).
    with mp.workdps(digits + 20):
        r = F(int(mp.floor(mp.pi / 2 * 10**digits)), 10**digits)
    lo, hi, tiny = r - F(1, 8), r + F(1, 8), F(1, 10 ** (2 * digits // 3))
    sides = [["leaf", ["taylor", 4]]] * 2
    document = make("sin(x)", "3/4", "12/5", upper=1 + tiny, bits=bits, pieces=1)
    document["tree"] = [
        "split", "x", write(lo), sides[0], ["split", "x", write(hi), ["leaf", ["taylor", 2]], sides[1]]
    ]  # fmt: skip
    assert verify(document).accepted, verify(document).reason
    document["conclusion"]["upper"] = write(1 - tiny)
    assert not verify(document).accepted


@given(
    ends=st.lists(st.tuples(st.fractions(-3, 3), st.fractions(0, 1)), min_size=3, max_size=3),
    radius=st.fractions(0, 3),
    parts=st.lists(st.fractions(0, 1), min_size=4, max_size=4),
)
def test_no_quadratic_is_above_its_peak(ends, radius, parts):
    certificate, field = Range(make("x", 0, 1, upper=1, pieces=1), Counter()), Intervals(64)
    a, b, c = (Interval(field.number(lo).lo, field.number(lo + width).hi) for lo, width in ends)
    found = certificate.peak([a, b, c], radius).hi
    step = radius * (2 * parts[3] - 1)
    inside = [lo + width * part for (lo, width), part in zip(ends, parts, strict=False)]
    assert inside[0] + inside[1] * step + inside[2] * step**2 <= F(*map(int, found.as_integer_ratio()))
    # The best that can be said: the largest a and c, and abs(b), on a fine grid.
    (a1, a2), (b1, b2), (c1, c2) = ends
    best = max(a1 + a2 + max(abs(b1), abs(b1 + b2)) * s + (c1 + c2) * s**2 for s in grid(radius))
    assert float(found) <= float(best) + 1e-3 * (1 + float(radius)) ** 2


def grid(radius):
    return [radius * F(i, 64) for i in range(65)]


def test_only_the_rules_of_the_format_though_the_bound_is_generous():
    document = make("x**2", -1, 2, lower=-99, upper=99, pieces=1)
    for order, sound in (
        (1, True),
        (64, True),
        (0, False),
        (65, False),
        (-1, False),
        (True, False),
        (2.0, False),
    ):
        assert verify(document | {"tree": ["leaf", ["taylor", order]]}).accepted is sound


def test_a_cut_does_not_shorten_a_finite_domain():
    whole = make("x", 0, 9, lower=-1, upper=10, pieces=1)
    assert verify(whole).accepted
    for side, cut, bounds in (("plus", "2", {"upper": "3"}), ("minus", "2", {"lower": "1"})):
        tails = {"x": {"minus": None, "plus": None} | {side: cut}}
        assert not verify(whole | {"tails": tails, "conclusion": whole["conclusion"] | bounds}).accepted


def test_a_tail_starts_at_1_or_farther_and_is_of_one_name():
    assert verify(make("x", 0, "oo", lower=-1, cut=1, pieces=1)).accepted
    near = make("x", 0, "oo", lower=-1, cut=1, pieces=1)
    near["tails"]["x"]["plus"] = "1/2"
    assert "nearer to 0" in verify(near).reason
    for plus in (str(2**64), f"{2**70 + 1}/{2**69}"):
        near["tails"]["x"]["plus"] = plus
        assert not verify(near).accepted
    two = two_names()
    for name, cut in (("x", "2"), ("y", "3")):
        two["domain"][name] = {"lo": "-1", "hi": "oo"}
        two["tails"][name] = {"minus": None, "plus": cut}
    assert "only name" in verify(two).reason


def test_tree_of_the_zoo_is_read():
    assert tree_of("leaky_relu(x)")[0] == "where"

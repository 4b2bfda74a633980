"""Bounds of rounding errors are true: held against every point of small formats, and against facts."""

from __future__ import annotations

import copy
import random

import pytest
from gmpy2 import mpq
from small_formats import FORMATS, claim, ends, fails_at

from gateproof.proofs_check.checker import rounded, verify
from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.bounded import Bounded
from gateproof.proofs_check.checker.points import Points
from gateproof.proofs_check.checker.roundoff import Roundoff
from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.floating.bounds import Box
from gateproof.proofs_check.floating.polynomial import UnknownError
from gateproof.proofs_check.floating.program import Program
from gateproof.proofs_check.floating.rounding import Rounding
from gateproof.proofs_check.floating.written import tree
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula.nodes import Const, Num


@pytest.fixture(autouse=True)
def _small_formats(monkeypatch):
    for form in FORMATS:
        monkeypatch.setitem(rounded.FORMATS, form.name, (form.bits, form.highest))


def by_engine(form, stmt, box, wanted):
    numbers = [tuple(mpq(form.number(place)) for place in side) for side in box]
    try:
        return Box(form, ("x", "y"), numbers).holds(stmt, wanted=wanted)
    except UnknownError:
        return False


def by_checker(form, stmt, box, wanted):
    numbers = [tuple(mpq(form.number(place)) for place in side) for side in box]
    points = Points(form.name, {"x": None, "y": None}, 128)
    try:
        return Bounded(points, dict(zip("xy", numbers, strict=True))).holds(tree(stmt), wanted=wanted)
    except Rejected:
        return False


def false_bounds(decided, seed, count):
    """How many statements were taken to hold on a box, and the first of them that do not."""
    rng, held, wrong = random.Random(seed), 0, []
    for _ in range(count):
        form, stmt = rng.choice(FORMATS), claim(rng)
        box, wanted = [ends(rng, form), ends(rng, form)], rng.random() < 0.75
        if decided(form, stmt, box, wanted):
            held += 1
            if fails_at(form, stmt, box, wanted) is not None:
                wrong.append((form.name, stmt, box))
    return held, wrong


@pytest.mark.parametrize("decided", [by_engine, by_checker])
@pytest.mark.parametrize("seed", range(2))
def test_what_is_taken_to_hold_on_a_box_holds_at_its_points(decided, seed):
    held, wrong = false_bounds(decided, seed, 500)
    assert wrong == []
    assert held > 80


@pytest.mark.deep
@pytest.mark.parametrize("decided", [by_engine, by_checker])
@pytest.mark.parametrize("seed", range(10, 14))
def test_many_more_boxes(decided, seed):
    held, wrong = false_bounds(decided, seed, 8_000)
    assert wrong == []
    assert held > 1_500


def half_too_small(self, lo, hi):
    return max(abs(lo), abs(hi)) * self.unit / 4


def always_exact(self, result, poly, lo, hi, size):
    return True


def coarse_grid(self, lo, hi, before):
    return self.format.grid + self.format.bits


def wrong_half(self, size):
    return size * mpq(1, 64)


@pytest.mark.parametrize(
    ("decided", "kind", "name", "rule"),
    [
        (by_engine, Rounding, "_half", half_too_small),
        (by_engine, Rounding, "_is_exact", always_exact),
        (by_engine, Rounding, "_grid", coarse_grid),
        (by_engine, Rounding, "_relative", lambda self, result, normal: (result.relative, 0)),
        (by_engine, Rounding, "_error", lambda self, result, normal: result.error),
        (by_checker, Roundoff, "half", wrong_half),
        (by_checker, Roundoff, "exact", lambda self, a, ends, grid, shift: shift or grid is not None),
        (by_checker, Roundoff, "grid", lambda self, size: self.bottom + 2),
    ],
)
def test_a_wrong_rule_is_seen(monkeypatch, decided, kind, name, rule):
    monkeypatch.setattr(kind, name, rule)
    _, wrong = false_bounds(decided, 1, 1_000)
    assert wrong != []


def test_each_computed_value_is_where_it_is_said_to_be():
    rng, seen = random.Random(5), 0
    for _ in range(400):
        form, stmt = rng.choice(FORMATS), claim(rng)
        box = [ends(rng, form), ends(rng, form)]
        work = Box(form, ("x", "y"), [tuple(mpq(form.number(p)) for p in side) for side in box])
        try:
            work.holds(stmt)
        except UnknownError:
            continue
        program = Program(form, ("x", "y"))
        for node, value in work._computed.items():
            if isinstance(node, Num | Const):
                continue
            at = program.computed(node)
            for _ in range(10):
                point = tuple(mpq(form.number(rng.randint(*side))) for side in box)
                found = at(point)
                assert value.lo <= found <= value.hi
                assert found == 0 or (found / mpq(2) ** value.grid).denominator == 1
                seen += 1
    assert seen > 2_000


#: Jeannerod and Rump (2013): (n - 1) u for sums of n terms, n u for inner products, u^2 not needed.
SUM = (
    "in float32: for x in [-8, 8], y in [-8, 8], z in [-8, 8]:"
    " abs(fl(x + y + z) - (x + y + z)) <= {}*(abs(x) + abs(y) + abs(z))"
)
INNER = (
    "in float64: for a in [-9, 9], b in [-9, 9], x in [-9, 9], y in [-9, 9]:"
    " abs(fl(a*x + b*y) - (a*x + b*y)) <= {}*(abs(a*x) + abs(b*y)){}"
)
HOLD = [
    "in float32: for x in [2, 4]: abs(fl(x*x - 1) - (x*x - 1)) <= 2*ulp",
    "in float32: for x in [1/100, 100], y in [1/100, 100], y/2 <= x <= 2*y: fl(x - y) == x - y",
    "in float64: for x in [1, 2], y in [1, 2]: abs(fl(x*y) - x*y) <= 2**(-53)*abs(x*y)",
    # Higham, Accuracy and Stability (2nd ed.), 2.2: fl(x op y) = (x op y)(1 + d), and d <= u/(1 + u).
    "in float32: for x in [1, 2], y in [1, 2]: abs(fl(x + y) - (x + y)) <= 1/(2**24 + 1)*abs(x + y)",
    # With gradual underflow h is added (2.8 there).
    "in float32: for x in [-1, 1], y in [-1, 1]: abs(fl(x*y) - x*y) <= 2**(-24)*abs(x*y) + 2**(-150)",
    "in float32: for x in R, abs(x) < 10**30: abs(fl(x + 1) - (x + 1)) <= ulp/2",
    "in float32: for x in R \\ {0}: fl(x/x) == 1",
    "in float64: for x in [-10**300, 10**300]: fl(2*x) == 2*x",
    "in float32: for x in [1/1024, 1024]: fl(sqrt(x*x)) == abs(x)",
    # Dekker (1971).
    "in float32: for a in [1, 4], b in [-1, 1]: fl(a + b) + fl(b - (a + b - a)) == a + b",
    # Goldberg (1991), 1.4: (x - y)*(x + y) errs by few units where x*x - y*y loses all digits.
    "in float64: for x in [1, 2], y in [1, 2]: abs(fl((x - y)*(x + y)) - (x*x - y*y)) <= 3*ulp",
    "in float64: for a in [1, 2], b in [1, 2]: fl(a*b) + fl(fma(a, b, -(a*b))) == a*b",
    "in float32: for x in [-1/8, 1/8]: abs(fl(1 + x*(1 + x/2)) - exp(x)) <= 1/1000",
    "in float32: for x in R: fl(relu(x)) == relu(x)",
    SUM.format("2**(-23)"),
    INNER.format("2**(-52)", " + 2**(-1072)"),
    "in float32: for a in [0, 1], x in [-1, 1], y in [-1, 1]: abs(fl(a*x + (1 - a)*y)) <= 1.000001",
    "in float32: for x in [0, 1], y in [0, 1]: fl(x + y) == fl(y + x) and fl(x*y) <= 1",
]
FAIL = [
    "in float32: for x in [2, 4]: abs(fl(x*x - 1) - (x*x - 1)) <= 0.99*ulp",
    "in float32: for x in [1/100, 100], y in [1/100, 100], y/4 <= x <= 2*y: fl(x - y) == x - y",
    "in float32: for x in [1, 2], y in [1, 2]: abs(fl(x + y) - (x + y)) <= 1/(2**24 + 2)*abs(x + y)",
    "in float32: for x in [-1, 1], y in [-1, 1]: abs(fl(x*y) - x*y) <= 2**(-24)*abs(x*y)",
    "in float32: for x in [-10**30, 10**30]: fl(x/2) == x/2",
    SUM.format("2**(-24)"),
    INNER.format("2**(-52)", ""),
    "in float32: for x in [2**(-100), 1024]: fl(sqrt(x*x)) == abs(x)",
    "in float32: for a in [1, 4], b in [-8, 8]: fl(a + b) + fl(b - (a + b - a)) == a + b",
    "in float64: for x in [1, 2], y in [1, 2]: abs(fl(x*x - y*y) - (x*x - y*y)) <= 3*ulp",
]


@pytest.mark.parametrize("formal", HOLD)
def test_facts_are_certified_by_boxes(formal):
    found = decide(Reading("x", formal), Settings())
    assert (found.verdict, found.method) == ("certified", "bounds of rounding errors on boxes"), found.reason
    assert found.controls.caught == found.controls.planted == 1
    assert found.certificate is not None
    assert verify(dict(found.certificate)).accepted


@pytest.mark.parametrize("formal", FAIL)
def test_what_is_false_beside_them_is_not(formal):
    assert decide(Reading("x", formal), Settings()).verdict == "refuted"


def leaves(boxes):
    if boxes[0] == "leaf":
        yield boxes
    else:
        yield from leaves(boxes[3])
        yield from leaves(boxes[4])


def damaged(document):
    """Copies of a certificate of 2*ulp on [2, 4] that are no certificates of anything true."""
    claim_text = document["claim"]
    assert claim_text[0] == "rel"

    def copied():
        return copy.deepcopy(document)

    tighter = copied()
    tighter["claim"][3][2] = ["num", "1/1"]
    yield "a smaller bound", tighter
    wider = copied()
    wider["domain"]["x"]["lo"] = "0/1"
    yield "a larger domain", wider
    between = copied()
    between["domain"]["x"]["hi"] = "16777217/4194304"
    yield "an end between two numbers", between
    coarser = copied()
    coarser["format"] = "float128"
    yield "no format", coarser
    for rule in ("outside", "all", None):
        other = copied()
        for leaf in leaves(other["tree"]):
            leaf[1] = rule
        yield f"the rule {rule}", other
    if document["tree"][0] == "split":
        cut = copied()
        cut["tree"][2] = "5/1"
        yield "a split outside", cut
        missing = copied()
        missing["tree"][4] = ["leaf"]
        yield "half of the boxes", missing
    more = copied()
    more["extra"] = 1
    yield "another key", more
    equal = copied()
    equal["claim"] = ["rel", ["=="], ["fl", ["var", "x"]], ["num", "3/1"]]
    yield "another claim", equal


def test_damaged_certificates_are_rejected():
    found = decide(Reading("x", HOLD[0]), Settings())
    assert found.certificate is not None
    document = dict(found.certificate)
    assert document["tree"][0] == "split"
    for what, other in damaged(document):
        assert not verify(other).accepted, what

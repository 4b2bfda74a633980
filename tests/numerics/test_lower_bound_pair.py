"""Gates with two sharpnesses: leaves held against fits at samples, series against exact maths, damage."""

from __future__ import annotations

import copy
import gzip
import json
import random
from fractions import Fraction
from pathlib import Path

import mpmath as mp
import pytest
from flint import arb, arb_series
from scipy.special import ndtr
from tests.naive_pair_bounds import gates, least_error

from gateproof.numerics.lower_bound_pair import Leaf, excludes
from gateproof.numerics.lower_bound_pair_certificate import (
    check,
    conclusion,
    leaves,
    main,
    read,
    residual,
)
from gateproof.numerics.lower_bound_pair_search import PARTS, Search
from gateproof.numerics.lower_bound_pair_shapes import Box, flat_enough, reciprocal, sigmoid, sinhc
from gateproof.numerics.precision import precision
from gateproof.theory.formula import expand, parse_expr

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "proofs_check/evidence/certificates/gelu_two_sharpnesses.json.gz"
BOUND = Fraction(4, 10**4)
#: Finite boxes near the best gates of one sharpness (t = 2.17, threshold distance from c), and far ones.
CELLS = [
    Box(
        "cross", ((Fraction(2), Fraction(9, 4)), (Fraction(0), Fraction(1, 8)), (Fraction(1), Fraction(3, 2)))
    ),
    Box(
        "beyond",
        ((Fraction(2), Fraction(9, 4)), (Fraction(1, 16), Fraction(1, 8)), (Fraction(1, 4), Fraction(1, 2))),
    ),
    Box(
        "near",
        ((Fraction(2), Fraction(9, 4)), (Fraction(0), Fraction(1, 16)), (Fraction(1, 4), Fraction(3, 8))),
    ),
    Box("cross", ((Fraction(4), None), (Fraction(8), None), (Fraction(0), Fraction(1, 2)))),
]


def gelu(x):
    return x * ndtr(x)


@pytest.fixture(scope="module")
def ahead():
    with precision(64):
        return residual(expand(parse_expr("gelu(x)")), "x")


@pytest.fixture(scope="module")
def document():
    return read(KEPT)


def parts(document):
    for part, tree in zip(PARTS, document["parts"]["forward"], strict=True):
        yield from leaves(part, tree)


def refuted(rng, box, leaf, bound):
    """At a gate drawn from the box: whether no lines make it close to gelu at the leaf's points alone."""
    gate = gates(rng, box.chart, box.sides, box.ratio)
    return gate is None or least_error(gate, gelu, [*leaf.weights, *leaf.pivots], float(bound)) > float(bound)


@pytest.mark.parametrize("box", CELLS, ids=[b.chart for b in CELLS])
def test_search_and_samples(ahead, box):
    with precision(64):
        search = Search(ahead, BOUND)
        tree = search.tree(box)
        assert tree is not None, search.reason
        found = list(leaves(box, tree))
        assert all(excludes(ahead, BOUND, b, leaf)[0] for b, leaf in found)
    rng = random.Random(len(found))
    assert all(refuted(rng, *rng.choice(found), BOUND) for _ in range(60))


def test_no_leaf_where_a_gate_is_closer(ahead):
    # One sharpness 2.1699, thresholds -+0.5955, off by 0.00287: d = 0, p1/p2 = exp(-2.1699 * 1.191).
    r = Fraction(75461, 10**6)
    t = Fraction(21699, 10**4)
    box = Box("beyond", ((t, t), (Fraction(0), Fraction(0)), (r, r)))
    with precision(64):
        assert Search(ahead, Fraction(27, 10**4)).tree(box) is not None
        high = Search(ahead, Fraction(29, 10**4))
        assert high.tree(box) is None
        assert "too small" in high.reason


def test_the_kept_certificate_at_samples(ahead, document):
    assert Fraction(document["bound"]) == BOUND
    everything = list(parts(document))
    rng = random.Random(4)
    chosen = rng.sample(everything, 150)
    with precision(document["bits"]):
        for one in (ahead, ahead.mirrored()):
            assert all(excludes(one, BOUND, box, leaf)[0] for box, leaf in chosen)
            assert not any(
                excludes(one, BOUND * 10**4, box, leaf)[0] for box, leaf in chosen[:20] if leaf.weights
            )
    for box, leaf in rng.sample([p for p in everything if p[1].weights], 300):
        assert refuted(rng, box, leaf, BOUND)


def test_no_gate_comes_close():
    # Any two sharpnesses and thresholds, the best lines for them on a grid.
    rng = random.Random(7)
    x = [k / 8 for k in range(-48, 49)] + [-12, 12]
    for _ in range(150):
        one, two = (2 ** rng.uniform(-1, 3) for _ in range(2))
        h, k = rng.gauss(0, 0.7), rng.gauss(0, 0.7)
        assert least_error((one, two, h, k), gelu, x, 1.0) > 4e-4


@pytest.mark.deep
def test_the_whole_certificate(document):
    assert check(document) is None


def test_the_command_says_what_holds_and_what_does_not(tmp_path, capsys, document):
    # The figures of docs/lower-bounds.md.
    family = "no gate of three branches with two sharpnesses"
    assert conclusion(document) == f"{family} is within 1/2500 of x*erfc(-x/sqrt(2))/2 (10249 leaves)"
    damaged = tmp_path / "damaged.json.gz"
    damaged.write_bytes(gzip.compress(json.dumps({**document, "formula_hash": "0" * 64}).encode()))
    assert main(["check", str(damaged)]) == 1
    assert capsys.readouterr().out == "the certificate does not hold: formula_hash\n"


def test_an_interrupted_search_is_one_line(tmp_path, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "tree", interrupt)
    found = tmp_path / "found.json.gz"
    assert main(["make", "gelu(x)", "x", "1/2500", str(found)]) == 1
    assert capsys.readouterr().err == "interrupted\n"
    (tmp_path / "found.json.gz.part").write_text("")
    assert main(["make", "gelu(x)", "x", "1/2500", str(found)]) == 1
    assert capsys.readouterr().err == f"interrupted; finished cells are in {found}.part\n"
    assert not found.exists()


def test_a_certificate_with_damage(document):
    first = copy.deepcopy(document)
    first["family"]["left"]["slope"] = "1/1"
    second = {**document, "formula_hash": "0" * 64}
    third = {**document, "text": "silu(x)"}
    fourth = {**document, "parts": {**document["parts"], "forward": document["parts"]["forward"][:3]}}
    fifth = {**document, "bound": "-1/2500"}
    assert [check(d) for d in (first, second, third, fourth, fifth)] == [
        "family",
        "formula_hash",
        "formula_hash",
        "forward",
        "bound",
    ]


def test_a_leaf_with_damage(ahead, document):
    rng = random.Random(1)
    whole = [p for p in parts(document) if p[1].weights]
    seen = 0
    with precision(64):
        for box, leaf in rng.sample(whole, 60):
            heavy = max(leaf.weights, key=lambda x: abs(leaf.weights[x]))
            turned = Leaf({**leaf.weights, heavy: -leaf.weights[heavy]}, leaf.pivots)
            if excludes(ahead, BOUND, box, turned)[0]:
                # Its points must do by themselves then.
                assert all(refuted(rng, box, turned, BOUND) for _ in range(20))
            else:
                seen += 1
            assert not excludes(ahead, BOUND, box, Leaf({}, leaf.pivots))[0]
            same = Leaf(leaf.weights, (leaf.pivots[0], leaf.pivots[0]))
            assert not excludes(ahead, BOUND, box, same)[0]
    assert seen > 50
    tree = ["split", "t", "5/1", ["leaf", [], ["0", "1"]], ["leaf", [], ["0", "1"]]]
    with pytest.raises(ValueError, match="cut of t"):
        list(leaves(CELLS[0], tree))


SERIES = [
    (sigmoid, lambda z: 1 / (1 + mp.exp(-z)), (-3, 0.2, 4)),
    (reciprocal, lambda q: 1 / (1 + q), (0.01, 0.5, 7)),
    (sinhc, lambda s: mp.sinh(mp.sqrt(s)) / mp.sqrt(s), (0.01, 1, 60)),
]


@pytest.mark.parametrize(("ours", "exact", "points"), SERIES, ids=["sigmoid", "reciprocal", "sinhc"])
def test_series_against_derivatives(ours, exact, points):
    # The inner function x + 3 x^2 has the second coefficient 3.
    with precision(64), mp.workdps(30):
        for x in points:
            for radius in (0, 1e-3):
                found = ours(arb_series([arb(x, radius), 1, 3], prec=3))
                right = mp.taylor(lambda h, x=x: exact(x + h + 3 * h * h), 0, 2)
                for k, value in enumerate(right):
                    ball = found[k]
                    assert (
                        abs(mp.mpf(str(ball.mid().str(25, radius=False))) - value)
                        <= float(ball.rad()) + 1e-15
                    )
                assert float(found[2].rad()) < 0.1 + abs(float(found[2].mid()))


def test_charts_cover_what_they_say():
    with precision(64):
        assert flat_enough()
    cross, first, second, near = PARTS
    assert first.sides[1][0] == second.sides[1][1] == near.sides[1][1]
    r, (d, c) = float(second.sides[2][1]), (float(near.sides[1][1]), float(cross.sides[2][1]))
    # Where r is larger than in the third part, tanh(d c) and d coth(d c) are within the fourth.
    for share in (1e-6, 0.3, 0.9, 1):
        for past in (0, 0.5, -mp.log(r) / (2 * d * share)):
            k = mp.tanh(d * share * (c + past))
            assert mp.exp(-2 * d * share * past) >= r * (1 - 1e-9)
            assert k < 0.375
            assert d * share / k <= float(near.sides[2][1])

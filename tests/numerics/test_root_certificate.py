"""Certificates of zeros: mpmath's samples and the checker agree with them, and wrong ones are not written."""

from __future__ import annotations

import copy
from fractions import Fraction
from itertools import product

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_roots import objection as of_samples
from random_formulas import by_mpmath, core, mpf

from gateproof.numerics.certify import certify
from gateproof.numerics.factor_roots import zeros_document
from gateproof.numerics.root_certificate import crossing_certificate, root_certificate
from gateproof.numerics.roots import zeros
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula import parse_expr

F = Fraction


def objection(document) -> str | None:
    """What the samples or the checker have against it."""
    verdict = verify(document)
    return of_samples(document) or (None if verdict.accepted else verdict.reason)


def certified(text: str, lo=None, hi=None, digits=20, **closed):
    found = zeros(core(text), "x", lo, hi, digits, **closed)
    assert found.status == "ok", found.reason
    return found.points, root_certificate(core(text), "x", (lo, hi), found.points, digits)


SLOPES = [
    "gelu",
    "gelu_tanh",
    "silu",
    "mish",
    "tanh",
    "softplus",
    "memglu",
    "resech",
    "telu",
    "gaussian",
    "isru",
]


@pytest.mark.parametrize(("name", "order"), list(product(SLOPES, (1, 2))))
def test_zeros_of_derivatives_of_the_zoo_leave_certificates(name, order):
    found = certify(parse_expr(f"zeros(diff({name}(x), x, {order}), x in R)"), 20)
    assert found["kind"] in ("set", "empty")
    assert objection(found["certificate"]) is None


@pytest.mark.parametrize(
    ("text", "roots"),
    [
        ("x**3 - x", 3),
        ("(x - 1)**2", 1),
        ("x**2 - 2*x + 1", 1),
        ("x**2*exp(-x)", 1),
        ("(x - 1)**2*(x - 1 - 1/10**21)", 2),
        ("abs(2*x + 1)", 1),
        ("abs(x - 1) + abs(x + 1) - 3", 2),
        ("max(0, x - 1) - 1/2", 1),
        ("(x - 1/3)*(x + 1)", 2),
        ("tanh(50*(x - 1))", 1),
        ("exp(x) + 1", 0),
        ("exp(-x**2)", 0),
        ("cosh(x) - 1", 1),
        ("erf(x) - tanh(x)", 1),
    ],
)
def test_all_zeros_and_no_others(text, roots):
    points, document = certified(text)
    assert len(points) == roots
    assert document is not None
    assert objection(document) is None
    main = document["parts"][0] if document["kind"] == "composite" else document
    claimed = main["conclusion"]["roots"]
    assert all(F(r["lo"]) <= a and b <= F(r["hi"]) for r, (a, b) in zip(claimed, points, strict=True))


@pytest.mark.parametrize(
    ("text", "lo", "hi", "roots"),
    [
        # A zero at the end counts, whether the set holds it or not.
        ("x*(1 - x)", F(0), F(1), [F(0), F(1)]),
        ("x**2*(1 - x)", F(0), F(2), [F(0), F(1)]),
        ("sin(x)", F(-1), F(7), [F(0), None, None]),
        ("x - 1/2", F(1), None, []),
    ],
)
def test_ends(text, lo, hi, roots):
    for closed in ({}, {"lo_closed": False}):
        _, document = certified(text, lo, hi, **closed)
        assert document is not None
        assert objection(document) is None
        claimed = document["conclusion"]["roots"]
        assert len(claimed) == len(roots)
        assert all(r is None or F(c["lo"]) == r == F(c["hi"]) for c, r in zip(claimed, roots, strict=True))


def test_no_value_at_an_end_no_certificate():
    assert root_certificate(core("x*log(x)"), "x", (F(0), F(2)), [(F(1), F(1))], 20) is None
    assert root_certificate(core("1/x"), "x", (F(0), F(2)), [], 20) is None
    assert root_certificate(core("1/x - 1"), "x", (F(-1), F(2)), [(F(1), F(1))], 20) is None


@pytest.mark.parametrize(
    ("text", "places"),
    [
        # One missed, one too many, one beside, a double zero missed, a continuum, infinitely many.
        ("x**3 - x", [F(-1), F(0)]),
        ("x**3 - x", [F(-1), F(0), F(1), F(2)]),
        ("x**2 - 2", [F(-7, 5), F(7, 5)]),
        ("(x - 1)*(x - 1 - 1/10**30)", [F(1)]),
        ("x**2*exp(-x)*(x - 1)", [F(1)]),
        ("relu(x)", [F(0)]),
        ("sin(x)", [F(0)]),
        ("exp(-x)", [F(50)]),
        ("x**2 + 1/10**30", [F(0)]),
    ],
)
def test_wrong_lists_get_no_certificate(text, places):
    assert root_certificate(core(text), "x", (None, None), [(p, p) for p in places], 15) is None


@pytest.mark.parametrize(
    ("text", "roots"),
    [
        ("(x**2 - 2)**2", 2),
        ("3*abs(exp(x) - 2)*(x**2 + 1)", 1),
        ("-(gelu(x) - 1)**2*(x - 1)", 2),
        ("(tanh(x) - x/2)**2", 3),
    ],
)
def test_zeros_that_touch_are_those_of_factors(text, roots):
    found = zeros(core(text), "x", None, None, 15)
    assert len(found.points) == roots
    document = zeros_document(core(text), "x", (None, None), found.points, 15)
    assert document is not None
    assert objection(document) is None
    for wrong in (found.points[1:], [*found.points, (F(7), F(7))]):
        assert zeros_document(core(text), "x", (None, None), wrong, 15) is None


def test_a_change_of_sign():
    document = crossing_certificate(core("exp(x) - 3"), "x", F(1), F(5, 4))
    assert objection(document) is None
    assert objection(crossing_certificate(core("exp(x) - 3"), "x", F(5, 4), F(3, 2))) is not None


def test_the_samples_object_to_damage():
    _, document = certified("x**3 - x")
    for change in (_drop_root, _move_cut, _swap_rule):
        damaged = copy.deepcopy(document)
        change(damaged)
        assert objection(damaged) is not None


def _drop_root(document):
    del document["conclusion"]["roots"][1]


def _move_cut(document):
    document["tails"]["x"]["plus"] = "1/2"


def _swap_rule(document):
    def swap(tree):
        if tree[0] == "leaf":
            if isinstance(tree[1], list) and tree[1][0] == "root":
                tree[1] = "natural"
            return
        swap(tree[3])
        swap(tree[4])

    swap(document["tree"])


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(-40, 40), st.integers(1, 3)), min_size=1, max_size=3, unique_by=lambda t: t[0]
    )
)
def test_planted_zeros_of_any_order(planted):
    """Zeros at multiples of 1/8, each as often as its order, in a product written as a sum."""
    text = "*".join(f"(x - ({p})/8)**{n}" for p, n in planted)
    points, document = certified(f"exp(x/5)*({text}) + 0")
    assert sorted(points) == sorted((F(p, 8), F(p, 8)) for p, _ in planted)
    assert document is not None
    assert objection(document) is None


@pytest.mark.parametrize(
    ("name", "order", "start"),
    [
        ("silu", 2, 2.4),
        ("silu", 2, -2.4),
        ("mish", 2, 1.5),
        ("mish", 2, -2.25),
        ("gelu", 1, -0.75),
        ("gelu_tanh", 1, -0.75),
        ("gelu_tanh", 2, 1.4),
    ],
)
def test_places_against_mpmath(name, order, start):
    """Findroot on mpmath's own numerical derivative at 80 digits."""
    found = certify(parse_expr(f"zeros(diff({name}(x), x, {order}), x in R)"), 40)
    f = core(f"{name}(x)")
    with mp.workdps(80):
        right = mp.findroot(lambda t: mp.diff(lambda s: by_mpmath(f, s), t, order), mp.mpf(start), tol=1e-50)
        near = [p for p in found["points"] if abs(mpf(F(p["lo"])) - right) < mp.mpf(10) ** -38]
    assert len(near) == 1


def test_inflections_of_gelu_are_the_square_roots_of_two():
    for digits in (25, 100):
        found = certify(parse_expr("zeros(diff(gelu(x), x, 2), x in R)"), digits)
        assert found["digits"] == digits
        (left, right) = found["points"]
        assert F(right["lo"]) ** 2 <= 2 <= F(right["hi"]) ** 2
        assert F(left["hi"]) ** 2 <= 2 <= F(left["lo"]) ** 2
        assert F(left["hi"]) < 0

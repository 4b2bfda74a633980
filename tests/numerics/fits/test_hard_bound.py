"""Proved lower bounds of hard gates: what they say is true, and damaged ones are not accepted."""

from __future__ import annotations

import copy
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateproof.numerics.backends.formula import formula
from gateproof.numerics.fits.hard import hard_fit
from gateproof.numerics.fits.hard_check import holds
from gateproof.numerics.fits.hard_document import document_of
from gateproof.numerics.fits.target import of_formula
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula import expand, parse_expr

CASES = [
    ("gelu(x)", None, None, 5, {}),
    ("gelu(x)", None, None, 5, {"continuous": True}),
    ("gelu(x)", None, None, 4, {"ends": "slopes"}),
    ("gelu(x)", None, None, 6, {"ends": "slopes", "continuous": True}),
    ("tanh(x)", None, None, 3, {"continuous": True}),
    ("tanh(x)", None, None, 4, {"family": "constant"}),
    ("sin(x)", 0, 6, 4, {}),
    ("sin(x)", 0, 6, 4, {"continuous": True}),
    ("exp(-x)", 0, None, 3, {"continuous": True}),
    ("x**2", 1, 2, 3, {"family": "multiplicative"}),
    ("exp(-x**2)", None, None, 4, {"continuous": True}),
    ("sqrt(x)", 0, 1, 3, {"continuous": True}),
]


def target(text, lo, hi):
    ends = [None if e is None else Fraction(e) for e in (lo, hi)]
    return of_formula(formula(text), expand(parse_expr(text)), *ends)


@pytest.fixture(scope="module", params=CASES, ids=str)
def found(request):
    text, lo, hi, k, options = request.param
    return hard_fit(target(text, lo, hi), k, **options)


def test_the_bound_is_proved_and_close(found):
    assert found.bound is not None
    assert holds(found.witness)
    assert 0 <= found.error / float(found.bound) - 1 < 1e-9


def test_another_program_accepts_the_certificate(found):
    verdict = verify(found.record)
    assert verdict.accepted, verdict.reason
    # A higher bound in the same places is rejected.
    bound = Fraction(found.witness["bound"])
    higher = document_of({**found.witness, "bound": str(bound * (1 + Fraction(1, 10**6)))})
    assert not verify(higher).accepted


def test_an_end_that_is_no_double():
    text, lo, hi = "exp(x)", Fraction(1, 10), Fraction(7, 10)
    whole = of_formula(formula(text), expand(parse_expr(text)), lo, hi)
    for continuous in (False, True):
        found = hard_fit(whole, 2, continuous=continuous)
        assert holds(found.witness)
        assert all(lo <= Fraction(p) <= hi for b in found.witness["blocks"] for p in b["points"])
        assert found.error == pytest.approx(float(found.bound), rel=1e-11)


def damaged(record, how):
    made = copy.deepcopy(dict(record))
    how(made)
    return made


def test_a_higher_bound_is_not_accepted(found):
    for more in (Fraction(1, 10**9), Fraction(1, 100), Fraction(2)):
        higher = str(Fraction(found.witness["bound"]) * (1 + more))
        assert not holds(damaged(found.witness, lambda r, b=higher: r.update(bound=b)))


def test_a_moved_or_missing_witness_is_not_accepted(found):
    record = found.witness
    for number, block in enumerate(record["blocks"]):

        def moved(r, n=number):
            points = r["blocks"][n]["points"]
            points[-1] = str(Fraction(points[-1]) - Fraction(1, 50))

        def fewer(r, n=number):
            del r["blocks"][n]

        def flat(r, n=number):
            r["blocks"][n]["points"] = r["blocks"][n]["points"][:1] * len(r["blocks"][n]["points"])

        # What a bound last line breaks, it may break elsewhere as well.
        assert number == len(record["blocks"]) - 1 or not holds(damaged(record, moved))
        assert not holds(damaged(record, fewer))
        if len(block["points"]) > 1:
            assert not holds(damaged(record, flat))


def test_other_claims_are_not_accepted(found):
    def one_more(r):
        r["branches"] += 1

    def repeated(r):
        r["blocks"].append(r["blocks"][-1])
        r["branches"] += 1

    def other(r):
        # Half of the target is fitted with half the error, where no line is given.
        r["target"] = f"({r['target']})/2"
        r["left"] = r["right"] = None

    def nonsense(r):
        r["bound"] = "-1"

    def smaller(r):
        points = [Fraction(p) for b in r["blocks"] for p in b["points"]]
        r["domain"] = [None, str(max(points) - Fraction(1, 10**9))]
        r["right"] = None

    for how in (one_more, repeated, other, nonsense, smaller):
        assert not holds(damaged(found.witness, how))


def test_one_side_turned_is_not_accepted():
    record = hard_fit(target("gelu(x)", None, None), 5, continuous=True).witness
    for number in range(5):

        def turned(r, n=number):
            r["blocks"][n]["side"] = -r["blocks"][n]["side"]

        assert not holds(damaged(record, turned))


def test_pieces_with_jumps_beat_a_bound_for_continuous_ones():
    # So a record of the one kind must not pass for the other.
    text = "gelu(x)"
    jumps = hard_fit(target(text, None, None), 8)
    whole = hard_fit(target(text, None, None), 8, continuous=True)
    assert jumps.error < float(whole.bound)
    assert not holds(damaged(whole.witness, lambda r: r.update(continuous=False)))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_gate_is_below_the_bound(seed):
    # Random continuous gates near the best one, and far from it.
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 6, 2001)
    knots = np.sort(rng.uniform(0, 6, 3)) if seed % 2 else np.array([1.1, 2.6, 4.2]) + rng.normal(0, 0.2, 3)
    knots = np.sort(np.clip(knots, 0.01, 5.99))
    at = np.concatenate([[0], knots, [6]])
    error = np.abs(np.interp(x, at, np.sin(at) + rng.normal(0, 0.1, 5)) - np.sin(x)).max()
    assert error >= float(BOUND) - 1e-6


BOUND = hard_fit(target("sin(x)", 0, 6), 4, continuous=True).bound

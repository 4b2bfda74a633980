"""Enclosures of random formulas hold dense samples; the traps of balls; the precision is always restored."""

from __future__ import annotations

import contextlib
import random
import signal
from fractions import Fraction

import flint
import mpmath as mp
import pytest
from dense_samples import Tally, boxes, exactly, formulas, holds, look, reference, suprema, wide_boxes
from flint import arb
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from random_formulas import by_mpmath, core

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import evaluate, evaluate_interval
from gateproof.numerics.bounds import Budget
from gateproof.numerics.errors import MaybeUndefined, NotSmooth, Undefined
from gateproof.numerics.extrema import extremum
from gateproof.numerics.precision import precision
from gateproof.numerics.series import taylor

#: Formulas are trees of random seeds, which do not shrink.
ONCE = settings(
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)


@seed(1)
@settings(ONCE, max_examples=60)
@given(st.data())
def test_no_sample_leaves_an_enclosure(data):
    look(data)


@pytest.mark.deep
@pytest.mark.parametrize("number", range(4))
def test_no_sample_leaves_an_enclosure_in_100_000_looks(number):
    before = Tally.checks

    @seed(number)
    @settings(ONCE, max_examples=400)
    @given(st.data())
    def many(data):
        look(data)

    many()
    assert Tally.checks - before > 50_000


@pytest.mark.deep
@seed(1)
@settings(ONCE, max_examples=150)
@given(formulas("x"), st.one_of(boxes(), wide_boxes()))
def test_no_sample_is_beyond_the_supremum(expr, box):
    suprema(expr, *box, Budget(boxes=1500, max_bits=256))


@pytest.mark.parametrize(
    ("damaged", "caught"),
    [
        (lambda lo, hi: (lo + (hi - lo) / 1024, hi), True),
        (lambda lo, hi: (lo, hi - (hi - lo) / 1024), True),
        (lambda lo, hi: (arb("nan"), hi), True),
        (lambda lo, hi: (lo, arb("nan")), True),
        (lambda lo, hi: (lo, hi), False),
        (lambda lo, hi: (iv.NEG_INF, iv.INF), False),
    ],
)
def test_the_samples_catch_an_enclosure_that_is_too_narrow(damaged, caught):
    expr = core("tanh(x)*sech(x)")  # between -1/2 and 1/2, at sinh(x) = -1 and 1
    x = Fraction(881373587, 10**9)
    values = [reference(expr, {"x": s}) for s in (-x, x)]
    range_ = damaged(arb(-0.5), arb(0.5))
    with pytest.raises(AssertionError) if caught else contextlib.nullcontext():
        for value in values:
            holds(range_, value)


REAL = iv.NEG_INF, iv.INF


@pytest.mark.parametrize(
    ("text", "box", "right"),
    [
        ("erf(x)", REAL, (-1, 1)),
        ("erfc(x)", REAL, (0, 2)),
        ("tanh(x)", REAL, (-1, 1)),
        ("sigmoid(x)", REAL, (0, 1)),
        ("1/(1 + exp(-x))", REAL, (0, 1)),
        ("1/(1 + exp(-x))", (arb(-(10**30)), arb(10**30)), (0, 1)),
        ("tanh(x)", (arb(-(10**30)), arb(10**30)), (-1, 1)),
        ("erf(x)", (arb(0), iv.INF), (0, 1)),
        ("sech(x)", REAL, (0, 1)),
        ("sin(x)", REAL, (-1, 1)),
        ("exp(-x**2)", REAL, (0, 1)),
        ("1/(1 + x**2)", REAL, (0, 1)),
        ("abs(x)", REAL, (0, mp.inf)),
        ("softplus(x)", REAL, (0, mp.inf)),
        ("0*x", REAL, (0, 0)),
        ("x - x", REAL, (-mp.inf, mp.inf)),  # oo - oo is all reals, never nan
        ("x*sigmoid(x)", REAL, (-mp.inf, mp.inf)),
    ],
)
def test_huge_and_infinite_boxes(text, box, right):
    for bits in (24, 53, 200):
        lo, hi = evaluate_interval(core(text), {"x": box}, bits)
        assert (exactly(lo), exactly(hi)) == right


@pytest.mark.parametrize(
    "head", ["erf", "erfc", "tanh", "sigmoid", "atan", "softplus", "asinh", "exp", "sinh"]
)
def test_monotone_functions_are_no_wider_than_their_values_at_the_ends(head):
    # A ball erf of [-3, 3] reaches beyond -1 and 1.
    expr = core(f"{head}(x)")
    lo, hi = evaluate_interval(expr, {"x": (arb(-3), arb(3))}, 200)
    with mp.workdps(70):
        ends = sorted(by_mpmath(expr, mp.mpf(x)) for x in (-3, 3))
        assert all(abs(exactly(a) - b) < mp.mpf(10) ** -55 for a, b in zip((lo, hi), ends, strict=True))


def test_the_precision_is_restored_after_every_kind_of_error():
    set_to = flint.ctx.prec, flint.ctx.cap
    with pytest.raises(Undefined):
        evaluate(core("log(x)"), {"x": arb(-1)}, 300)
    with pytest.raises(MaybeUndefined):
        taylor(core("log(x)"), "x", {"x": arb(0, 1)}, 20, 300)
    with pytest.raises(NotSmooth):
        taylor(core("abs(x)"), "x", {"x": arb(0, 1)}, 20, 300)
    with pytest.raises(KeyboardInterrupt), precision(300):
        raise KeyboardInterrupt
    assert (flint.ctx.prec, flint.ctx.cap) == set_to


def test_the_precision_is_restored_after_an_interrupt_at_any_time():
    def stop(number, frame):
        raise KeyboardInterrupt

    expr, set_to = core("abs(x*sigmoid(1.702*x) - gelu(x))"), (flint.ctx.prec, flint.ctx.cap)
    before, interrupted, rng = signal.signal(signal.SIGALRM, stop), 0, random.Random(1)
    try:
        for _ in range(25):
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-4, 0.02))
                for _ in range(50):
                    extremum(expr, "x", None, None, "sup", 30)
            except KeyboardInterrupt:
                interrupted += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert (flint.ctx.prec, flint.ctx.cap) == set_to
    finally:
        signal.signal(signal.SIGALRM, before)
    assert interrupted == 25

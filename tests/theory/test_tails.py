from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_zoo import AWAY, ZOO
from random_formulas import by_mpmath, core, formulas, mpf

from gateproof.numerics.points import at_point, rational_bounds
from gateproof.theory.exact import enclose
from gateproof.theory.exact.tails import Expansion, Growing, NoForm, limit, tail_bounds, tail_form, tail_sign

SIDES = st.sampled_from("+-")
STARTS = st.sampled_from([Fraction(1), Fraction(3), Fraction(8), Fraction(40, 3)])
REACH = [Fraction(0), Fraction(1, 7), Fraction(1), Fraction(5), Fraction(60)]


def held(form: Expansion | Growing, x: Fraction, value) -> bool:
    t, room = mpf(x), mp.mpf(10) ** -40 * (1 + abs(value))
    if isinstance(form, Growing):
        return form.sign * value >= mpf(form.c) * t**form.k - room
    p = mp.fsum(mpf(c) * t**k for k, c in form.poly.items())
    r = mp.fsum(mpf(c) * t**k * mp.exp(-mpf(a) * t) for c, k, a in form.remainder)
    return abs(value - p) <= r + room


@settings(max_examples=250, deadline=None)
@given(formulas(), SIDES, STARTS)
def test_a_random_formula_stays_within_its_form(expr, side, start):
    form = tail_form(expr, "x", side, start)
    if isinstance(form, NoForm):
        return
    low, high = tail_bounds(form, start)
    sign = tail_sign(expr, "x", side, start)
    with mp.workdps(80):
        for step in REACH:
            x = start + step
            value = by_mpmath(expr, mpf(x if side == "+" else -x))
            room = mp.mpf(10) ** -60 * (1 + abs(value))
            assert held(form, x, value)
            assert low is None or mpf(low) <= value + room
            assert high is None or mpf(high) >= value - room
            if sign is not None:
                assert sign * value >= -room
                assert sign or abs(value) <= room


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("silu(x)", {}, {1: 1}),
        ("gelu(x)", {}, {1: 1}),
        ("mish(x)", {}, {1: 1}),
        ("gelu_tanh(x)", {}, {1: 1}),
        ("tanh(x)*sech(x)", {}, {}),
        ("soft_threshold(x, 1/2)", {0: Fraction(1, 2), 1: -1}, {0: Fraction(-1, 2), 1: 1}),
        ("leaky_relu(x)", {1: Fraction(-1, 100)}, {1: 1}),
        ("softplus(x)", {}, {1: 1}),
        ("tanh(x)", {0: -1}, {0: 1}),
        ("(exp(x)-exp(-x))/(exp(x)+exp(-x))", {0: -1}, {0: 1}),
        ("(exp(2*x)-1)/(exp(2*x)+1)", {0: -1}, {0: 1}),
        ("erf(x)", {0: -1}, {0: 1}),
        ("sigmoid(3*x-1)", {}, {0: 1}),
        ("(x**3+x)/(x**2+1)", {1: -1}, {1: 1}),
        ("tg(x, tau=2, theta=[-1,1], slope=[0,1/2,1], intercept=[3,1,0])", {0: 3}, {1: 1}),
        ("abs(x)/x", {0: -1}, {0: 1}),
        ("1/cosh(x)", {}, {}),
        ("exp(-x**2)", {}, {}),
        ("step(x)", {}, {0: 1}),
        ("min(x, 1) + max(-x, 2)", {}, {0: 3}),
        ("x/sqrt(1 + x**2)", {0: -1}, {0: 1}),
        ("sqrt(x**2 + 4) - abs(x)", {}, {}),
        ("(1 + x**2)**(-3/2)", {}, {}),
        ("log(1 + exp(x))", {}, {1: 1}),
        ("exp(asinh(x))", {}, {1: 2}),
        ("asinh(x) - asinh(2*x) + asinh(1/x)", {0: None}, {0: None}),
    ],
)
def test_asymptotes_are_exact(text, left, right):
    for side, flip, asymptote in (("-", -1, left), ("+", 1, right)):
        form = tail_form(core(text), "x", side, Fraction(8))
        assert isinstance(form, Expansion)
        if None in asymptote.values():
            # -log(2) and log(2), each by a rational beside it.
            assert abs(mpf(form.poly[0]) + flip * mp.log(2)) < 1e-30
            continue
        assert form.poly == asymptote
        assert all(t.a > 0 or t.k < 0 for t in form.remainder)


@pytest.mark.parametrize("known", ZOO.values(), ids=ZOO)
def test_the_zoo_has_its_asymptotes(known):
    for side, flip in (("-", -1), ("+", 1)):
        form = tail_form(core(known.text), "x", side, Fraction(8))
        if AWAY in (known.left, known.right):
            # Slower than every line, and yet without bound.
            assert isinstance(form, Growing)
            assert (form.sign, form.k) == (flip, 0)
            continue
        assert isinstance(form, Expansion)
        line = known.line(side)
        if line is None:
            # A wave: bounded, about a line, and no further.
            assert any(t.a == 0 and t.k == 0 for t in form.remainder)
            continue
        slope, intercept = (rational_bounds(at_point(core(text), {}, 256)) for text in line)
        assert slope[0] <= flip * form.poly.get(1, 0) <= slope[1]
        loose = sum(t.c for t in form.remainder if t.a == 0 and t.k >= 0)
        assert intercept[0] - loose <= form.poly.get(0, 0) <= intercept[1] + loose
        assert loose < Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("text", "side", "right"),
    [("tanh(x)", "+", Fraction(1)), ("silu(x)", "+", "oo"), ("-cosh(x)", "-", "-oo"),
     ("silu(x)", "-", Fraction(0)),
     ("sin(x)", "+", None), ("x**2*exp(-x)", "+", Fraction(0)), ("exp(x)", "+", "oo"),
     ("asinh(x)", "-", "-oo"), ("sqrt(x)", "+", "oo"), ("log(x)", "+", "oo"), ("1/log(x)", "+", None)],
)  # fmt: skip
def test_limits(text, side, right):
    assert limit(tail_form(core(text), "x", side, Fraction(16))) == right


@pytest.mark.parametrize(
    ("text", "side", "sign"),
    [("tanh(x) - 1", "+", -1), ("sigmoid(x)", "-", 1), ("silu(x)", "-", -1), ("x - x", "+", 0),
     ("softplus(x) - x", "+", 1), ("tanh(x) - erf(x)", "+", -1), ("exp(-x**2)", "+", None),
     ("sqrt(x**2 + 4) - x", "+", 1), ("asinh(x) - log(x) - log(2)", "+", 1), ("asinh(x) - log(x)", "+", 1),
     ("x*log(x) - log(x)", "+", None), ("log(x) - 3", "+", None), ("sqrt(x) + 1", "+", 1),
     ("x - log(1 + exp(x))", "+", -1), ("log(-x) + log(-x - 1)", "+", None), ("sqrt(-x)", "+", None)],
)  # fmt: skip
def test_signs_far_out(text, side, sign):
    assert tail_sign(core(text), "x", side, Fraction(8)) == sign


@pytest.mark.parametrize(
    "text",
    [
        "sqrt(-x)",
        "log(-x)",
        "sqrt(x) - log(x)",
        "sqrt(sin(x))",
        "log(cos(x))",
        "x**(1/3)",
        "oo*x",
        "where(sin(x) > 0, 1, 0)",
        "y + x",
    ],
)
def test_what_has_no_form_says_why(text):
    form = tail_form(core(text), "x", "+", Fraction(8))
    assert isinstance(form, NoForm)
    assert form.reason
    assert not form


@settings(max_examples=100, deadline=None)
@given(st.fractions(min_value=-3000, max_value=3000, max_denominator=10**6))
def test_rational_enclosures(x):
    with mp.workdps(70):
        t, room = mpf(x), 1 + mp.mpf(10) ** -60
        lo, hi = enclose.exp(x)
        assert mpf(lo) <= mp.exp(t) * room
        assert mpf(hi) * room >= mp.exp(t)
        assert hi - lo <= lo / 2**90
        if x > 0:
            for pair, value in ((enclose.log(x), mp.log(t)), (enclose.sqrt(x), mp.sqrt(t))):
                assert mpf(pair[0]) <= value + mp.mpf(10) ** -60
                assert mpf(pair[1]) >= value - mp.mpf(10) ** -60
                assert pair[1] - pair[0] <= max(1, pair[1]) / Fraction(2**90)
        lo, hi = enclose.pi()
        assert mpf(lo) < mp.pi < mpf(hi)


def test_far_exponentials_stay_short():
    assert enclose.exp(Fraction(-(10**9)))[0] == 0
    with pytest.raises(OverflowError):
        enclose.exp(Fraction(10**9))


def test_a_far_exponential_outweighs_a_large_coefficient():
    # exp(3000 - 1000 x) comes apart as exp(3000) times exp(-1000 x), and both are out of reach.
    form = tail_form(core("x*(1 - 1/(1 + exp(-1000*(x - 3))))"), "x", "+", Fraction(8))
    assert isinstance(form, Expansion)
    for start in (8, 64, 2**40):
        lo, hi = tail_bounds(form, Fraction(start))
        assert lo <= 0 <= hi
        assert hi - lo < Fraction(1, 2**1000)
        assert hi.denominator.bit_length() < 100_000

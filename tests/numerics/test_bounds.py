from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_formulas import by_mpmath, core, formulas, mpf

from gateproof.numerics.bounds import Budget, prove_bounds
from gateproof.proofs_check.checker import verify
from gateproof.theory.exact.tails import grows_slowly

F = Fraction
R = {"x": (None, None)}
UNIT = {"x": (F(-8), F(8))}


def decide(text, box, **bounds):
    return prove_bounds(core(text), box, text=text, **bounds)


@pytest.mark.parametrize(
    ("text", "box", "bounds"),
    [
        ("abs(x*sigmoid(1.702*x) - gelu(x))", R, {"upper": F(2033488, 10**8)}),
        ("gelu(x) - gelu_tanh(x)", R, {"lower": F(-4733, 10**7), "upper": F(4733, 10**7)}),
        ("silu(x)", R, {"lower": F(-2784646, 10**7)}),
        ("mish(x)", R, {"lower": F(-3088435, 10**7)}),
        ("tanh(x)*sech(x)", R, {"upper": F(5000001, 10**7), "lower": F(-5000001, 10**7)}),
        ("tanh(x)", R, {"upper": F(1), "upper_strict": True}),
        ("sigmoid(x)", R, {"lower": F(0), "lower_strict": True}),
        ("softplus(x) - relu(x)", R, {"upper": F(693148, 10**6), "lower": F(0)}),
        ("x**2", {"x": (F(3), None)}, {"lower": F(9)}),
        ("abs(x)", UNIT, {"lower": F(0), "upper": F(8)}),
        ("sqrt(abs(x))", UNIT, {"lower": F(0)}),
        ("cosh(x)", R, {"lower": F(1)}),
        ("soft_threshold(x, 1/2) - x", R, {"upper": F(500001, 10**6)}),
        ("where(x > sqrt(2), x, -x)", UNIT, {"upper": F(8)}),
        ("x*sigmoid(t*x) - x", {"x": (F(-2), F(2)), "t": (F(1), F(3))}, {"upper": F(1996, 1000)}),
        (
            "x*y*z",
            {"x": (F(0), F(1)), "y": (F(0), F(1)), "z": (F(-1), F(1))},
            {"lower": F(-1), "upper": F(1)},
        ),
        ("1/(1+x**2)", R, {"upper": F(1), "lower": F(0)}),
        ("x/x", {"x": (F(1), F(2))}, {"lower": F(1, 2)}),
        # Attained, at a rational point.
        ("x*(1 - x)", UNIT, {"upper": F(1, 4)}),
        ("cos(x)", UNIT, {"upper": F(1), "lower": F(-1)}),
        ("x + 1/x", {"x": (F(1, 8), F(8))}, {"lower": F(2)}),
    ],
)
def test_true_bounds_are_proved_and_the_checker_agrees(text, box, bounds):
    found = decide(text, box, **bounds)
    assert found.status == "proved", found.reason
    verdict = verify(found.certificate)
    assert verdict.accepted, verdict.reason


@pytest.mark.parametrize(
    ("text", "box", "bounds"),
    [
        ("abs(x*sigmoid(1.702*x) - gelu(x))", R, {"upper": F(20334872, 10**9)}),
        ("silu(x)", R, {"lower": F(-27846454, 10**8)}),
        ("silu(x)", R, {"upper": F(10**9)}),
        ("tanh(x)*sech(x)", R, {"upper": F(4999999, 10**7)}),
        ("sigmoid(x)", R, {"upper": F(999999, 10**6)}),
        ("abs(x)", UNIT, {"lower": F(0), "lower_strict": True}),
        ("x**2", R, {"lower": F(0), "lower_strict": True}),
        ("abs(x - 1/3)", UNIT, {"lower": F(1, 10**9)}),
        ("exp(-10**6*(x - 1/7)**2)", UNIT, {"upper": F(1, 2)}),
        ("abs(x - 1/3)", UNIT, {"lower": F(0), "lower_strict": True}),
        ("x*y", {"x": (F(0), F(1)), "y": (F(0), F(1))}, {"upper": F(999999, 10**6)}),
    ],
)
def test_false_bounds_have_an_exact_witness(text, box, bounds):
    found = decide(text, box, **bounds)
    assert found.status == "violated", found.reason
    low, high = found.value
    assert low <= high
    upper, lower = bounds.get("upper"), bounds.get("lower")
    assert (upper is not None and low > upper) or (lower is not None and high <= lower)
    for name, x in found.point.items():
        lo, hi = box[name]
        assert lo is None or lo <= x
        assert hi is None or x <= hi


@pytest.mark.parametrize(
    ("text", "box"),
    [("1/x", UNIT), ("log(x)", UNIT), ("sqrt(x)", R), ("1/(x - 1/3)", UNIT), ("atanh(x)", UNIT)],
)
def test_a_point_without_value_is_shown(text, box):
    found = decide(text, box)
    assert found.status == "undefined"
    assert found.point is not None


@pytest.mark.parametrize(
    ("text", "bounds", "reason"),
    [
        ("tanh(x)*sech(x)", {"upper": F(1, 2)}, "touches the bound near x=0.88"),
        ("silu(x) - x*sigmoid(x)", {"lower": F(0)}, "touches the bound"),
        ("1/(x**2 - 2)", {}, "may be undefined"),
    ],
)
def test_what_cannot_be_decided_says_why(text, bounds, reason):
    found = decide(text, UNIT, **bounds)
    assert found.status == "unknown"
    assert found.reason.startswith(reason)


def test_no_bound_asks_whether_it_is_defined():
    assert decide("x/x", {"x": (F(1), F(2))}).status == "proved"
    assert decide("1/(1 + exp(x))", R).status == "proved"


def test_open_ends_and_budgets_are_reasons():
    opened = frozenset({("x", "lo")})
    assert decide("log(x)", {"x": (F(0), F(1))}, upper=F(0), open_ends=opened).reason == "open end"
    assert (
        decide("x", {"x": (F(0), F(1))}, lower=F(0), lower_strict=True, open_ends=opened).status == "unknown"
    )
    few = decide("silu(x)", R, lower=F(-2785, 10**4), budget=Budget(boxes=3))
    assert (few.status, few.reason) == ("unknown", "boxes")
    many = dict.fromkeys("xy", (None, None))
    assert "several variables" in decide("x**2 + y**2", many, lower=F(-1)).reason


def test_two_runs_are_identical():
    runs = [decide("gelu(x) - gelu_tanh(x)", R, upper=F(5, 10**4)) for _ in range(2)]
    assert runs[0] == runs[1]


@settings(max_examples=60, deadline=None)
@given(
    formulas(),
    st.integers(-64, 64),
    st.integers(1, 64),
    st.sampled_from([F(1, 10), F(1, 10**4), F(1, 10**6)]),
    st.booleans(),
)
def test_planted_bounds_are_never_decided_wrongly(expr, lo, width, relative, above):
    box = (F(lo, 16), F(lo + width, 16))
    with mp.workdps(40):
        values = [by_mpmath(expr, mpf(box[0] + (box[1] - box[0]) * F(i, 40))) for i in range(41)]
        top = max(values)
        scaled = mp.floor(top * mp.mpf(2) ** 60)
    sampled = F(int(scaled), 2**60)
    gap = max(abs(sampled), F(1, 100)) * relative
    bound = sampled + gap if above else sampled - gap
    found = prove_bounds(expr, {"x": box}, upper=bound, budget=Budget(2_000, 512))
    if not above:
        assert found.status == "violated"
        return
    assert found.status in ("proved", "violated", "unknown")
    if found.status == "violated":
        with mp.workdps(60):
            assert by_mpmath(expr, mpf(found.point["x"])) > mpf(bound)
    if found.status == "proved":
        assert top <= mpf(bound) + mp.mpf(10) ** -30
        verdict = verify(found.certificate)
        assert verdict.accepted, verdict.reason


@settings(max_examples=40, deadline=None)
@given(formulas(depth=5), st.integers(1, 1000))
def test_bounds_on_the_whole_line_hold_far_out(expr, top):
    found = prove_bounds(expr, R, upper=F(top, 16), budget=Budget(1_000, 256))
    assume(found.status == "proved")
    verdict = verify(found.certificate)
    cuts = found.certificate["tails"]["x"]
    # Far out the checker has no terms for what grows like a logarithm or a root.
    slow = any(grows_slowly(expr, "x", s, abs(F(cuts[k]))) for k, s in (("minus", "-"), ("plus", "+")))
    assert verdict.accepted or slow, verdict.reason
    with mp.workdps(60):
        for k in range(-12, 13):
            for s in (1, -1):
                assert by_mpmath(expr, s * mp.mpf(2) ** k) <= mpf(F(top, 16)) + mp.mpf(10) ** -40

"""Code held against formulas: known faults of textbook forms are found, good forms stand."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest

import gateproof
from gateproof.proofs_check.code.declared import KEPT
from gateproof.proofs_check.code.floats import FORMATS
from gateproof.proofs_check.code.judge import decide


def decision(function, *statements, **how):
    declared, *_ = getattr(gateproof.claims(*statements, **{"points": 300, **how})(function), KEPT)
    return decide(function, declared)


def stable(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def naive(x):
    return np.log(1 + np.exp(x))


def half_tanh(x):
    return (1 + np.tanh(x / 2)) / 2


def squared(x):
    return x * x - 1


def test_a_good_form_is_supported_and_a_planted_error_was_seen():
    found = decision(stable, "for x in R: stable(x) == softplus(x)")
    assert (found.verdict, found.controls.planted, found.controls.caught) == ("supported", 1, 1)
    assert "points of float32" in found.steps[0]
    assert "greatest error" in found.steps[1]


def test_overflow_is_found_where_exp_of_float32_overflows():
    found = decision(naive, "for x in R: naive(x) == softplus(x)")
    assert found.verdict == "refuted"
    # exp leaves float32 at log(2**128) = 88.72.
    assert float(Fraction(found.witness["x"])) > 128 * math.log(2)
    assert "inf" in found.reason


def test_a_lost_tail_and_a_cancellation_are_refuted_by_two_engines():
    for function, text in (
        (half_tanh, "for x in [-80, 0]: half_tanh(x) == sigmoid(x)"),
        (squared, "for x in [1/2, 2]: squared(x) == x**2 - 1"),
    ):
        found = decision(function, text)
        assert found.verdict == "refuted"
        assert {"arb", "mpfr"} <= set(found.trust)
        # The witness by hand: the code's own result against exact arithmetic.
        x = Fraction(found.witness["x"])
        got = Fraction(float(function(np.float32(float(x)))))
        exact = x * x - 1 if function is squared else Fraction(1 / (1 + math.exp(-float(x))))
        assert abs(got - exact) > 3.9 * FORMATS["float32"].unit(exact)


def test_the_budget_decides():
    # x*x is rounded once, the difference is exact next to 1 (Sterbenz): half a unit of 1 in x**2 - 1.
    loose = decision(squared, "for x in [1.001, 2]: squared(x) == x**2 - 1", ulps=600)
    tight = decision(squared, "for x in [1.001, 2]: squared(x) == x**2 - 1", ulps=1)
    floor = decision(squared, "for x in [1.001, 2]: squared(x) == x**2 - 1", ulps=1, floor=2.0**-22)
    assert (loose.verdict, tight.verdict, floor.verdict) == ("supported", "refuted", "supported")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_relations_of_several_calls_and_inequalities(dtype):
    def tanh_(x):
        return np.tanh(x)

    tanh_.__name__ = "tanh_"
    assert decision(tanh_, "for x in R: tanh_(-x) == -tanh_(x)", ulps=0, dtype=dtype).verdict == "supported"
    assert decision(tanh_, "for x in R: abs(tanh_(x)) <= 1", dtype=dtype).verdict == "supported"
    # Rounded to the format it reaches 1, which the function itself never does.
    found = decision(tanh_, "for x in R: abs(tanh_(x)) < 1", dtype=dtype)
    assert found.verdict == "refuted"
    assert abs(math.tanh(float(Fraction(found.witness["x"])))) > 1 - 2.0**-24
    pairs = decision(tanh_, "for x in R, y in R, x < y: tanh_(x) <= tanh_(y)", dtype=dtype)
    assert pairs.verdict == "supported"


def test_all_numbers_of_a_short_format_are_tried():
    def half(x):
        return x / 2

    found = decision(half, "for x in [1, 2]: half(x) == x/2", dtype="float16", ulps=0.5)
    assert found.verdict == "supported"
    assert found.steps[0].startswith("1025 points of float16 (all numbers")


def test_what_code_does_instead_of_giving_values():
    def raising(x):
        raise RuntimeError("no\nsecond line")

    def mutating(x):
        x *= 0.5
        return x

    def scaled(x):
        return x / np.max(np.abs(x))

    def shorter(x):
        return x[:-1]

    state = iter(range(10**6))

    def drifting(x):
        return x + next(state)

    said = {
        f.__name__: decision(f, f"for x in [1, 2]: {f.__name__}(x) == x/2")
        for f in (raising, mutating, scaled, shorter, drifting)
    }
    assert {v.verdict for v in said.values()} == {"unsupported"}
    assert "raises RuntimeError: no" in said["raising"].reason
    assert "changes the array" in said["mutating"].reason
    assert "gives shape" in said["shorter"].reason
    assert "other values when it is called again" in said["drifting"].reason
    # x/2 for all of them, as 2 is the greatest; but not for one alone.
    assert "others decide which" in said["scaled"].reason

    def centred(x):
        return x - x[0] + 1

    assert "others decide which" in decision(centred, "for x in [1, 2]: centred(x) == x").reason


def test_plain_python_and_its_overflow():
    def grown(x):
        return math.exp(x)

    assert decision(grown, "for x in [-700, 700]: grown(x) == exp(x)", dtype="float64").verdict == "supported"
    found = decision(grown, "for x in R: grown(x) == exp(x)", dtype="float64")
    assert (found.verdict, "OverflowError" in found.reason) == ("unsupported", True)


def test_torch_its_gradient_and_bfloat16():
    torch = pytest.importorskip("torch")

    def soft(x):
        return torch.nn.functional.softplus(x)

    value = "for x in [-10, 30]: soft(x) == softplus(x)"
    slope = "for x in [-10, 20]: diff(soft(x), x) == sigmoid(x)"
    assert decision(soft, value, library="torch").verdict == "supported"
    assert decision(soft, slope, library="torch").verdict == "supported"
    assert decision(soft, slope.replace("sigmoid(x)", "tanh(x)"), library="torch").verdict == "refuted"
    # PyTorch's softplus is x from 20 on: in float64 that is 2e-9 off.
    assert decision(soft, "for x in [20, 25]: soft(x) == softplus(x)", dtype="float64").verdict == "refuted"
    one = "for x in [0, 1]: soft(x) == softplus(x)"
    assert decision(soft, one, library="torch", dtype="bfloat16", ulps=1).verdict == "supported"
    numpy_only = decision(stable, "for x in [0, 1]: stable(x) == softplus(x)", dtype="bfloat16")
    assert numpy_only.verdict == "unsupported"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("f(x) == x", "not bound"),
        ("for x in R: x == x", "does not call f"),
        ("for x in R: f(x + 1) == x", "names, -names and numbers"),
        ("for n in N: f(n) == n", "numbers of R"),
        ("for x in R: even(x**2, x in R)", "bound twice"),
        ("for x in R: f(x) == nosuch(x)", "nosuch"),
        ("for x in R: diff(f(x), x, 2) == 0", "first derivative"),
        ("for x in R, f(x) > 0: f(x) > 0", "condition cannot call"),
    ],
)
def test_statements_that_say_nothing_about_code(text, said):
    def f(x):
        return x

    found = decision(f, text)
    assert found.verdict == "ill-posed"
    assert said in found.reason


def test_a_formula_without_a_value_is_ill_posed():
    def f(x):
        return np.log(x)

    assert decision(f, "for x in [-1, 1]: f(x) == log(x)").verdict == "ill-posed"


@pytest.mark.parametrize(
    "how",
    [
        {"ulps": -1}, {"ulps": True}, {"ulps": math.nan}, {"floor": math.inf}, {"dtype": "float8"},
        {"dtype": ()}, {"library": "cupy"}, {"points": 0}, {"points": 2.5},
    ],
)  # fmt: skip
def test_options_that_make_no_sense(how):
    with pytest.raises(ValueError, match=r"^\w+.*(number|give)"):
        gateproof.claims("for x in R: f(x) == x", **how)
    with pytest.raises(TypeError, match="statements as text"):
        gateproof.claims(stable)


def test_the_function_stays_what_it_is():
    made = gateproof.claims("for x in R: stable(x) == softplus(x)")(stable)
    assert made is stable
    with pytest.raises(TypeError, match="can keep nothing"):
        gateproof.claims("for x in R: sin(x) == x")(math.sin)


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_units_and_neighbours_are_those_of_numpy(name):
    form, kind = FORMATS[name], np.dtype(name).type
    rng = np.random.default_rng(3)
    codes = rng.integers(1, 2 ** (8 * kind().itemsize - 1) - 1, 200, dtype=np.uint64)
    values = codes.astype(f"u{kind().itemsize}").view(kind)
    values = values[np.isfinite(values) & (values < kind(form.largest))]
    assert len(values) > 100
    for v in values:
        low, own, high = form.neighbours(float(v))
        assert (kind(low), kind(own), kind(high)) == (
            np.nextafter(v, kind(0)),
            v,
            np.nextafter(v, kind(np.inf)),
        )
        assert float(form.unit(Fraction(float(v)))) == float(np.spacing(v))
    assert form.largest == float(np.finfo(kind).max)
    assert form.least == float(np.finfo(kind).smallest_subnormal)


def test_bfloat16_is_the_upper_half_of_float32():
    form = FORMATS["bfloat16"]
    (bits,) = struct.unpack("<I", struct.pack("<f", form.largest))
    assert bits == 0x7F7F0000
    assert form.neighbours(1.0) == [1 - 2.0**-8, 1.0, 1 + 2.0**-7]

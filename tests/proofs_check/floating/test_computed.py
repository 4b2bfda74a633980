"""What fl(...) means: NumPy's and PyTorch's arithmetic, bit for bit, and MPFR's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from gmpy2 import mpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.points import Points
from gateproof.proofs_check.floating.program import Program, UndefinedError
from gateproof.proofs_check.floating.written import tree
from gateproof.theory.formats import FORMATS
from gateproof.theory.formula import parse_expr
from gateproof.theory.formula.nodes import App, Var

NUMPY = {"float16": np.float16, "float32": np.float32, "float64": np.float64}
PLACES = {name: st.integers(-form.last, form.last) for name, form in FORMATS.items()}
TEXTS = {
    "x + y": lambda x, y, _: x + y,
    "x - y": lambda x, y, _: x - y,
    "x*y": lambda x, y, _: x * y,
    "x/y": lambda x, y, _: x / y,
    "sqrt(abs(x))": lambda x, _y, _: np.sqrt(abs(x)),
    "x*x - y*y": lambda x, y, _: x * x - y * y,
    "x*x + y": lambda x, y, _: x * x + y,
    "(x + y)*(x - y)": lambda x, y, _: (x + y) * (x - y),
    "x + y + 1/3": lambda x, y, kind: x + y + kind(1) / kind(3),
    "0.1*x": lambda x, _y, kind: kind(0.1) * x,
    "x/3": lambda x, _y, kind: x / kind(3),
    "abs(x) - max(x, y)": lambda x, y, _: abs(x) - max(x, y),
    "min(x, 1)*y": lambda x, y, kind: min(x, kind(1)) * y,
    "where(x > y, x - y, y/x)": lambda x, y, _: x - y if x > y else y / x,
}


def by_ours(text, name, x, y):
    value = Program(FORMATS[name], ("x", "y")).computed(parse_expr(text))
    try:
        return Fraction(*map(int, value((mpq(x), mpq(y))).as_integer_ratio()))
    except UndefinedError:
        return None


def by_mpfr(text, name, x, y):
    try:
        value = Points(name, {"x": None, "y": None}, 64).held(tree(parse_expr(text)))
        return Fraction(*map(int, value({"x": mpq(x), "y": mpq(y)}).as_integer_ratio()))
    except Rejected:
        return None


def by_numpy(text, name, x, y):
    kind = NUMPY[name]
    with np.errstate(all="ignore"):
        found = TEXTS[text](kind(float(x)), kind(float(y)), kind)
    assert isinstance(found, kind)
    return Fraction(float(found)) if np.isfinite(found) else None


@pytest.mark.parametrize("name", sorted(NUMPY))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_as_numpy_and_mpfr_compute(name, data):
    form = FORMATS[name]
    x, y = (form.number(data.draw(PLACES[name])) for _ in range(2))
    for text in TEXTS:
        wanted = by_numpy(text, name, x, y)
        assert by_ours(text, name, x, y) == wanted == by_mpfr(text, name, x, y), text


@pytest.mark.parametrize("name", sorted(FORMATS))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_near_the_least_numbers(name, data):
    # Gradual underflow: sums are exact there, products and quotients are rounded once.
    form = FORMATS[name]
    small = st.integers(-(4 << form.bits), 4 << form.bits)
    x, y = (form.number(data.draw(small)) for _ in range(2))
    assert by_ours("x + y", name, x, y) == by_mpfr("x + y", name, x, y)
    if abs(x + y) < Fraction(2) ** (form.lowest + 1):
        assert by_ours("x + y", name, x, y) == x + y
    for text in ("x*y", "x/3", "0.1*x", "sqrt(abs(x))", "x*x + y"):
        found = by_ours(text, name, x, y)
        assert found == by_mpfr(text, name, x, y)
        assert name not in NUMPY or found == by_numpy(text, name, x, y)


@settings(max_examples=80, deadline=None)
@given(PLACES["bfloat16"], PLACES["bfloat16"])
def test_as_torch_computes_in_bfloat16(x, y):
    torch = pytest.importorskip("torch")
    form = FORMATS["bfloat16"]
    x, y = form.number(x), form.number(y)
    a, b = (torch.tensor(float(v), dtype=torch.bfloat16) for v in (x, y))
    for text, found in (("x + y", a + b), ("x - y", a - b), ("x*y", a * b), ("sqrt(abs(x))", a.abs().sqrt())):
        value = float(found)
        wanted = Fraction(value) if np.isfinite(value) else None
        assert by_ours(text, "bfloat16", x, y) == wanted == by_mpfr(text, "bfloat16", x, y)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_tie_goes_to_the_even_number(data):
    form = FORMATS[data.draw(st.sampled_from(sorted(FORMATS)))]
    place = data.draw(st.integers(0, form.last - 1))
    middle = (form.number(place) + form.number(place + 1)) / 2
    even = place if place % 2 == 0 else place + 1
    assert form.rounded(middle) == form.number(even)
    assert form.rounded(middle + form.ulp(0 * middle) / 64) == form.number(place + 1)
    assert form.rounded(-middle) == -form.number(even)


def test_where_overflow_begins():
    # IEEE 754: from (2 - 2^-p) 2^emax on, the middle between the largest number and the next power of 2.
    for form in FORMATS.values():
        edge = (2 - Fraction(1, 2**form.bits)) * Fraction(2) ** form.highest
        assert form.rounded(edge) is None
        assert form.rounded(edge - Fraction(2) ** (form.highest - 2 * form.bits)) == form.largest


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_places_are_in_order_and_dense(data):
    form = FORMATS[data.draw(st.sampled_from(sorted(FORMATS)))]
    place = data.draw(st.integers(-form.last, form.last))
    value = form.number(place)
    assert form.holds(value)
    assert form.at_most(value) == place == form.at_least(value)
    assume(place < form.last)
    above = form.number(place + 1)
    assert above > value
    between = (2 * value + above) / 3
    assert (form.at_most(between), form.at_least(between)) == (place, place + 1)
    assert not form.holds(between)


def test_places_of_float16_are_its_bit_patterns():
    for pattern in range(0x7C00):
        value = np.uint16(pattern).view(np.float16)
        assert FORMATS["float16"].number(pattern) == Fraction(float(value))
    assert FORMATS["float16"].last == 0x7BFF


@pytest.mark.parametrize(
    ("value", "exponent"),
    # Goldberg's unit: constant from 2^e on to below 2^(e+1), that of the subnormal numbers below.
    [(1, -23), (Fraction(2) - Fraction(1, 10**9), -23), (2, -22), (Fraction(1, 3), -25), (0, -149),
     (Fraction(1, 2**140), -149), (-5, -21), (Fraction(1, 2**126), -149), (Fraction(1, 2**125), -148)],
)  # fmt: skip
def test_units_in_the_last_place(value, exponent):
    assert FORMATS["float32"].ulp(Fraction(value)) == Fraction(2) ** exponent


def test_fma_rounds_once():
    # (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: in float32 the last term is lost by x*x, and is what fma gives.
    x = 1 + Fraction(1, 2**12)
    product = App("mul", (Var("x"), Var("x")))
    fused = App("fma", (Var("x"), Var("x"), App("neg", (product,))))
    value = Program(FORMATS["float32"], ("x",)).computed(fused)((mpq(x),))
    assert value == mpq(1, 2**24)

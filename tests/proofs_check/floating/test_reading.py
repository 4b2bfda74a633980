"""Floating-point claims are read, printed, and refused in one line with a column."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.floating.written import written
from gateproof.theory.formula import FormulaError, define_all, parse_claim, parse_expr, to_text
from gateproof.theory.formula.latex import to_latex
from gateproof.theory.formula.nodes import Ulp


@pytest.mark.parametrize(
    "text",
    [
        "in float32: for x in [0, 4]: abs(fl(x*x - 1) - (x*x - 1)) <= 2*ulp(x*x - 1)",
        "in bfloat16: for x in R \\ {0}, y in (0, 1], x != y: fl(x/y) == fl(y/x) or fl(fma(x, y, 1)) > 0",
        "in float64: fl(0.1 + 0.2) == fl(0.3)",
        "in float16: for x in R: fl(where(x > 0, x, 0)) in [0, 1] => x < 1",
    ],
)
def test_text_reads_back(text):
    claim = parse_claim(text)
    assert to_text(claim) == text
    assert parse_claim(to_text(claim)) == claim
    assert written(claim, {}).format == claim.format


def test_ulp_is_that_of_the_exact_side():
    for text in ("abs(fl(x*x) - x*x) <= ulp", "ulp >= abs(x*x - fl(x*x))"):
        claim = parse_claim(f"in float32: for x in R: {text}")
        (unit,) = [n for n in claim.walk() if isinstance(n, Ulp)]
        assert unit.of == parse_expr("x*x")


def test_definitions_are_put_in_as_they_are_written():
    # The engine's own writing out drops factors 1; what is computed must keep every operation.
    extra = define_all({"half": "x*1/2"})
    claim = written(parse_claim("in float32: for y in R: fl(half(y)) == half(y)", extra), extra)
    assert to_text(claim) == "in float32: for y in R: fl(y*1/2) == y*1/2"
    power = written(parse_claim("in float32: for y in R: fl(sqrt(y**2)) == abs(y)"), {})
    assert to_text(power) == "in float32: for y in R: fl(sqrt(y**2)) == abs(y)"


@pytest.mark.parametrize(
    ("text", "column", "word"),
    [
        ("in float33: for x in R: fl(x) == x", 4, "bfloat16"),
        ("in float32 for x in R: fl(x) == x", 12, "':'"),
        ("for x in R: fl(x) == x", 13, "in float32:"),
        ("for x in R: abs(x) <= 2*ulp", 25, "in float32:"),
        ("for x in R: abs(x) <= ulp(x)", 23, "in float32:"),
        ("in float32: for x in R: fl(exp(x)) == exp(x)", 28, "exp"),
        ("in float32: for x in R: exp(x) == fl(exp(x))", 38, "exp"),
        ("in float32: for x in R: fl(gelu(x)) == x", 28, "gelu"),
        ("in float32: for x in R: fl(x**3) == x**3", 25, "x*x*x"),
        ("in float32: for x in R: abs(fl(x) + x) <= ulp", 43, "fl(...) - (F)"),
        ("in float32: for x in R: abs(fl(x) - ulp) <= ulp", 37, "ulp(F)"),
        ("in float32: for x in R: x == x", 4, "fl(...)"),
        ("in float32: for x in R: fl(x + oo) == x", 32, "finite"),
        ("in float32: for x in R: fl(x, 2) == x", 25, "1 argument"),
        ("in float32: for x in R: fma(x, 2) == x", 25, "3 argument"),
        ("in float32: for x in R: odd(fl(x), y in R)", 4, "relations"),
        ("in float32: for x in R: fl(z) == x", 28, "not bound"),
        ("in float32: for z in R**2: fl(z[1]) == z[1]", 17, "interval"),
    ],
)
def test_refused_with_a_column(text, column, word):
    with pytest.raises(FormulaError) as caught:
        parse_claim(text)
    assert caught.value.column == column
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_latex():
    claim = parse_claim("in float32: for x in R: abs(fl(x*x) - x*x) <= 2*ulp")
    shown = r"\left|\mathrm{fl}\left(x \, x\right) - x \, x\right| \le 2 \, \mathrm{ulp}\left(x \, x\right)"
    assert to_latex(claim.body) == shown

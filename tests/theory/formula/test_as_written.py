"""Formulas as people write them: other alphabets and spellings, and one clear line for what is refused."""

from __future__ import annotations

import itertools
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateproof.theory.formula import FormulaError, parse_claim, parse_expr
from gateproof.theory.formula.hints import distance, nearest

READS = {
    "2·π·x − τ×3": "2*pi*x - tau*3",
    "x²": "x**2",
    "x⁻¹ + y¹⁰": "x**-1 + y**10",
    "θ₁*x + θ₂": "theta1*x + theta2",
    "λ*x": "lam*x",
    "Δ*x + β": "Delta*x + beta",
    "6÷2": "6/2",
    "1/(1+exp(−x))": "1/(1 + exp(-x))",
    "where(x ≥ 0 ∧ x ≠ 1, x, 0)": "where(x >= 0 and x != 1, x, 0)",
    "-x²": "-(x**2)",
    "max(0, x)": "max(0, x)",
}


@pytest.mark.parametrize("text", READS)
def test_other_spellings_are_the_same_tree(text: str) -> None:
    assert parse_expr(text) == parse_expr(READS[text])


def test_greek_and_latin_are_one_name() -> None:
    assert parse_claim("for τ > 0, x ∈ ℝ: τ·x² ≥ 0") == parse_claim("for tau > 0, x in R: tau*x**2 >= 0")
    with pytest.raises(FormulaError, match="bound twice"):
        parse_claim("for τ > 0, tau in R: tau > 0")


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("x^2", 2, "powers are written **"),
        ("2x", 2, "products are written with *"),
        ("2 x", 3, "products are written with *"),
        ("x(x+1)", 1, "products are written with *: x*(...)"),
        ("(x+1)(x-1)", 6, "products are written with *"),
        ("((x+1)(x-1))", 7, "products are written with *"),
        ("3(x+1)", 2, "products are written with *"),
        ("sigmod(x)", 1, "did you mean sigmoid?"),
        ("tahn(x)", 1, "did you mean tanh?"),
        ("softpuls(x)", 1, "did you mean softplus?"),
        ("ReLU(x)", 1, "did you mean relu?"),
        ("1 + F.relu(x)", 5, "write relu"),
        ("torch.sigmoid(x)", 1, "write sigmoid"),
        ("np.exp(x)", 1, "write exp"),
        ("np.maximum(x, 0)", 1, "write max"),
        ("torch.nn.functional.gelu(x)", 1, "write gelu"),
        ("Abs(x)", 1, "write abs"),
        ("Max(0, x)", 1, "write max"),
        ("Piecewise((x, x > 0), (0, True))", 1, "write where(condition, value, otherwise)"),
        ("y = x", 3, "equality is written =="),
        ("|x|", 1, "abs(...)"),
        ("2*(x + sin(x)", 14, "the '(' at column 3 is not closed"),
        ("sin(x))", 7, "no '(' is open here"),
        ("sin x", 1, "write sin(x)"),
        ("sin²(x)", 1, "write sin(x)**2"),
        ("tan⁻¹(x)", 1, "1/tan(x) or the inverse function"),
        ("x if x > 0 else 0", 3, "where(condition, value, otherwise)"),
        ("√x", 1, "write sqrt(...)"),
        ("½*x", 1, "write 1/2"),
        ("x ≤ 1 + ∫", 9, "write integrate"),
        ("DiracDelta(x)", 1, "a distribution"),
        ("expint(1, x)", 1, "write ei(x)"),
        ("x.real", 2, "attributes are not part of the language"),
    ],
)
def test_one_line_with_its_column(text: str, column: int, words: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse_expr(text)
    assert words in str(caught.value)
    assert caught.value.column == column
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("for tau > 0: tua > 0", 14, "did you mean tau?"),
        ("for x ≥ 0: y > x", 12, "'y' is not bound"),
        ("for alpha in R: alpha(2) == 1", 17, "products are written with *"),
        ("for x in R: sup(x, x in R) == 1", 20, "bound twice"),
    ],
)
def test_names_of_a_claim(text: str, column: int, words: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse_claim(text)
    assert words in str(caught.value)
    assert caught.value.column == column


def test_a_far_name_is_not_guessed() -> None:
    assert nearest("frobnicate", ["sigmoid", "tanh"]) is None
    assert nearest("a", ["b"]) is None


def test_distance_by_enumeration() -> None:
    """Against all results of one edit."""
    word = "tanh"
    letters = string.ascii_lowercase
    one = {word[:i] + word[i + 1 :] for i in range(4)}
    one |= {word[:i] + c + word[i:] for i in range(5) for c in letters}
    one |= {word[:i] + c + word[i + 1 :] for i in range(4) for c in letters} - {word}
    one |= {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(3)}
    for other in ["".join(p) for p in itertools.product("tanh", repeat=4)]:
        assert (distance(word, other) == 1) == (other in one)
    assert distance("kitten", "sitting") == 3
    assert distance(word, word) == 0


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="xτπ²⁻¹₁·×−≤∈∞ℝ∧()+-*/.½ⁿσ^2", max_size=30))
def test_odd_text_reads_or_is_refused_with_its_own_column(text: str) -> None:
    try:
        parse_expr(text)
    except FormulaError as error:
        assert error.column is None or 1 <= error.column <= len(text) + 1  # noqa: PT017 - any refusal will do

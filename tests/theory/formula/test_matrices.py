"""Matrices written out as numbers: against NumPy, shapes that do not fit, text that reads back."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from gateproof.numerics.points import at_point, rational_bounds
from gateproof.theory.formula import FormulaError, expand, parse_claim, parse_expr, to_text
from gateproof.theory.formula.latex import to_latex
from gateproof.theory.formula.matrices import entry_names, write_out
from gateproof.theory.formula.nodes import Matrix


def value(text: str) -> Fraction:
    lo, hi = rational_bounds(at_point(expand(parse_expr(text)), {}, 256))
    assert hi - lo <= Fraction(1, 10**30)
    return lo


def random_matrix(rng: random.Random, rows: int, columns: int) -> list[list[int]]:
    return [[rng.randint(-4, 5) for _ in range(columns)] for _ in range(rows)]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_values_are_those_of_numpy(n: int) -> None:
    rng = random.Random(n)
    for _ in range(5):
        a, b = random_matrix(rng, n, n), random_matrix(rng, n, n)
        left, right = np.array(a, dtype=float), np.array(b, dtype=float)
        given = {
            f"det({a})": np.linalg.det(left),
            f"trace({a} @ {b})": np.trace(left @ right),
            f"det({a} + 2*{b} - transpose({b})/2)": np.linalg.det(left + 2 * right - right.T / 2),
            f"({a} @ {b})[1, {n}]": (left @ right)[0, n - 1],
            f"({a}**3)[{n}, 1]": np.linalg.matrix_power(left, 3)[n - 1, 0],
            f"frobenius({a})": np.linalg.norm(left),
        }
        if abs(np.linalg.det(left)) > 0.5:
            given[f"inverse({a})[1, {n}]"] = np.linalg.inv(left)[0, n - 1]
            given[f"trace(inverse({a}) @ {b})"] = np.trace(np.linalg.inv(left) @ right)
        for text, expected in given.items():
            assert float(value(text)) == pytest.approx(float(expected), rel=1e-9, abs=1e-9), text


def test_products_that_are_not_square() -> None:
    product = "([[1, 2, 3], [4, 5, 7]] @ [[1], [0], [-1]])"
    assert [value(f"{product}[{k}, 1]") for k in (1, 2)] == [-2, -3]


@pytest.mark.parametrize(
    ("text", "column", "word"),
    [
        ("for A in R**(2, 2), B in R**(3, 3): A @ B == A", 39, "2 x 2 matrix times a 3 x 3"),
        ("for A in R**(2, 2): A*A == A", 22, "A @ B"),
        ("for A in R**(2, 2): A + 1 == A", 23, "c*identity(n)"),
        ("for A in R**(2, 2): A == 0", 23, "0*identity(n)"),
        ("for A in R**(2, 2): A <= A", 23, "no order"),
        ("for A in R**(2, 2): exp(A) == A", 21, "takes numbers"),
        ("for A in R**(2, 3): det(A) == 0", 21, "square"),
        ("for A in R**(2, 3): A**2 == A", 22, "square"),
        ("for A in R**(2, 2): A**(1/2) == A", 22, "whole number"),
        ("for A in R**(2, 2): A[3, 1] == 0", 21, "no row 3"),
        ("for A in R**(2, 2): A[1, 0] == 0", 21, "no column 0"),
        ("for x in R: x + det(x) == 1", 17, "takes a matrix"),
        ("for A in R**(2, 2): [[A, 1], [1, 1]] == A", 21, "a number is needed"),
        ("for A in R**(2, 2): 1/A == A", 22, "inverse(A)"),
        ("for A in R**(2, 2): A[1] == 0", 21, "matrix and is used as a vector"),
        ("for A in R**(5, 2): A == A", 14, "1 to 4"),
        ("for A in R**(2, n): A == A", 17, "1 to 4"),
        ("[[1, 2], [3]] == [[1, 2], [3, 4]]", 10, "a row of 1 under rows of 2"),
        ("[1, 2] == [1, 2]", 2, "[[a, b], [c, d]]"),
        ("identity(5) == identity(5)", 1, "1 to 4"),
        ("for A in R**(2, 2): sin(A[1, 1]) + trace([[1, 2]]) == 0", 36, "square"),
        ("for A in R**(2, 2): where(A[1, 1] > 0, A, 1) == A", None, "a choice between"),
    ],
)
def test_a_wrong_shape_is_one_line_with_its_column(text: str, column: int | None, word: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse_claim(text)
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)
    assert column is None or caught.value.column == column


def test_a_size_above_the_cap_is_refused() -> None:
    with pytest.raises(FormulaError, match="parts"):
        parse_claim("for A in R**(4, 4): det(inverse(A)**4) == 1")


@pytest.mark.parametrize(
    "text",
    [
        "for A in R**(2, 3), B in [0, 1]**(3, 2): matmul(A, B) == [[1, x_0], [0, 2]]".replace("x_0", "3"),
        "for A in R**(2, 2): (A + transpose(A))[1, 2] == A[1, 2] + A[2, 1]",
        "for A in R**(2, 2): A**2 != identity(2)",
    ],
)
def test_text_reads_back(text: str) -> None:
    claim = parse_claim(text)
    assert to_text(claim) == text
    assert parse_claim(to_text(claim)) == claim


def test_names_of_entries_are_fresh() -> None:
    claim = parse_claim("for A in R**(1, 2), A_11 in R: A[1, 1] == A_11")
    assert entry_names(claim)["A"] == write_out(parse_expr("[[A__11, A__12]]"))
    assert to_text(write_out(claim)) == "for A__11 in R, A__12 in R, A_11 in R: A__11 == A_11"


def test_latex() -> None:
    assert to_latex(parse_expr("[[a, b], [c, d]]")) == r"\begin{bmatrix} a & b \\ c & d \end{bmatrix}"
    assert r"\end{bmatrix}\right)^{\top}" in to_latex(parse_expr("transpose([[a, b], [c, d]])"))
    assert to_latex(parse_expr("det(identity(2))")) == r"\det\left(I_{2}\right)"
    assert isinstance(parse_expr("[[1]]"), Matrix)


def test_a_formula_is_a_number() -> None:
    with pytest.raises(FormulaError, match="a number is needed"):
        expand(parse_expr("[[1, 2]]"))

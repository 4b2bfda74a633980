"""Claims on small matrices: textbook identities hold, near misses fail at exact matrices."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.api import decide_text

AB = "for A in R**(2, 2), B in R**(2, 2):"
JACOBIAN = (
    "[[diff(sigmoid(x - y), x), diff(sigmoid(x - y), y)], [diff(sigmoid(y - x), x), diff(sigmoid(y - x), y)]]"
)
ROTATION = "[[cos(t), -sin(t)], [sin(t), cos(t)]]"
SHERMAN = (
    "for A in R**(2, 2), u in R**(2, 1), v in R**(2, 1), det(A) != 0,"
    " 1 + trace(transpose(v) @ inverse(A) @ u) != 0, det(A + u @ transpose(v)) != 0:"
    " inverse(A + u @ transpose(v)) =="
    " inverse(A) {} inverse(A) @ u @ transpose(v) @ inverse(A)/(1 + trace(transpose(v) @ inverse(A) @ u))"
)

TRUE = [
    f"{AB} transpose(A @ B) == transpose(B) @ transpose(A)",
    "for A in R**(3, 3), B in R**(3, 3): det(A @ B) == det(A)*det(B)",
    "for A in R**(4, 4), B in R**(4, 4): det(A @ B) == det(A)*det(B)",
    "for A in R**(3, 3): A**3 - trace(A)*A**2 + (trace(A)**2 - trace(A**2))/2*A == det(A)*identity(3)",
    "for A in R**(3, 3), det(A) != 0: inverse(A) @ A == identity(3)",
    "for A in R**(2, 2), B in R**(2, 2), det(A) != 0, det(B) != 0: inverse(A @ B) == inverse(B) @ inverse(A)",
    "for A in R**(4, 4): trace(A) == sum(A[i, i], i in 1..4)",
    f"for t in R: transpose({ROTATION}) @ {ROTATION} == identity(2)",
    f"for x in R, y in R: {JACOBIAN} @ [[1], [1]] == [[0], [0]]",
    f"for x in R, y in R: {JACOBIAN} == transpose({JACOBIAN})",
    f"for x in R, y in R: det({JACOBIAN}) >= 0 and trace({JACOBIAN}) >= 0",
    "for B in R**(4, 2), C in R**(2, 4): det(B @ C) == 0",
    SHERMAN.format("-"),
    "for A in R**(2, 2), x in R**(2, 1): trace(transpose(x) @ transpose(A) @ A @ x) >= 0",
    "[[1, 1], [1, 0]]**8 == [[34, 21], [21, 13]]",
    "for i in 1..2, j in 1..2: identity(2)[i, j] == where(i == j, 1, 0)",
]
FALSE = [
    f"{AB} A @ B == B @ A",
    f"{AB} transpose(A @ B) == transpose(A) @ transpose(B)",
    f"{AB} trace(A @ B) == trace(A)*trace(B)",
    "for A in R**(4, 4), B in R**(4, 4): det(A @ B) == det(A)*det(B) + A[1, 1]",
    "for A in R**(3, 3): A**3 - trace(A)*A**2 + (trace(A)**2 + trace(A**2))/2*A == det(A)*identity(3)",
    "for A in R**(2, 2), det(A) != 0: inverse(A) == transpose(A)",
    f"for t in R: {ROTATION} @ {ROTATION} == identity(2)",
    f"for x in R, y in R: {JACOBIAN} @ [[1], [-1]] == [[0], [0]]",
    f"for x in R, y in R: trace({JACOBIAN}) <= 1/3",
    "for B in R**(2, 3), C in R**(3, 2): det(B @ C) == 0",
    SHERMAN.format("+"),
    "for A in R**(2, 2), A @ transpose(A) == identity(2): det(A) == 1",
    "[[1, 1], [1, 0]]**8 == [[34, 21], [21, 12]]",
    "for A in R**(2, 2): A @ A != 0*identity(2)",
]
WITHOUT_A_VALUE = [
    "for A in R**(2, 2): inverse(A) @ A == identity(2)",
    "for A in R**(2, 2), B in R**(2, 2), det(A) != 0: inverse(A @ B) == inverse(B) @ inverse(A)",
    "inverse([[1, 2], [2, 4]]) == identity(2)",
    "for x in R: [[1, 1/x], [0, 1]][1, 1] == 1",
    "for x in R: trace([[1, log(x)], [0, 1]]) == 2",
    "for x in R: [[1/x, 1]] @ [[0], [1]] == [[1]]",
    "for x in R: [[1/x, 1], [0, 1]]**0 == identity(2)",
    "for A in R**(2, 2), i in 1..3: A[i, 1] == A[i, 1]",
]


@pytest.mark.parametrize("text", TRUE)
def test_what_holds(text: str) -> None:
    assert decide_text(text).verdict in ("proved", "certified")


@pytest.mark.parametrize("text", FALSE)
def test_what_fails(text: str) -> None:
    assert decide_text(text).verdict == "refuted"


@pytest.mark.parametrize("text", WITHOUT_A_VALUE)
def test_what_has_no_value(text: str) -> None:
    assert decide_text(text).verdict == "ill-posed"


def test_a_witness_is_told_as_matrices() -> None:
    found = decide_text(f"{AB} A @ B == B @ A").witness
    assert found is not None
    assert list(found)[:2] == ["A", "B"]
    a, b = ([[int(e) for e in row.split(", ")] for row in found[k][2:-2].split("], [")] for k in "AB")
    products = [
        [[sum(x[i][k] * y[k][j] for k in range(2)) for j in range(2)] for i in range(2)]
        for x, y in ((a, b), (b, a))
    ]
    assert products[0] != products[1]


def test_entries_that_matter_to_nothing() -> None:
    found = decide_text("for A in [1, 2]**(2, 2): A[1, 1] <= 1").witness
    assert found is not None
    assert "A[1, 1]" in found
    found = decide_text("for A in R**(2, 2): A[1, 2] <= 1").witness
    assert found is not None
    assert found["A"] == f"[[0, {found['left'].split('.', maxsplit=1)[0]}], [0, 0]]"


def test_controls_of_matrices() -> None:
    true, false = f"{AB} det(A @ B) == det(A)*det(B)", f"{AB} det(A @ B) == det(A)"
    assert decide_text(true, controls=[false]).verdict == "proved"
    assert decide_text(true, controls=[true]).verdict == "inconclusive"

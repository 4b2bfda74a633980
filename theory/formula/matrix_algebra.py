"""Matrices of at most four rows and columns, entry by entry: sums, products, determinants, inverses.

What an operation drops (the entries off the diagonal in a trace) still has to have a value: a part of
it that may have none is kept, times 0. Horn and Johnson, Matrix Analysis (2nd ed. 2013), 0.2, 0.3, 0.8.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from gateproof.theory.formula.nodes import App, Expr, Matrix, Num, num
from gateproof.theory.formula.undropped import undropped


def shape(matrix: Matrix) -> tuple[int, int]:
    """Rows and columns."""
    return len(matrix.entries) // matrix.columns, matrix.columns


def identity(n: int) -> Matrix:
    """The n x n identity."""
    return Matrix(tuple(num(int(i == j)) for i in range(n) for j in range(n)), n)


def added(terms: Sequence[Matrix]) -> Matrix:
    """The sum of matrices of one shape."""
    columns = zip(*(t.entries for t in terms), strict=True)
    return Matrix(tuple(_sum(column) for column in columns), terms[0].columns)


def scaled(factors: Sequence[Expr], matrix: Matrix) -> Matrix:
    """A matrix times numbers, in this order."""
    return Matrix(tuple(_product((*factors, e)) for e in matrix.entries), matrix.columns)


def divided(matrix: Matrix, under: Expr) -> Matrix:
    """A matrix over a number."""
    return Matrix(tuple(App("div", (e, under)) for e in matrix.entries), matrix.columns)


def negated(matrix: Matrix) -> Matrix:
    """Minus a matrix."""
    return Matrix(tuple(_negative(e) for e in matrix.entries), matrix.columns)


def multiplied(left: Matrix, right: Matrix) -> Matrix:
    """The product of matrices whose shapes fit."""
    tops, sides = _rows(left), list(zip(*_rows(right), strict=True))
    done = [_sum(_product(pair) for pair in zip(row, side, strict=True)) for row in tops for side in sides]
    return Matrix(tuple(done), right.columns)


def powered(matrix: Matrix, exponent: int) -> Matrix:
    """A whole power of a square matrix; the power 0 is the identity where the matrix has a value."""
    if exponent == 0:
        return Matrix(
            tuple(undropped(e, matrix.entries) for e in identity(matrix.columns).entries), matrix.columns
        )
    done = matrix
    for _ in range(exponent - 1):
        done = multiplied(done, matrix)
    return done


def transposed(matrix: Matrix) -> Matrix:
    """Rows as columns."""
    return Matrix(tuple(e for side in zip(*_rows(matrix), strict=True) for e in side), shape(matrix)[0])


def trace(matrix: Matrix) -> Expr:
    """The sum of the diagonal of a square matrix."""
    diagonal = [row[k] for k, row in enumerate(_rows(matrix))]
    return undropped(_sum(diagonal), matrix.entries)


def determinant(matrix: Matrix) -> Expr:
    """The determinant of a square matrix, by its first row."""
    side = tuple(range(matrix.columns))
    return _minor(_rows(matrix), side, side, {})


def inverse(matrix: Matrix) -> Matrix:
    """The adjugate over the determinant, so undefined where the determinant is 0."""
    n, rows = matrix.columns, _rows(matrix)
    known: dict[tuple[tuple[int, ...], tuple[int, ...]], Expr] = {}
    all_of = tuple(range(n))
    under = _minor(rows, all_of, all_of, known)
    done: list[Expr] = []
    for i in all_of:
        for j in all_of:
            minor = _minor(rows, all_of[:j] + all_of[j + 1 :], all_of[:i] + all_of[i + 1 :], known)
            done.append(App("div", (_negative(minor) if (i + j) % 2 else minor, under)))
    return Matrix(tuple(done), n)


def frobenius(matrix: Matrix) -> Expr:
    """The root of the sum of the squared entries."""
    return App("sqrt", (_sum(App("pow", (e, num(2))) for e in matrix.entries),))


def _minor(
    rows: list[tuple[Expr, ...]],
    down: tuple[int, ...],
    across: tuple[int, ...],
    known: dict[tuple[tuple[int, ...], tuple[int, ...]], Expr],
) -> Expr:
    """The determinant of the chosen rows and columns; 1 where there are none."""
    if not down:
        return num(1)
    found = known.get((down, across))
    if found is None:
        terms = []
        for k, j in enumerate(across):
            rest = _minor(rows, down[1:], across[:k] + across[k + 1 :], known)
            term = _product((rows[down[0]][j], rest))
            terms.append(_negative(term) if k % 2 else term)
        found = known[down, across] = _sum(terms)
    return found


def _rows(matrix: Matrix) -> list[tuple[Expr, ...]]:
    n = matrix.columns
    return [matrix.entries[k : k + n] for k in range(0, len(matrix.entries), n)]


def _sum(terms: Iterable[Expr]) -> Expr:
    given = list(terms)
    kept_terms = [t for t in given if not _is(t, 0)]
    if not kept_terms:
        return num(0)
    if all(isinstance(t, Num) for t in kept_terms):
        return Num(sum((t.value for t in kept_terms if isinstance(t, Num)), Fraction(0)))
    return kept_terms[0] if len(kept_terms) == 1 else App("add", tuple(kept_terms))


def _product(factors: Iterable[Expr]) -> Expr:
    given = list(factors)
    if any(_is(f, 0) for f in given):
        return undropped(num(0), given)
    left = [f for f in given if not _is(f, 1)]
    if not left:
        return num(1)
    if len(left) == 2 and isinstance(left[0], Num) and isinstance(left[1], Num):
        return Num(left[0].value * left[1].value)
    return left[0] if len(left) == 1 else App("mul", tuple(left))


def _negative(node: Expr) -> Expr:
    if isinstance(node, Num):
        return Num(-node.value)
    return App("neg", (node,))


def _is(node: Expr, value: int) -> bool:
    return isinstance(node, Num) and node.value == value

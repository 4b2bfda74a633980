"""Reading matrices: ``[[a, b], [c, d]]`` and ``[i, j]`` behind a value."""

from __future__ import annotations

from gateproof.theory.formula.nodes import Entry, Expr, Matrix, Node
from gateproof.theory.formula.scope_reader import MAX_SIDE, ScopeReader
from gateproof.theory.formula.tokens import Token


class MatrixReader(ScopeReader):
    """The part of the parser that reads matrices; their entries are read by the whole."""

    def entries(self, node: Node, token: Token) -> Node:
        """``[i, j]`` behind a value; a name has taken its own."""
        while isinstance(node, Expr) and self.token.text == "[":
            at = self.advance()
            row = self.inner()
            self.expect(",", "',' and the column of an entry")
            column = self.inner()
            self.expect("]")
            node = self.placed(Entry(self.as_expr(node, token), row, column), at)
        return node

    def inner(self) -> Expr:
        """An expression one bracket further in."""
        self.depth += 7
        found = self.expression()
        self.depth -= 7
        return found

    def matrix(self) -> Expr:
        """``[[a, b], [c, d]]``."""
        start = self.advance()
        rows: list[list[Expr]] = []
        while not rows or self.take(","):
            token = self.expect("[", "the rows of a matrix, as in [[a, b], [c, d]]: '['")
            rows.append([self.inner()])
            while self.take(","):
                rows[-1].append(self.inner())
            self.expect("]", "',' or ']'")
            if len(rows[-1]) != len(rows[0]):
                raise self.error(f"a row of {len(rows[-1])} under rows of {len(rows[0])}", token)
        self.expect("]", "',' or ']'")
        if max(len(rows), len(rows[0])) > MAX_SIDE:
            raise self.error(
                f"a matrix has at most {MAX_SIDE} rows and columns, found {len(rows)} x {len(rows[0])}", start
            )
        return self.placed(Matrix(tuple(e for row in rows for e in row), len(rows[0])), start)

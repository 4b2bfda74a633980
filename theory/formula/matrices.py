"""Claims on small matrices written out as claims on numbers.

A name in ``R**(2, 2)`` becomes one name an entry (``A_11`` is ``A[1, 1]``), an equality of matrices the
equality of all their entries. Wrong shapes raise ShapeError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gateproof.theory.formula import matrix_algebra as algebra
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.names import MATRIX
from gateproof.theory.formula.nodes import (
    And,
    App,
    At,
    Bind,
    Claim,
    Diff,
    Entry,
    Exists,
    Expr,
    Extremum,
    Index,
    Integral,
    Matrix,
    MatrixSet,
    Node,
    Not,
    Num,
    Pred,
    Rel,
    Scope,
    Series,
    Stmt,
    Taylor,
    Var,
    Where,
    num,
    rebuild,
)
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.rewriting import joined
from gateproof.theory.formula.scopes import bound_names
from gateproof.theory.formula.undropped import undropped

#: Parts of one matrix or number written out, rows of an identity, the largest power, and terms of a sum.
MAX_PARTS = 20_000
MAX_IDENTITY = 4
MAX_POWER = 8
MAX_TERMS = 16
Names = Mapping[str, Matrix]


class ShapeError(FormulaError):
    """Matrices that do not fit; ``parts`` are the node at fault and what it stands in."""

    def __init__(self, message: str, *parts: Node, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.parts = parts


def write_out(node: Node) -> Node:
    """The node without matrices; an expression whose value is a matrix becomes one of numbers.

    Raises ShapeError for shapes that do not fit, and for more than MAX_PARTS parts.
    """
    if not any(map(is_matrix, node.walk())):
        return node
    return _Writing(_taken(node)).node(node, {})


def _holds_matrices(node: Node, names: Names) -> bool:
    parts = node.walk()
    return any(is_matrix(n) or (isinstance(n, Var) and n.name in names) for n in parts)


def is_matrix(node: Node) -> bool:
    """Whether the node is written with matrices; a name of one is not seen to be."""
    return isinstance(node, Matrix | MatrixSet | Entry) or (isinstance(node, App) and node.head in MATRIX)


def entry_names(claim: Claim) -> dict[str, Matrix]:
    """The matrices that a claim is for, with the names that write_out gives their entries."""
    taken = _taken(claim)
    return {
        b.name: entries_of(b.name, b.within, taken)
        for b in claim.scope.binds
        if isinstance(b.within, MatrixSet)
    }


def _taken(node: Node) -> set[str]:
    found: set[str] = set()
    for part in node.walk():
        found |= bound_names(part)
        if isinstance(part, Var):
            found.add(part.name)
        if isinstance(part, Index):
            found.add(part.vector)
    return found


def entries_of(name: str, within: MatrixSet, taken: set[str]) -> Matrix:
    """A matrix of fresh names, ``A_11`` first."""
    stem = f"{name}_"
    while any(t.startswith(stem) for t in taken):
        stem += "_"
    places = [(i, j) for i in range(1, within.rows + 1) for j in range(1, within.columns + 1)]
    return Matrix(tuple(Var(f"{stem}{i}{j}") for i, j in places), within.columns)


class _Writing:
    def __init__(self, taken: set[str]) -> None:
        self.taken = taken

    def node(self, node: Node, names: Names) -> Node:
        """The node written out; a Matrix of numbers where its value is a matrix."""
        done = self._node(node, names)
        if isinstance(done, Matrix) and done.size > MAX_PARTS:
            raise ShapeError(f"the matrix written out has more than {MAX_PARTS} parts", node)
        if is_matrix(node) and done.size > MAX_PARTS:
            raise ShapeError(f"the value written out has more than {MAX_PARTS} parts", node)
        return done

    def _node(self, node: Node, names: Names) -> Node:
        if isinstance(node, Var):
            return names.get(node.name, node)
        if isinstance(node, Extremum | Pred | Exists | Claim):
            return self._scoped(node, names)
        if isinstance(node, Rel):
            return self._relation(node, names)
        if isinstance(node, Entry):
            return self._entry(node, names)
        if isinstance(node, Matrix):
            return Matrix(tuple(self.number(e, names, node) for e in node.entries), node.columns)
        if isinstance(node, App):
            return self._app(node, names)
        if isinstance(node, Diff | Taylor) and node.var in names:
            raise ShapeError(f"{node.var!r} is a matrix; a derivative is taken in a number", node)
        if isinstance(node, Series) and _holds_matrices(node.body, names):
            terms = self._terms(node)
            if terms is not None:
                return self.node(joined(node.op, terms), names)
        inside = {k: v for k, v in names.items() if k not in bound_names(node)}
        if isinstance(node, Diff | At | Integral | Taylor) or (isinstance(node, Series) and node.op == "sum"):
            body = self.node(node.body, inside)
            # The body is done; the other parts are numbers outside of what is bound.
            rest = rebuild(replace(node, body=num(0)), lambda c: self._part(c, names, node))
            if isinstance(body, Matrix):
                return Matrix(tuple(replace(rest, body=e) for e in body.entries), body.columns)
            return replace(rest, body=body)  # type: ignore[no-any-return]
        if isinstance(node, Where):
            return self._where(node, names)
        done: Node = rebuild(node, lambda c: self._part(c, inside, node))
        return done

    def number(self, node: Expr, names: Names, around: Node) -> Expr:
        """The node written out, whose value has to be a number."""
        done = self.node(node, names)
        if isinstance(done, Matrix):
            raise ShapeError(f"{_words(done)} stands where a number is needed", node, around)
        assert isinstance(done, Expr)
        return done

    def matrix(self, node: Expr, names: Names, what: str, around: Node) -> Matrix:
        """The node written out, whose value has to be a matrix."""
        done = self.node(node, names)
        if not isinstance(done, Matrix):
            raise ShapeError(f"{what} takes a matrix, and this is a number", node, around)
        return done

    def _part(self, node: Node, names: Names, around: Node) -> Node:
        return self.number(node, names, around) if isinstance(node, Expr) else self.node(node, names)

    def _scoped(self, node: Extremum | Pred | Exists | Claim, names: Names) -> Node:
        inside, binds = dict(names), []
        for bind in node.scope.binds:
            if isinstance(bind.within, MatrixSet):
                inside[bind.name] = entries = entries_of(bind.name, bind.within, self.taken)
                base = self.node(bind.within.base, inside)
                binds += [Bind(e.name, base) for e in entries.entries if isinstance(e, Var)]  # type: ignore[arg-type]
            else:
                inside.pop(bind.name, None)
                binds.append(Bind(bind.name, self.node(bind.within, inside)))  # type: ignore[arg-type]
        written = [self.node(c, inside) for c in node.scope.conditions]
        # An equality of matrices is one condition an entry.
        conditions = tuple(p for c in written for p in (c.parts if isinstance(c, And) else (c,)))
        scope = Scope(tuple(binds), conditions)  # type: ignore[arg-type]
        return replace(node, scope=scope, body=self._part(node.body, inside, node))  # type: ignore[arg-type]

    def _relation(self, node: Rel, names: Names) -> Stmt:
        terms = [self.node(t, names) for t in node.terms]
        matrices = [t for t in terms if isinstance(t, Matrix)]
        if not matrices:
            return Rel(node.ops, tuple(t for t in terms if isinstance(t, Expr)))
        parts: list[Stmt] = []
        for op, a, b in zip(node.ops, terms, terms[1:], strict=False):
            if op not in ("==", "!="):
                raise ShapeError(f"matrices have no order: {op} is between numbers", node)
            if not isinstance(a, Matrix) or not isinstance(b, Matrix):
                hint = "zero is 0*identity(n)"
                raise ShapeError(f"{_words(a)} is held against {_words(b)}", node, hint=hint)
            if algebra.shape(a) != algebra.shape(b):
                raise ShapeError(f"{_words(a)} is held against {_words(b)}", node)
            equal = tuple(Rel(("==",), pair) for pair in zip(a.entries, b.entries, strict=True))
            all_equal = equal[0] if len(equal) == 1 else And(equal)
            parts.append(Not(all_equal) if op == "!=" else all_equal)
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _entry(self, node: Entry, names: Names) -> Expr:
        matrix = self.matrix(node.matrix, names, "[i, j]", node)
        (rows, columns), chosen = algebra.shape(matrix), []
        for index, size, word in ((node.row, rows, "row"), (node.column, columns, "column")):
            at = self.number(index, names, node)
            value = constant_value(at)
            if value is not None and value not in range(1, size + 1):
                raise ShapeError(f"{_words(matrix)} has no {word} {value}", node)
            chosen.append((at, [int(value)] if value is not None else list(range(1, size + 1)), value))
        (row, down, i), (column, across, j) = chosen
        if i is not None and j is not None:
            return undropped(matrix.entries[(int(i) - 1) * columns + int(j) - 1], matrix.entries)
        # No such place: no value.
        found: Expr = App("div", (num(1), num(0)))
        for a in reversed(down):
            for b in reversed(across):
                at_row, at_column = Rel(("==",), (row, num(a))), Rel(("==",), (column, num(b)))
                place: Stmt = (
                    at_column if i is not None else at_row if j is not None else And((at_row, at_column))
                )
                found = Where(place, matrix.entries[(a - 1) * columns + b - 1], found)
        return undropped(found, matrix.entries)

    def _terms(self, node: Series) -> list[Expr] | None:
        """A sum or product over the places of a matrix, written out; None for another one."""
        lo, hi = constant_value(node.lo), constant_value(node.hi)
        if lo is None or hi is None or lo.denominator != 1 or hi.denominator != 1 or hi - lo >= MAX_TERMS:
            return None
        return [substitute(node.body, {node.index: num(k)}) for k in range(int(lo), int(hi) + 1)]

    def _where(self, node: Where, names: Names) -> Expr:
        cond = self.node(node.cond, names)
        then, other = self.node(node.then, names), self.node(node.other, names)
        assert isinstance(cond, Stmt)
        if not isinstance(then, Matrix) and not isinstance(other, Matrix):
            return replace(node, cond=cond, then=then, other=other)  # type: ignore[arg-type]
        if not isinstance(then, Matrix) or not isinstance(other, Matrix) or _unlike(then, other):
            raise ShapeError(f"a choice between {_words(then)} and {_words(other)}", node)
        pairs = zip(then.entries, other.entries, strict=True)
        return Matrix(tuple(Where(cond, a, b) for a, b in pairs), then.columns)

    def _app(self, node: App, names: Names) -> Expr:
        head = node.head
        if head == "identity":
            return algebra.identity(_size(node))
        if head in MATRIX:
            return self._call(node, names)
        args = [self.node(a, names) for a in node.args]
        numbers = [a for a in args if isinstance(a, Expr) and not isinstance(a, Matrix)]
        matrices = [a for a in args if isinstance(a, Matrix)]
        if not matrices:
            return App(head, tuple(numbers))
        if head == "neg":
            return algebra.negated(matrices[0])
        if head == "add":
            if numbers or any(_unlike(m, matrices[0]) for m in matrices):
                other = next(a for a in args if not isinstance(a, Matrix) or _unlike(a, matrices[0]))
                hint = "write c*identity(n) for a number c" if numbers else None
                raise ShapeError(f"{_words(matrices[0])} is added to {_words(other)}", node, hint=hint)
            return algebra.added(matrices)
        if head == "mul":
            if len(matrices) > 1:
                raise ShapeError("* takes one matrix", node, hint="the product of matrices is A @ B")
            return algebra.scaled(numbers, matrices[0])
        if head == "div" and isinstance(args[0], Matrix) and len(matrices) == 1:
            return algebra.divided(matrices[0], numbers[0])
        if head == "pow" and isinstance(args[0], Matrix) and len(matrices) == 1:
            return self._power(node, matrices[0], numbers[0])
        if head == "div":
            raise ShapeError("nothing is divided by a matrix", node, hint="write inverse(A)")
        raise ShapeError(
            f"{head} takes numbers, found {_words(matrices[0])}", node, hint="write its entries out"
        )

    def _power(self, node: App, base: Matrix, exponent: Expr) -> Matrix:
        if not isinstance(exponent, Num) or exponent.value not in range(MAX_POWER + 1):
            hint = "write inverse(A)" if constant_value(exponent) == -1 else None
            raise ShapeError(f"a power of a matrix is a whole number from 0 to {MAX_POWER}", node, hint=hint)
        _square(base, "a power", node)
        return algebra.powered(base, int(exponent.value))

    def _call(self, node: App, names: Names) -> Expr:
        args = [self.matrix(a, names, node.head, node) for a in node.args]
        if node.head == "matmul":
            left, right = args
            if algebra.shape(left)[1] != algebra.shape(right)[0]:
                raise ShapeError(
                    f"{_words(left)} times {_words(right)}",
                    node,
                    hint="columns on the left have to be as many as rows on the right",
                )
            return algebra.multiplied(left, right)
        if node.head in ("transpose", "frobenius"):
            return _PLAIN[node.head](args[0])
        _square(args[0], node.head, node)
        return _PLAIN[node.head](args[0])


_PLAIN: dict[str, Callable[[Matrix], Expr]] = {
    "transpose": algebra.transposed,
    "frobenius": algebra.frobenius,
    "det": algebra.determinant,
    "trace": algebra.trace,
    "inverse": algebra.inverse,
}


def _size(node: App) -> int:
    (arg,) = node.args
    if not isinstance(arg, Num) or arg.value not in range(1, MAX_IDENTITY + 1):
        raise ShapeError(f"identity takes a whole number from 1 to {MAX_IDENTITY}", node)
    return int(arg.value)


def _square(matrix: Matrix, what: str, node: Node) -> None:
    rows, columns = algebra.shape(matrix)
    if rows != columns:
        raise ShapeError(f"{what} takes a square matrix, found {_words(matrix)}", node)


def _unlike(a: Matrix, b: Matrix) -> bool:
    return algebra.shape(a) != algebra.shape(b)


def _words(node: Node) -> str:
    if not isinstance(node, Matrix):
        return "a number"
    rows, columns = algebra.shape(node)
    return f"a {rows} x {columns} matrix"

"""Reading what names range over: binds, conditions and sets."""

from __future__ import annotations

from gateproof.theory.formula import hints, names
from gateproof.theory.formula.calls import CALLS
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.nodes import (
    App,
    Bind,
    Const,
    Expr,
    Index,
    IntervalSet,
    IntRange,
    MatrixSet,
    NamedSet,
    Node,
    Num,
    Rel,
    Scope,
    SetExpr,
    SetMinus,
    SetPower,
    Stmt,
    Var,
)
from gateproof.theory.formula.reader import Reader
from gateproof.theory.formula.tokens import Token

#: Sets of points taken out, or powers, behind one set.
MAX_BEHIND = 40
#: Rows and columns of a matrix.
MAX_SIDE = 4
_FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


class ScopeReader(Reader):
    """The part of the parser that reads scopes; expressions are read by the whole."""

    def expression(self) -> Expr:
        """An expression (no relation at the top)."""
        raise NotImplementedError

    def formula(self, level: int) -> Node:
        """Precedence climbing over one level and all tighter ones."""
        raise NotImplementedError

    def primary(self) -> Node:
        """A number, name, call, index, set of points or parenthesis."""
        raise NotImplementedError

    def as_stmt(self, node: Node, token: Token) -> Stmt:
        """The node if it is a statement."""
        if isinstance(node, Stmt):
            return node
        if self.token.kind in ("name", "number") or self.token.text == "(":
            self.end()
        raise self.error("expected a statement (a relation, predicate or 'in'), found a value", token)

    def as_expr(self, node: Node, token: Token) -> Expr:
        """The node if it is an expression."""
        if isinstance(node, Expr):
            return node
        raise self.error("expected a value, found a statement", token)

    def dotted(self) -> FormulaError:
        """The error for a name with a dot in it."""
        path = self.token.text
        hint = hints.dotted_hint(path, self.callable())
        if hint is not None:
            return self.error(f"{path!r} is not a name of the language", hint=hint)
        at = Token("op", ".", self.token.column + path.index("."))
        return self.error("unexpected character '.'", at, "attributes are not part of the language")

    def callable(self) -> list[str]:
        """Everything that takes parentheses."""
        return [*self.functions, *CALLS, *names.PREDICATES]

    def scope(self, closing: str) -> Scope:
        """Binds and conditions, separated by commas, up to ``closing`` (not read)."""
        binds: list[Bind] = []
        conditions: list[Stmt] = []
        while True:
            self._bind(binds, conditions)
            if not self.take(","):
                break
        if self.token.text != closing:
            raise self.error(f"expected ',' or {closing!r}, found {self.found()}")
        return Scope(tuple(binds), tuple(conditions))

    def _bind(self, binds: list[Bind], conditions: list[Stmt]) -> None:
        token = self.token
        if token.kind == "name" and self.peek().text == "in":
            name = self._new_name(binds)
            self.expect("in")
            binds.append(Bind(name, self.set()))
            self.bound.add(name)
            return
        if token.kind == "name" and self.peek().text in (",", ":", ")"):
            raise self.error(f"{token.text!r} has no set", token, f"write '{token.text} in R'")
        stmt = self.as_stmt(self.formula(1), token)
        known = {b.name for b in binds}
        half_line = _half_line(stmt, known)
        if half_line is not None:
            self._check_name(half_line.name, token, binds)
            binds.append(half_line)
            self.bound.add(half_line.name)
        else:
            conditions.append(stmt)

    def _new_name(self, binds: list[Bind]) -> str:
        token = self.name("a name")
        self._check_name(token.text, token, binds)
        return token.text

    def _check_name(self, word: str, token: Token, binds: list[Bind]) -> None:
        function = word in self.functions and word not in names.ALSO_NUMBERS
        reserved = function or word in CALLS or word in names.CONSTANTS or word in names.SETS
        if reserved or word in names.REFUSED or word in names.PREDICATES:
            raise self.error(f"{word!r} is reserved and cannot be bound", token, names.REFUSED.get(word))
        if any(b.name == word for b in binds):
            raise self.error(f"{word!r} is bound twice", token)

    def set(self) -> SetExpr:
        r"""A set, with ``\ {points}`` and ``** n`` behind it."""
        self.depth += 7
        node = self._plain_set()
        self.depth -= 7
        for _ in range(MAX_BEHIND):
            if self.take("\\"):
                self.expect("{")
                points = [self.expression()]
                while self.take(","):
                    points.append(self.expression())
                self.expect("}")
                node = SetMinus(node, tuple(points))
            elif self.take("**"):
                token = self.token
                if token.text == "(" and self._is_interval():
                    return self._matrices(node)
                node = SetPower(node, self.as_expr(self.primary(), token))
            else:
                return node
        raise self.error(f"more than {MAX_BEHIND} sets of points or powers behind a set")

    def _matrices(self, base: SetExpr) -> MatrixSet:
        """``(m, n)`` behind ``base**``."""
        start = self.expect("(")
        rows = self._size()
        self.expect(",")
        columns = self._size()
        self.expect(")", "')': a matrix has rows and columns")
        return self.placed(MatrixSet(base, rows, columns), start)

    def _size(self) -> int:
        token = self.token
        node = self.expression()
        if not isinstance(node, Num) or node.value not in range(1, MAX_SIDE + 1):
            raise self.error(f"a matrix has 1 to {MAX_SIDE} rows and columns", token)
        return int(node.value)

    def _plain_set(self) -> SetExpr:
        token = self.token
        if token.kind == "name" and token.text in names.SETS:
            self.advance()
            return NamedSet(token.text)
        if token.text == "[" or (token.text == "(" and self._is_interval()):
            self.advance()
            lo = self.expression()
            self.expect(",")
            hi = self.expression()
            if self.token.text not in (")", "]"):
                raise self.error(f"expected ')' or ']', found {self.found()}")
            return IntervalSet(lo, hi, token.text == "[", self.advance().text == "]")
        lo = self.expression()
        self.expect("..", "a set: R, N, N1, Z, an interval or a range lo..hi")
        return IntRange(lo, self.expression())

    def _is_interval(self) -> bool:
        """Whether the parenthesis that opens here holds a comma at its own level."""
        level = 0
        for token in self.tokens[self.at :]:
            if token.text in ("(", "[", "{"):
                level += 1
            elif token.text in (")", "]", "}"):
                level -= 1
                if level == 0:
                    return False
            elif token.text == "," and level == 1:
                return True
        return False


def _half_line(stmt: Stmt, known: set[str]) -> Bind | None:
    """``tau > 0`` for a new name as a bind, ``0 < tau < 1`` likewise; else None."""
    if not isinstance(stmt, Rel):
        return None
    new = [i for i, t in enumerate(stmt.terms) if isinstance(t, Var) and t.name not in known]
    if len(new) != 1 or len(stmt.terms) > 3 or not all(op in ("<", "<=", ">", ">=") for op in stmt.ops):
        return None
    at = new[0]
    others = [t for i, t in enumerate(stmt.terms) if i != at]
    if any(isinstance(n, Var | Index) for t in others for n in t.walk()):
        return None
    if len(stmt.terms) == 3 and (at != 1 or stmt.ops[0][0] != stmt.ops[1][0]):
        return None
    name = stmt.terms[at]
    lo: Expr = App("neg", (Const("oo"),))
    hi: Expr = Const("oo")
    lo_closed = hi_closed = False
    for i, op in enumerate(stmt.ops):
        left, right = stmt.terms[i], stmt.terms[i + 1]
        if right is name:
            left, right, op = right, left, _FLIP[op]
        if op[0] == ">":
            lo, lo_closed = right, op == ">="
        else:
            hi, hi_closed = right, op == "<="
    assert isinstance(name, Var)
    return Bind(name.name, IntervalSet(lo, hi, lo_closed, hi_closed))

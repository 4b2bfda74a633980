"""Text to syntax tree: a precedence-climbing parser.

Precedence, loosest first: ``=>`` (right), ``or``, ``and``, ``not``, relations and
``in`` (chained), ``+ -``, ``* /``, unary sign, ``**`` (right, tighter than the sign
on its left). Nothing is evaluated: names are looked up in fixed tables.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from fractions import Fraction

from gateproof.theory.formula import names
from gateproof.theory.formula.calls import CALLS
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.nodes import (
    And,
    App,
    Bind,
    Claim,
    Const,
    Exists,
    Expr,
    FiniteSet,
    Implies,
    In,
    Index,
    IntervalSet,
    IntRange,
    NamedSet,
    Node,
    Not,
    Num,
    Or,
    Pred,
    Printed,
    Rel,
    Scope,
    SetExpr,
    SetMinus,
    SetPower,
    Stmt,
    Var,
)
from gateproof.theory.formula.powers import check_power
from gateproof.theory.formula.tokens import Token, tokenize

MAX_DEPTH = 40
MAX_SIGNS = 50
RELOPS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


class Parser:
    """One text being read. ``functions`` maps names to their arities (lo, hi or None)."""

    def __init__(self, text: str, functions: Mapping[str, tuple[int, int | None]]) -> None:
        self.tokens = tokenize(text)
        self.functions = functions
        self.at = 0
        self.depth = 0
        self.bound: set[str] = set()

    # --- tokens ---------------------------------------------------------------

    @property
    def token(self) -> Token:
        """The token to be read next."""
        return self.tokens[self.at]

    def peek(self, ahead: int = 1) -> Token:
        """A token further on (the end token past the end)."""
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def advance(self) -> Token:
        """Read one token."""
        token = self.token
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def take(self, text: str) -> bool:
        """Read ``text`` if it stands here."""
        if self.token.text == text and self.token.kind in ("op", "keyword"):
            self.advance()
            return True
        return False

    def expect(self, text: str, what: str | None = None) -> Token:
        """Read ``text`` or fail."""
        token = self.token
        if not self.take(text):
            raise self.error(f"expected {what or repr(text)}, found {self.found()}")
        return token

    def found(self) -> str:
        """The next token in words."""
        return "the end" if self.token.kind == "end" else repr(self.token.text)

    def error(self, message: str, token: Token | None = None, hint: str | None = None) -> FormulaError:
        """An error at a token (the next one by default)."""
        return FormulaError(message, (token or self.token).column, hint)

    def end(self) -> None:
        """Fail unless all is read."""
        token = self.token
        if token.kind == "end":
            return
        hint = None
        if token.kind in ("name", "number") or token.text == "(":
            hint = "products are written with *"
        raise self.error(f"expected an operator or the end, found {self.found()}", hint=hint)

    def name(self, what: str) -> Token:
        """Read a plain name."""
        token = self.token
        if token.kind != "name":
            raise self.error(f"expected {what}, found {self.found()}")
        return self.advance()

    # --- statements -----------------------------------------------------------

    def claim(self) -> Claim:
        """``["for" binds ":"] stmt``."""
        scope = Scope((), ())
        if self.take("for"):
            scope = self.scope(":")
            self.expect(":")
        body = self.statement()
        self.end()
        return Claim(scope, body)

    def statement(self) -> Stmt:
        """A statement, at the loosest precedence."""
        token = self.token
        return self.as_stmt(self.formula(0), token)

    def expression(self) -> Expr:
        """An expression (no relation at the top)."""
        token = self.token
        return self.as_expr(self.formula(5), token)

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

    def formula(self, level: int) -> Node:
        """Precedence climbing over one level and all tighter ones."""
        self.depth += 1
        if self.depth > MAX_DEPTH * 8:
            raise self.error(f"nested deeper than {MAX_DEPTH} levels")
        try:
            return self._level(level)
        finally:
            self.depth -= 1

    def _level(self, level: int) -> Node:
        if level == 0:
            token = self.token
            left = self._level(1)
            if self.take("=>"):
                right = self.statement()
                return Implies(self.as_stmt(left, token), right)
            return left
        if level in (1, 2):
            return self._junction(level)
        if level == 3:
            if self.token.text == "not" and self.token.kind == "keyword":
                self.advance()
                token = self.token
                return Not(self.as_stmt(self.formula(3), token))
            return self._level(4)
        if level == 4:
            return self._relation()
        if level == 5:
            return self._sum()
        return self._product()

    def _junction(self, level: int) -> Node:
        word, build = (("or", Or), ("and", And))[level - 1]
        token = self.token
        first = self._level(level + 1)
        parts: list[Stmt] = []
        while self.take(word):
            if not parts:
                parts.append(self.as_stmt(first, token))
            token = self.token
            parts.append(self.as_stmt(self._level(level + 1), token))
        return build(tuple(parts)) if parts else first

    def _relation(self) -> Node:
        token = self.token
        first = self._sum()
        if self.take("in"):
            return In(self.as_expr(first, token), self.set())
        ops: list[str] = []
        terms: list[Expr] = []
        while self.token.text in RELOPS:
            if not terms:
                terms.append(self.as_expr(first, token))
            ops.append(self.advance().text)
            token = self.token
            terms.append(self.as_expr(self._sum(), token))
        if self.token.text == "=":
            raise self.error("unexpected '='", hint="equality is written ==")
        return Rel(tuple(ops), tuple(terms)) if ops else first

    # --- arithmetic -----------------------------------------------------------

    def _sum(self) -> Node:
        token = self.token
        first = self._product()
        terms: list[Expr] = []
        while self.token.text in ("+", "-") and self.token.kind == "op":
            if not terms:
                terms.append(self.as_expr(first, token))
            sign = self.advance().text
            token = self.token
            term = self.as_expr(self._product(), token)
            terms.append(App("neg", (term,)) if sign == "-" else term)
        return App("add", tuple(terms)) if terms else first

    def _product(self) -> Node:
        token = self.token
        node = self._unary()
        factors: list[Expr] = []
        divisions = 0
        while self.token.text in ("*", "/") and self.token.kind == "op":
            sign = self.advance().text
            left = self.as_expr(node, token)
            token = self.token
            right = self.as_expr(self._unary(), token)
            if sign == "*":
                factors = [*factors, right] if factors else [left, right]
                node = App("mul", tuple(factors))
            else:
                divisions += 1
                if divisions > MAX_DEPTH:
                    raise self.error(f"more than {MAX_DEPTH} divisions in a row")
                node = App("div", (left, right))
                factors = []
        return node

    def _unary(self) -> Node:
        start = self.token
        negative = False
        signs = 0
        while self.token.text in ("+", "-") and self.token.kind == "op":
            negative ^= self.advance().text == "-"
            signs += 1
            if signs > MAX_SIGNS:
                raise self.error(f"more than {MAX_SIGNS} signs in a row")
        token = self.token
        node = self._power()
        if not signs:
            return node
        value = self.as_expr(node, token if token.kind != "end" else start)
        if negative and isinstance(value, Printed):
            return Printed(f"-{value.text}", -value.hi, -value.lo)
        return App("neg", (value,)) if negative else value

    def _power(self) -> Node:
        token = self.token
        base = self.primary()
        if not self.take("**"):
            return base
        self.depth += 8
        if self.depth > MAX_DEPTH * 8:
            raise self.error(f"nested deeper than {MAX_DEPTH} levels")
        exponent_token = self.token
        exponent = self.as_expr(self._unary(), exponent_token)
        self.depth -= 8
        return check_power(self.as_expr(base, token), exponent, token.column)

    def primary(self) -> Node:
        """A number, name, call, index, set of points or parenthesis."""
        token = self.token
        if token.kind == "number":
            self.advance()
            return self._number(token)
        if token.text == "exists":
            return self._exists()
        if token.kind == "name":
            return self._named()
        if token.text == "(":
            self.advance()
            self.depth += 7
            node = self.formula(0)
            self.depth -= 7
            self.expect(")")
            return node
        if token.text == "{":
            self.advance()
            items = [self.expression()]
            while self.take(","):
                items.append(self.expression())
            self.expect("}")
            return FiniteSet(tuple(items))
        raise self.error(f"expected a value, found {self.found()}")

    @staticmethod
    def _number(token: Token) -> Expr:
        text = token.text
        if not text.endswith("~"):
            return Num(Fraction(text))
        text = text[:-1]
        value = Fraction(text)
        mantissa, _, exponent = text.lower().partition("e")
        places = len(mantissa.partition(".")[2]) - int(exponent or 0)
        half = Fraction(1, 2) * Fraction(10) ** -places
        return Printed(text, value - half, value + half)

    def _named(self) -> Node:
        token = self.advance()
        word = token.text
        called = self.token.text == "("
        if word in names.PREDICATES and called:
            return self._predicate(word)
        if called and word in CALLS:
            self.depth += 7
            node = CALLS[word](self, token)
            self.depth -= 7
            return node
        if called:
            return self._call(token)
        if self.token.text == "[":
            self.advance()
            index = self.expression()
            self.expect("]")
            return Index(word, index)
        if word in names.CONSTANTS:
            return Const(names.CONSTANTS[word])
        if word in names.REFUSED:
            raise self.error(f"{word!r} is not a value", token, names.REFUSED[word])
        if word in self.functions or word in CALLS or word in names.PREDICATES:
            raise self.error(f"{word!r} is a function and needs (...)", token)
        return Var(word)

    def _call(self, token: Token) -> Expr:
        word = token.text
        if word not in self.functions:
            near = difflib.get_close_matches(word, [*self.functions, *CALLS, *names.PREDICATES], 1, 0.6)
            hint = names.REFUSED.get(word) or (f"did you mean {near[0]}?" if near else None)
            raise self.error(f"unknown function {word!r}", token, hint)
        args = self.arguments()
        lo, hi = self.functions[word]
        if len(args) < lo or (hi is not None and len(args) > hi):
            wanted = str(lo) if lo == hi else f"{lo} or more" if hi is None else f"{lo} to {hi}"
            raise self.error(f"{word} takes {wanted} argument(s), found {len(args)}", token)
        return App(word, tuple(args))

    def arguments(self) -> list[Expr]:
        """``(expr, ...)``."""
        self.expect("(")
        self.depth += 7
        args: list[Expr] = []
        if self.token.text != ")":
            args.append(self.expression())
            while self.take(","):
                args.append(self.expression())
        self.depth -= 7
        self.expect(")", "',' or ')'")
        return args

    def _predicate(self, word: str) -> Stmt:
        self.expect("(")
        body = self.expression()
        self.expect(",", "',' and the set of a name")
        scope = self.scope(")")
        self.expect(")")
        return Pred(word, body, scope)

    def _exists(self) -> Stmt:
        self.advance()
        scope = self.scope(":")
        self.expect(":")
        self.expect("(")
        body = self.statement()
        self.expect(")")
        return Exists(scope, body)

    # --- scopes and sets ------------------------------------------------------

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
            return
        stmt = self.as_stmt(self.formula(1), token)
        known = {b.name for b in binds}
        half_line = _half_line(stmt, known)
        if half_line is not None:
            self._check_name(half_line.name, token, binds)
            binds.append(half_line)
        else:
            conditions.append(stmt)

    def _new_name(self, binds: list[Bind]) -> str:
        token = self.name("a name")
        self._check_name(token.text, token, binds)
        return token.text

    def _check_name(self, word: str, token: Token, binds: list[Bind]) -> None:
        reserved = word in self.functions or word in CALLS or word in names.CONSTANTS or word in names.SETS
        if reserved or word in names.REFUSED or word in names.PREDICATES:
            raise self.error(f"{word!r} is reserved and cannot be bound", token, names.REFUSED.get(word))
        if any(b.name == word for b in binds):
            raise self.error(f"{word!r} is bound twice", token)

    def set(self) -> SetExpr:
        r"""A set, with ``\ {points}`` and ``** n`` behind it."""
        node = self._plain_set()
        while True:
            if self.take("\\"):
                self.expect("{")
                points = [self.expression()]
                while self.take(","):
                    points.append(self.expression())
                self.expect("}")
                node = SetMinus(node, tuple(points))
            elif self.take("**"):
                token = self.token
                node = SetPower(node, self.as_expr(self.primary(), token))
            else:
                return node

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

"""Text to syntax tree: a precedence-climbing parser.

Precedence, loosest first: ``=>`` (right), ``or``, ``and``, ``not``, relations and
``in`` (chained), ``+ -``, ``* /``, unary sign, ``**`` (right, tighter than the sign
on its left). Nothing is evaluated: names are looked up in fixed tables.
"""

from __future__ import annotations

from gateproof.theory.formula import floating, hints, names
from gateproof.theory.formula.calls import CALLS
from gateproof.theory.formula.matrix_reader import MatrixReader
from gateproof.theory.formula.nodes import (
    And,
    App,
    Claim,
    Const,
    Entry,
    Exists,
    Expr,
    FiniteSet,
    Implies,
    In,
    Index,
    Node,
    Not,
    Or,
    PointSet,
    Pred,
    Printed,
    Rel,
    Scope,
    Stmt,
    Var,
)
from gateproof.theory.formula.powers import check_power, number
from gateproof.theory.formula.tokens import Token
from gateproof.theory.parameters import outside

MAX_DEPTH = 40
MAX_SIGNS = 50
RELOPS = frozenset({"==", "!=", "<", "<=", ">", ">="})


class Parser(MatrixReader):
    """One text being read. ``functions`` maps names to their arities (lo, hi or None)."""

    # --- statements -----------------------------------------------------------

    def claim(self) -> Claim:
        """``["in" format ":"] ["for" binds ":"] stmt``."""
        floating.read_format(self)
        scope = Scope((), ())
        if self.take("for"):
            scope = self.scope(":")
            self.expect(":")
        body = self.statement()
        self.end()
        return Claim(scope, body, self.format)

    def statement(self) -> Stmt:
        """A statement, at the loosest precedence."""
        token = self.token
        return self.as_stmt(self.formula(0), token)

    def expression(self) -> Expr:
        """An expression (no relation at the top)."""
        token = self.token
        return self.as_expr(self.formula(5), token)

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
                self.depth += 7
                right = self.statement()
                self.depth -= 7
                return Implies(self.as_stmt(left, token), right)
            return left
        if level in (1, 2):
            return self._junction(level)
        if level == 3:
            if self.token.text == "not" and self.token.kind == "keyword":
                self.advance()
                token = self.token
                self.depth += 7
                part = self.as_stmt(self.formula(3), token)
                self.depth -= 7
                return Not(part)
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

    def _points(self) -> PointSet | None:
        """A set of points behind ``in``."""
        if self.token.text not in ("{", "zeros", "argmax", "argmin", *names.FIELD):
            return None
        return PointSet(self.expression())

    def _relation(self) -> Node:
        token = self.token
        first = self._sum()
        if self.take("in"):
            return In(self.as_expr(first, token), self._points() or self.set())
        ops: list[str] = []
        terms: list[Expr] = []
        sign = self.token
        while self.token.text in RELOPS:
            if not terms:
                terms.append(self.as_expr(first, token))
            ops.append(self.advance().text)
            token = self.token
            terms.append(self.as_expr(self._sum(), token))
        if self.token.text == "=":
            slip = hints.ARROWS.get(self.token.text + self.peek().text)
            raise self.error("unexpected '='", hint=slip or "equality is written ==")
        return self.placed(Rel(tuple(ops), tuple(terms)), sign) if ops else first

    # --- arithmetic -----------------------------------------------------------

    def _sum(self) -> Node:
        token = self.token
        first = self._product()
        terms: list[Expr] = []
        at = self.token
        while self.token.text in ("+", "-") and self.token.kind == "op":
            if not terms:
                terms.append(self.as_expr(first, token))
            at = self.advance()
            token = self.token
            term = self.as_expr(self._product(), token)
            terms.append(App("neg", (term,)) if at.text == "-" else term)
        return self.placed(App("add", tuple(terms)), at) if terms else first

    def _product(self) -> Node:
        token = self.token
        node = self._unary()
        factors: list[Expr] = []
        divisions = 0
        while self.token.text in ("*", "/", "@") and self.token.kind == "op":
            at = self.advance()
            sign = at.text
            left = self.as_expr(node, token)
            token = self.token
            right = self.as_expr(self._unary(), token)
            if sign == "*":
                factors = [*factors, right] if factors else [left, right]
                node = App("mul", tuple(factors))
            elif sign == "@":
                node, factors = App("matmul", (left, right)), []
            else:
                divisions += 1
                if divisions > MAX_DEPTH:
                    raise self.error(f"more than {MAX_DEPTH} divisions in a row")
                node = App("div", (left, right))
                factors = []
            self.placed(node, at)
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
        base = self.entries(self.primary(), token)
        at = self.token
        if not self.take("**"):
            return base
        self.depth += 8
        if self.depth > MAX_DEPTH * 8:
            raise self.error(f"nested deeper than {MAX_DEPTH} levels")
        exponent_token = self.token
        exponent = self.as_expr(self._unary(), exponent_token)
        self.depth -= 8
        return self.placed(check_power(self.as_expr(base, token), exponent, token.column), at)

    def primary(self) -> Node:
        """A number, name, call, index, set of points or parenthesis."""
        token = self.token
        if token.kind == "number":
            self.advance()
            return number(token.text)
        if token.text == "exists":
            self.depth += 7
            found = self._exists()
            self.depth -= 7
            return found
        if token.kind == "dotted":
            raise self.dotted()
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
            self.depth += 7
            items = [] if self.token.text == "}" else [self.expression()]
            while items and self.take(","):
                items.append(self.expression())
            self.depth -= 7
            self.expect("}")
            return FiniteSet(tuple(items))
        if token.text == "[":
            return self.matrix()
        hint = hints.ARROWS.get(self.peek_back() + self.token.text)
        raise self.error(f"expected a value, found {self.found()}", hint=hint)

    def _named(self) -> Node:
        token = self.advance()
        word = token.text
        called = self.token.text == "("
        if word in names.PREDICATES and called:
            self.depth += 7
            found = self._predicate(word)
            self.depth -= 7
            return found
        if called and word in CALLS:
            self.depth += 7
            node = CALLS[word](self, token)
            self.depth -= 7
            return node
        if called:
            return self._call(token)
        if word == "ulp":
            return floating.read_ulp(self, token)
        if self.token.text == "[":
            self.advance()
            index = self.inner()
            if self.take(","):
                column = self.inner()
                self.expect("]")
                return self.placed(Entry(Var(word), index, column), token)
            self.expect("]")
            return Index(word, index)
        if word in names.CONSTANTS:
            return Const(names.CONSTANTS[word])
        if word in names.ALSO_NUMBERS:
            return Var(word)
        if word in names.REFUSED:
            raise self.error(f"{word!r} is not a value", token, names.REFUSED[word])
        if word in self.functions or word in CALLS or word in names.PREDICATES:
            hint = f"write {word}(x)"
            if self.token.text == "**":
                inverse = self.peek().text == "-"
                hint = (
                    f"write 1/{word}(x) or the inverse function" if inverse else f"{hint}**{self.peek().text}"
                )
            raise self.error(f"{word!r} is a function and needs (...)", token, hint)
        return Var(word)

    def _call(self, token: Token) -> Expr:
        word = token.text
        if word not in self.functions or (word in names.ALSO_NUMBERS and word in self.bound):
            if word in hints.MEANS and word not in self.bound:
                raise self.error(f"{word!r} is no function", token, hints.MEAN)
            if word in self.bound or len(word) == 1:
                raise self.error(
                    f"{word!r} is no function", token, f"products are written with *: {word}*(...)"
                )
            raise self.error(f"unknown function {word!r}", token, hints.function_hint(word, self.callable()))
        args = self.arguments()
        lo, hi = self.functions[word]
        if len(args) < lo or (hi is not None and len(args) > hi):
            wanted = str(lo) if lo == hi else f"{lo} or more" if hi is None else f"{lo} to {hi}"
            raise self.error(f"{word} takes {wanted} argument(s), found {len(args)}", token)
        fault = outside(word, tuple(args))
        if fault is not None:
            raise self.error(fault, token)
        return self.placed(App(word, tuple(args)), token)

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

"""Tokens read one by one, and the errors that name a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.nodes import Node
from gateproof.theory.formula.tokens import Token, tokenize

Part = TypeVar("Part", bound=Node)


class Reader:
    """One text being read. ``functions`` maps names to their arities (lo, hi or None)."""

    def __init__(self, text: str, functions: Mapping[str, tuple[int, int | None]]) -> None:
        self.tokens = tokenize(text)
        self.functions = functions
        self.at = 0
        self.depth = 0
        self.bound: set[str] = set()
        #: Columns of the parts that may have a wrong shape.
        self.places: dict[Node, int] = {}
        #: The floating-point format that the claim names, if it does.
        self.format = ""

    @property
    def token(self) -> Token:
        """The token to be read next."""
        return self.tokens[self.at]

    def peek(self, ahead: int = 1) -> Token:
        """A token further on (the end token past the end)."""
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def peek_back(self) -> str:
        """The text of the token read last."""
        return self.tokens[max(self.at - 1, 0)].text

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
            raise self.error(f"expected {what or repr(text)}, found {self.found()}", hint=self.missing(text))
        return token

    def found(self) -> str:
        """The next token in words."""
        return "the end" if self.token.kind == "end" else repr(self.token.text)

    def error(self, message: str, token: Token | None = None, hint: str | None = None) -> FormulaError:
        """An error at a token (the next one by default)."""
        return FormulaError(message, (token or self.token).column, hint)

    def placed(self, node: Part, token: Token) -> Part:
        """The node, whose place is kept for errors that are found once all is read."""
        self.places.setdefault(node, token.column)
        return node

    def end(self) -> None:
        """Fail unless all is read."""
        token = self.token
        if token.kind == "end":
            return
        hint = self.missing("")
        if token.text == "=":
            hint = "equality is written =="
        elif token.text == ")":
            hint = "no '(' is open here"
        raise self.error(f"expected an operator or the end, found {self.found()}", hint=hint)

    def missing(self, closing: str) -> str | None:
        """What may have been left out before the next token."""
        token = self.token
        if self.tokens[0].text == "forall" or self.peek_back() in ("all", "every", "each", "any"):
            return "write 'for x in R: ...'"
        if token.text in ("if", "else"):
            return "a choice is written where(condition, value, otherwise)"
        if token.kind in ("name", "number", "dotted") or token.text == "(":
            return "products are written with *"
        if token.kind == "end" and closing in (")", "]", "}"):
            opened = self._unclosed()
            return f"the {opened.text!r} at column {opened.column} is not closed" if opened else None
        return None

    def _unclosed(self) -> Token | None:
        """The last bracket that is open at the end."""
        stack: list[Token] = []
        for token in self.tokens:
            if token.kind == "op" and token.text in ("(", "[", "{"):
                stack.append(token)
            elif token.kind == "op" and token.text in (")", "]", "}") and stack:
                stack.pop()
        return stack[-1] if stack else None

    def name(self, what: str) -> Token:
        """Read a plain name."""
        token = self.token
        if token.kind != "name":
            raise self.error(f"expected {what}, found {self.found()}")
        return self.advance()

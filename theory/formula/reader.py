"""Tokens read one by one, and the errors that name a column."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.tokens import Token, tokenize


class Reader:
    """One text being read. ``functions`` maps names to their arities (lo, hi or None)."""

    def __init__(self, text: str, functions: Mapping[str, tuple[int, int | None]]) -> None:
        self.tokens = tokenize(text)
        self.functions = functions
        self.at = 0
        self.depth = 0

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

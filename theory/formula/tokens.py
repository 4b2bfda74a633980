"""Text to tokens, with every limit checked before anything is built."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gateproof.theory.formula.errors import FormulaError

MAX_CHARS = 10_000
MAX_TOKENS = 3_000
MAX_DIGITS = 400
MAX_DECIMAL_EXPONENT = 400

#: Spellings of one symbol, folded before reading.
_UNICODE = {"−": "-", "·": "*", "×": "*", "≤": "<=", "≥": ">=", "≠": "!=", "∞": "oo", "ℝ": "R", "∈": " in "}

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<number>(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?~?)
  | (?P<name>[^\W\d]\w*)
  | (?P<op>"[+-]"|\*\*|\.\.|==|!=|<=|>=|=>|[-+*/<>=()\[\]{},:\\])
    """,
    re.VERBOSE,
)

KEYWORDS = frozenset({"for", "in", "and", "or", "not", "exists"})


@dataclass(frozen=True)
class Token:
    """One token: kind is number, name, keyword, op or end; column counts from 1."""

    kind: str
    text: str
    column: int


def tokenize(text: str) -> list[Token]:
    """Tokens of a formula, the last of kind ``end``.

    Raises FormulaError for text that is too long, a number with too many digits,
    or a character that no formula holds.
    """
    if len(text) > MAX_CHARS:
        raise FormulaError(f"text of {len(text)} characters; at most {MAX_CHARS} are read")
    for symbol, plain in _UNICODE.items():
        if symbol in text:
            text = text.replace(symbol, plain)
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _stray(text, at)
        kind = match.lastgroup or ""
        word = match.group()
        if kind == "number":
            _check_number(word, at + 1)
        if kind == "name" and word in KEYWORDS:
            kind = "keyword"
        if kind != "space":
            tokens.append(Token(kind, word, at + 1))
        if len(tokens) > MAX_TOKENS:
            raise FormulaError(f"more than {MAX_TOKENS} symbols", at + 1)
        at = match.end()
    tokens.append(Token("end", "", len(text) + 1))
    return tokens


def _check_number(word: str, column: int) -> None:
    mantissa, _, exponent = word.rstrip("~").lower().partition("e")
    if len(mantissa) > MAX_DIGITS:
        raise FormulaError(f"a number of {len(mantissa)} digits; at most {MAX_DIGITS} are read", column)
    if exponent and (len(exponent) > 5 or abs(int(exponent)) > MAX_DECIMAL_EXPONENT):
        raise FormulaError(f"decimal exponent beyond +-{MAX_DECIMAL_EXPONENT}", column)


def _stray(text: str, at: int) -> FormulaError:
    char = text[at]
    hints = {
        "^": "powers are written **",
        ".": "attributes are not part of the language",
        "&": "write 'and'",
        "|": "write 'or', or abs(...) for an absolute value",
        "!": "write != or 'not'",
        "'": "there are no strings",
        '"': "there are no strings",
        "~": "a tilde follows a printed number, as in 29.314~",
    }
    return FormulaError(f"unexpected character {char!r}", at + 1, hints.get(char))

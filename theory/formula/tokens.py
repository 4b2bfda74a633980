"""Text to tokens, with every limit checked before anything is built."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from gateproof.theory.formula.errors import FormulaError

MAX_CHARS = 10_000
MAX_TOKENS = 3_000
MAX_DIGITS = 400
MAX_DECIMAL_EXPONENT = 400

#: One symbol in other spellings.
_SYMBOLS = {
    "−": "-", "·": "*", "⋅": "*", "×": "*", "∗": "*", "÷": "/",
    "≤": "<=", "≥": ">=", "≠": "!=", "⇒": "=>", "∞": "oo", "ℝ": "R", "ℕ": "N", "ℤ": "Z",
    "∈": "in", "∧": "and", "∨": "or", "¬": "not", "∃": "exists",
}  # fmt: skip
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<number>(?:[0-9]+(?:\.(?!\.)[0-9]*)?|(?<!\.)\.[0-9]+)(?:[eE][+-]?[0-9]+)?~?)
  | (?P<superscript>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)
  | (?P<symbol>[−·⋅×∗÷≤≥≠⇒∞ℝℕℤ∈∧∨¬∃])
  | (?P<dotted>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+)
  | (?P<name>(?:(?![⁰¹²³⁴⁵⁶⁷⁸⁹])[^\W\d])(?:(?![⁰¹²³⁴⁵⁶⁷⁸⁹])\w)*)
  | (?P<op>"[+-]"|\*\*|\.\.|==|!=|<=|>=|=>|[-+*/@<>=()\[\]{},:\\])
    """,
    re.VERBOSE,
)

_GREEK = re.compile(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?([A-Z]+)")

KEYWORDS = frozenset({"for", "in", "and", "or", "not", "exists"})


@dataclass(frozen=True)
class Token:
    """One token: kind is number, name, dotted, keyword, op or end; column counts from 1."""

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
        if kind == "superscript":
            # x² is x**2, and x⁻¹ is x**-1.
            plain = word.translate(_POWERS)
            tokens.append(Token("op", "**", at + 1))
            if not plain[0].isdigit():
                tokens.append(Token("op", plain[0], at + 1))
            plain = plain.lstrip("+-")
            _check_number(plain, at + 1)
            tokens.append(Token("number", plain, at + 1))
        elif kind != "space":
            tokens.append(_token(kind, word, at + 1))
        if len(tokens) > MAX_TOKENS:
            raise FormulaError(f"more than {MAX_TOKENS} symbols", at + 1)
        at = match.end()
    tokens.append(Token("end", "", len(text) + 1))
    return tokens


def _token(kind: str, word: str, column: int) -> Token:
    if kind == "symbol":
        word = _SYMBOLS[word]
        kind = "name" if word in ("oo", "R", "N", "Z") else "op"
    elif kind == "name":
        word = _name(word, column)
    return Token("keyword" if word in KEYWORDS else kind, word, column)


def _name(word: str, column: int) -> str:
    """The name in Latin letters: τ is tau and θ₁ is theta1, so that both spellings are one name."""
    if word.isascii():
        return word
    folded = "".join(_greek(c) for c in unicodedata.normalize("NFKC", word))
    if not folded.isidentifier():
        raise _stray(word, 0, column)
    return folded


def _greek(char: str) -> str:
    match = _GREEK.fullmatch(unicodedata.name(char, ""))
    if match is None:
        return char
    name = "lam" if match[2] == "LAMDA" else match[2].lower()
    return name.capitalize() if match[1] == "CAPITAL" else name


def _check_number(word: str, column: int) -> None:
    mantissa, _, exponent = word.rstrip("~").lower().partition("e")
    if len(mantissa) > MAX_DIGITS:
        raise FormulaError(f"a number of {len(mantissa)} digits; at most {MAX_DIGITS} are read", column)
    if exponent and (len(exponent) > 5 or abs(int(exponent)) > MAX_DECIMAL_EXPONENT):
        raise FormulaError(f"decimal exponent beyond +-{MAX_DECIMAL_EXPONENT}", column)


def _stray(text: str, at: int, column: int | None = None) -> FormulaError:
    char = text[at]
    hints = {
        "^": "powers are written **",
        ".": "attributes are not part of the language",
        "&": "write 'and'",
        "|": "an absolute value is written abs(...), a choice 'or'",
        "!": "write != or 'not'; factorials are not part of the language",
        "'": "there are no strings",
        '"': "there are no strings",
        "~": "a tilde follows a printed number, as in 29.314~",
        "∀": "write 'for x in R: ...'",
        "≈": "write abs(a - b) <= tolerance, or a printed number such as 0.28~",
        "→": "limits are written limit(f, x, a)",
        "′": "write diff(f, x)",
        "…": "a range is written a..b",
        "√": "write sqrt(...)",
        "∑": "write sum(f, k in a..b)",
        "∏": "write prod(f, k in a..b)",
        "∫": "write integrate(f, x, a, b)",
        "∂": "write diff(f, x)",
        "±": "write the two cases",
        "⌊": "rounding is not part of the language",
        "½": "write 1/2",
        "¼": "write 1/4",
        "¾": "write 3/4",
        "%": "write /100",
        "ⁿ": "powers are written **",
        "?": "a choice is written where(condition, value, otherwise)",
    }
    hint = "a range is written a..b" if text[max(at - 2, 0) : at + 1] == "..." else hints.get(char)
    return FormulaError(f"unexpected character {char!r}", column or at + 1, hint)

"""Text from claims files and from the command line, made safe to print."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

#: Controls, format marks (they reorder text), surrogates, line and paragraph separators.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"})


def line(text: str, limit: int | None = None) -> str:
    """Return the text on one line, with every character that does not print written out."""
    if not text.isprintable():
        text = " ".join(text.split("\n"))
        text = "".join(_escaped(c) if unicodedata.category(c) in _HIDDEN else c for c in text)
    if limit is not None and len(text) > limit:
        text = f"{text[: limit - 3]}..."
    return text


def lines(texts: Iterable[str]) -> str:
    """Return texts for a terminal, each on a line of its own."""
    return "".join(f"{line(text, 4_000)}\n" for text in texts)


def block(text: str) -> str:
    """Do the same, but keep line breaks and tabs."""
    if text.isprintable():
        return text
    return "".join(_escaped(c) if c not in "\n\t" and unicodedata.category(c) in _HIDDEN else c for c in text)


def xml(text: str) -> str:
    """Return the text without the characters that XML 1.0 cannot hold."""
    return "".join(c if _in_xml(ord(c)) else _escaped(c) for c in text)


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _in_xml(code: int) -> bool:
    if code < 0x20:
        return code in (0x9, 0xA, 0xD)
    return not (0x7F <= code <= 0x9F or 0xD800 <= code <= 0xDFFF or code in (0xFFFE, 0xFFFF))

"""Where things stand in a TOML text, and whether it is safe to hand to a TOML reader.

``tomllib`` gives no positions, recurses on nested brackets and takes quadratic time on
long dotted keys. One pass over the text finds each header and statement with its
place (for error lines and for editing pins in place) and refuses what no claims file
needs. Text that is not TOML ends the pass early: the TOML reader then says why.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from dataclasses import dataclass, field

MAX_BYTES = 1_000_000
MAX_STATEMENTS = 30_000
MAX_TABLES = 20_000
MAX_NESTING = 8
MAX_KEY_PARTS = 8
MAX_BARE = 400
MAX_STRINGS = 2_000
MAX_UNQUOTED = 10_000

_SKIP = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_BLANK = re.compile(r"[ \t]*+")
_KEY = re.compile(r"""([A-Za-z0-9_-]++)|("(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')""")
_PIECE = re.compile(
    r'''
    (?P<string>
        """(?:[^"\\]++|\\.|"(?!""))*+"{3,5}
      | \'\'\'(?:[^']++|'(?!\'\'))*+'{3,5}
      | "(?:[^"\\\n]++|\\[^\n])*+"
      | '[^'\n]*+' )
  | (?P<comment>\#[^\n]*+)
  | (?P<open>[\[{])
  | (?P<close>[\]}])
  | (?P<line>\n)
  | (?P<bare>[^"'#\[\]{}\n]++)
    ''',
    re.VERBOSE | re.DOTALL,
)
_RUN = re.compile(rf"[\w+.:\- \t]{{{MAX_BARE + 1},}}")


class UnsafeError(ValueError):
    """Text beyond the limits; ``line`` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        self.line = line
        super().__init__(message)


@dataclass(frozen=True)
class Statement:
    """``key = value``: offsets of the value and of the end of its last line."""

    key: tuple[str, ...]
    line: int
    start: int
    end: int
    line_end: int


@dataclass
class Table:
    """A header (``[a.b]`` or ``[[a.b]]``) and the statements below it; the first has no header."""

    path: tuple[str, ...]
    array: bool
    line: int
    statements: list[Statement] = field(default_factory=list)


def scan(text: str) -> tuple[list[Table], int | None]:
    """Return every table in order, and the line where the text stops being TOML.

    Raises UnsafeError beyond the limits.
    """
    scanner = _Scanner(text)
    return scanner.tables, scanner.run()


class _StrayError(Exception):
    """The text is not TOML from here on."""


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.breaks = [m.start() for m in re.finditer("\n", text)]
        self.tables = [Table((), False, 1)]
        self.statements = 0

    def run(self) -> int | None:
        begin = 0
        try:
            while True:
                begin = self.at = self.skip(_SKIP)
                if self.at >= len(self.text):
                    return None
                if self.text[self.at] == "[":
                    self.header()
                else:
                    self.statement()
        except _StrayError:
            return self.line(begin)

    def line(self, at: int) -> int:
        return bisect_right(self.breaks, at - 1) + 1

    def skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        return match.end() if match else self.at

    def take(self, word: str) -> bool:
        if self.text.startswith(word, self.at):
            self.at += len(word)
            return True
        return False

    def key(self) -> tuple[str, ...]:
        parts: list[str] = []
        while True:
            self.at = self.skip(_BLANK)
            match = _KEY.match(self.text, self.at)
            if match is None:
                raise _StrayError
            parts.append(match.group(1) or _unquoted(match.group(2)))
            if len(parts) > MAX_KEY_PARTS:
                limit = f"a key of more than {MAX_KEY_PARTS} parts"
                raise UnsafeError(limit, self.line(self.at))
            self.at = match.end()
            self.at = self.skip(_BLANK)
            if not self.take("."):
                return tuple(parts)

    def header(self) -> None:
        line = self.line(self.at)
        array = self.take("[[")
        if not array:
            self.take("[")
        path = self.key()
        if not self.take("]]" if array else "]"):
            raise _StrayError
        self.tables.append(Table(path, array, line))
        if len(self.tables) > MAX_TABLES:
            raise UnsafeError(f"more than {MAX_TABLES} tables", line)

    def statement(self) -> None:
        line = self.line(self.at)
        key = self.key()
        if not self.take("="):
            raise _StrayError
        self.at = self.skip(_BLANK)
        start = self.at
        end = self.value()
        self.tables[-1].statements.append(Statement(key, line, start, end, self.at))
        self.statements += 1
        if self.statements > MAX_STATEMENTS:
            raise UnsafeError(f"more than {MAX_STATEMENTS} statements", line)

    def value(self) -> int:
        """Pass over a value and the rest of its line; the end of the value itself."""
        depth = strings = unquoted = 0
        end = self.at
        while self.at < len(self.text):
            match = _PIECE.match(self.text, self.at)
            if match is None:
                raise _StrayError
            kind = match.lastgroup
            if kind == "line" and depth == 0:
                break
            self.at = match.end()
            depth += (kind == "open") - (kind == "close")
            strings += kind == "string"
            unquoted += 0 if kind in ("string", "comment") else self.at - match.start()
            if kind == "bare":
                if _RUN.search(match.group()):
                    limit = f"a number or key of more than {MAX_BARE} characters"
                    raise UnsafeError(limit, self.line(match.start()))
                end = match.start() + len(match.group().rstrip()) if match.group().strip() else end
            elif kind not in ("line", "comment"):
                end = match.end()
            if depth > MAX_NESTING:
                limit = f"brackets nested more than {MAX_NESTING} deep"
                raise UnsafeError(limit, self.line(match.start()))
            if strings > MAX_STRINGS or unquoted > MAX_UNQUOTED:
                raise UnsafeError("one value with too many parts", self.line(match.start()))
        return end


def _unquoted(part: str) -> str:
    try:
        value = tomllib.loads(f"k = {part}")["k"]
    except ValueError as error:
        raise _StrayError from error
    return str(value)

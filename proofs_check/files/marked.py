r"""Claims where formulas live: marked lines of Markdown, LaTeX, reStructuredText and Python files.

    <!-- gateproof-claim silu.bound [certified]: for x in R: abs(silu(x) - relu(x)) <= 0.2785 -->
    % gateproof-claim silu.bound: for x in R: abs(silu(x) - relu(x)) <= 0.2785
    gateproof-claim silu.bound: ...        (a docstring, or behind #)

An id, the pin in brackets if there is one, a colon, and the statement up to the end of the line. In
Markdown a fenced block of the language ``gateproof`` holds claims as a claims file does. Files are
read as text; nothing of them runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateproof.proofs_check.files.claims_text import parse_source, read_bytes
from gateproof.proofs_check.files.places import Places
from gateproof.proofs_check.files.toml_scan import scan
from gateproof.proofs_check.refused import RefusedError

ENDINGS = (".md", ".markdown", ".rst", ".tex", ".py", ".pyi")
MARKDOWN = (".md", ".markdown")
MAX_BYTES = 4_000_000
MARK = "gateproof-claim"
_OPENS = r"(?:<!--|%+|#+:?|//|\.\.|[*>-]|\"\"\"|''')?"
_CLOSES = ("-->", '"""', "'''")
_MARK = re.compile(rf"^[ \t]*{_OPENS}[ \t]*{MARK}\b(?P<rest>.*)$")
_REST = re.compile(r"(?P<id>[^\s:\[\]]++)[ \t]*+(?:\[(?P<pin>[^\]]*)\])?[ \t]*+:[ \t]++(?P<formal>\S.*)")
_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*gateproof(?:[ \t].*)?$")
_OTHER_FENCE = re.compile(r"^[ \t]*(?P<fence>`{3,}|~{3,})(?P<rest>[^`]*)$")
#: A claim behind other text of its line, where it is not read; quoted ones are talk about claims.
_LATE = re.compile(rf"(?<![\w`'\"-]){MARK}[ \t]++[^\s:\[\]]++[ \t]*+(?:\[[^\]]*\])?[ \t]*+:[ \t]++[^\s`'\"]")


@dataclass(frozen=True)
class Marked:
    """A claim's table with where it stands: ``places`` answers for the claim at ``index``."""

    table: dict[str, Any]
    places: Places
    index: int


class LinePlaces(Places):
    """All of a claim stands on one line."""

    def __init__(self, line: int) -> None:
        tables, _ = scan("")
        super().__init__(tables)
        self.at = line

    def line(self, claim: int, reading: int | None = None, key: str | None = None) -> int | None:  # noqa: ARG002
        """The line of the mark."""
        return self.at


class Shifted(Places):
    """Places of a block that begins below the first line of its file."""

    def __init__(self, tables: Any, by: int) -> None:
        super().__init__(tables)
        self.by = by

    def line(self, claim: int, reading: int | None = None, key: str | None = None) -> int | None:
        """The line in the file."""
        found = super().line(claim, reading, key)
        return None if found is None else found + self.by


def is_marked(path: Path) -> bool:
    """Whether claims of a file of that name are marked lines."""
    return path.suffix.lower() in ENDINGS


def read_marked(path: Path, faults: list[str]) -> list[Marked]:
    """The claims of a file, in their order; faults are noted. Raises RefusedError for what is no text."""
    data = read_bytes(path, MAX_BYTES, "a text with claims")
    try:
        # Lines as editors count them: no other character ends one.
        lines = re.split(r"\r\n|\r|\n", data.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        broken = data[: error.start].count(b"\n") + 1
        raise RefusedError(f"{path}:{broken}: is not UTF-8 text") from None
    found: list[Marked] = []
    skipped, outer = 0, ""
    for number, line in enumerate(lines, 1):
        if number <= skipped:
            continue
        fence, other = (
            p.match(line) if path.suffix.lower() in MARKDOWN else None for p in (_FENCE, _OTHER_FENCE)
        )
        if outer:
            # An example that shows a block of claims holds none.
            if other is not None and other["fence"].startswith(outer) and not other["rest"].strip():
                outer = ""
        elif other is not None and fence is None:
            outer = other["fence"]
        elif fence is not None:
            end = _closing(lines, number, fence["fence"])
            if end is None:
                faults.append(f"{path}:{number}: this block of claims is not closed")
                break
            found += _block(path, lines[number : end - 1], number, faults)
            skipped = end
            continue
        mark = _MARK.match(line)
        if mark is not None:
            found += _marked(path, mark["rest"], number, faults)
        elif _LATE.search(line):
            faults.append(f"{path}:{number}: a marked claim has a line to itself, behind a comment's sign")
    if not found and not faults:
        faults.append(f"{path}: holds no claim; mark one as: {MARK} some.id: for x in R: tanh(x)**2 <= 1")
    return found


def _closing(lines: list[str], opened: int, fence: str) -> int | None:
    for number in range(opened + 1, len(lines) + 1):
        text = lines[number - 1].strip()
        if text.startswith(fence) and not text.strip(fence[0]):
            return number
    return None


def _marked(path: Path, rest: str, number: int, faults: list[str]) -> Iterator[Marked]:
    written = rest.strip()
    ending = next((e for e in _CLOSES if written.endswith(e)), "")
    parts = _REST.fullmatch(written.removesuffix(ending).rstrip())
    if parts is None:
        faults.append(
            f"{path}:{number}: write a marked claim as: {MARK} ID [pin]: STATEMENT, the pin if there is one"
        )
        return
    table: dict[str, Any] = {"id": parts["id"], "formal": parts["formal"]}
    if parts["pin"] is not None:
        table["pin"] = parts["pin"].strip()
    yield Marked(table, LinePlaces(number), 0)


def _block(path: Path, lines: list[str], opened: int, faults: list[str]) -> Iterator[Marked]:
    try:
        source = parse_source(path, "\n".join(lines).encode() + b"\n")
    except RefusedError as error:
        faults += [_moved(line, path, opened) for line in error.lines]
        return
    tables = source.data.get("claim", [])
    if (
        set(source.data) != {"claim"}
        or not isinstance(tables, list)
        or not all(isinstance(t, dict) for t in tables)
    ):
        faults.append(f"{path}:{opened}: a block of claims holds [[claim]] tables and nothing else")
        return
    places = Shifted(source.tables, opened)
    yield from (Marked(table, places, index) for index, table in enumerate(tables))


def _moved(line: str, path: Path, by: int) -> str:
    """A fault with the line of the file instead of that of the block."""
    found = re.match(rf"{re.escape(str(path))}:(\d+)(.*)", line, re.DOTALL)
    return line if found is None else f"{path}:{int(found[1]) + by}{found[2]}"

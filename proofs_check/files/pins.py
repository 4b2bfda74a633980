"""Edits pins in a claims file and leaves every other byte as it stands."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateproof.numerics import atomic
from gateproof.proofs_check.claims_file import load
from gateproof.proofs_check.decision_json import is_lasting
from gateproof.proofs_check.files.claim_table import FIRST_NAME
from gateproof.proofs_check.files.claims_text import Source, parse_source, read_source
from gateproof.proofs_check.files.marked import is_marked
from gateproof.proofs_check.files.places import Places
from gateproof.proofs_check.records import ClaimSpec, Decision
from gateproof.proofs_check.refused import RefusedError

_BOM = "\ufeff"


@dataclass(frozen=True)
class Change:
    """A pin to be set: the claim and reading of a file, the old pin and the new one."""

    file: str
    claim: str
    reading: str
    old: str | None
    new: str


def changes(claims: Iterable[ClaimSpec], decisions: Iterable[Decision]) -> list[Change]:
    """List the pins that differ from verdicts worth accepting (not: out of time)."""
    pairs = ((claim, reading) for claim in claims for reading in claim.readings)
    return [
        Change(claim.file, claim.id, reading.name, reading.pin, decision.verdict)
        for (claim, reading), decision in zip(pairs, decisions, strict=True)
        if reading.pin != decision.verdict and is_lasting(decision) and reading.code is None
    ]


def update(wanted: Iterable[Change]) -> None:
    """Write the pins. Raises RefusedError, with no file changed, if one cannot be edited."""
    files: dict[str, list[Change]] = {}
    for change in wanted:
        files.setdefault(change.file, []).append(change)
    written: list[tuple[Path, bytes]] = []
    for name, inside in files.items():
        path = Path(name)
        if is_marked(path):
            raise RefusedError(
                f"{path}: pins of marked claims are written by hand, as [certified] behind the id"
            )
        if not os.access(path, os.W_OK) or not os.access(path.resolve().parent, os.W_OK):
            raise RefusedError(f"{path}: cannot be written, so its pins stay as they are")
        written.append((path, edited(read_source(path), inside).encode()))
    for path, data in written:
        try:
            atomic.write_bytes(path, data)
        except OSError as error:
            raise RefusedError(f"{path}: pins not written: {error.strerror}") from None
    load(Path(name) for name in files)


def edited(source: Source, wanted: Iterable[Change]) -> str:
    """Return the text with its pins set. Raises RefusedError for a layout it cannot edit."""
    plain = source.text.removeprefix(_BOM)
    mark = source.text[: len(source.text) - len(plain)]
    places = Places(source.tables)
    expected = copy.deepcopy(source.data)
    cuts: list[tuple[int, int, str]] = []
    for change in wanted:
        at, number, entry = _find(expected, change, source.path)
        entry["pin"] = change.new
        present = places.statement(at, number, "pin")
        if present is not None:
            cuts.append((present.start, present.end, f'"{change.new}"'))
            continue
        formal = places.statement(at, number, "formal") or places.statement(at, number, "criterion")
        if formal is None:
            raise RefusedError(
                f"{source.path}: {change.claim}: its pin cannot be set in place, as the claim is "
                "written inline; write it as a [[claim]] table"
            )
        start = plain.rfind("\n", 0, formal.start) + 1
        line = plain[start : formal.start]
        margin = line[: len(line) - len(line.lstrip(" \t"))]
        newline = "\r\n" if "\r\n" in plain else "\n"
        end = formal.line_end
        if plain[end - 1 : end + 1] == "\r\n":
            end -= 1
        cuts.append((end, end, f'{newline}{margin}pin = "{change.new}"'))
    for start, end, text in sorted(cuts, reverse=True):
        plain = plain[:start] + text + plain[end:]
    # The TOML reader has the last word on whether only pins changed.
    if parse_source(source.path, plain.encode()).data != expected:
        raise RefusedError(f"{source.path}: its layout is unusual; set the pins by hand")
    return mark + plain


def _find(data: Mapping[str, Any], change: Change, path: Path) -> tuple[int, int | None, dict[str, Any]]:
    """Return the places of a claim and its reading in the file, and the reading's table."""
    for at, claim in enumerate(data.get("claim", [])):
        if claim.get("id") != change.claim:
            continue
        if "reading" not in claim:
            return at, None, claim
        for number, entry in enumerate(claim["reading"]):
            if entry.get("name", FIRST_NAME) == change.reading:
                return at, number, entry
    raise RefusedError(f"{path}: {change.claim} is gone: the file was changed meanwhile")

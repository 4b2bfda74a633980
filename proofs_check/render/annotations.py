"""Workflow commands of GitHub: an annotation at the claim's file and line for each reading not as pinned."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from typing import Any

from gateproof.proofs_check import clean
from gateproof.proofs_check.render import words
from gateproof.proofs_check.render.sarif import RULES
from gateproof.proofs_check.status import readings, state, unreached

#: Hosts whose annotations are known.
HOSTS = ("github",)


def render(document: Mapping[str, Any]) -> str:
    """Return one command a line; empty where all is as pinned."""
    return "".join(f"{line}\n" for line in _lines(document))


def quoted(text: str) -> str:
    """Text that the host prints and does not read, though a paper or a reading is named as a command is."""
    if "##[" not in text and not any(line.lstrip().startswith("::") for line in text.splitlines()):
        return text
    token = secrets.token_hex(16)
    return f"::stop-commands::{token}\n{text}::{token}::\n"


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    for claim, reading in readings(document):
        if state(reading) not in RULES or unreached(reading):
            continue
        level, _ = RULES[state(reading)]
        source = claim.get("source", {})
        place = {"file": source.get("file", ""), "line": str(source.get("line", ""))}
        place["title"] = f"{claim['id']}: {reading['verdict']}"
        given = ",".join(f"{key}={_property(text)}" for key, text in place.items() if text)
        parts = [f"{reading['name']}: {words.pinned(reading)}", reading["formal"]]
        parts += [f"witness: {found}" for found in [words.witness(reading["witness"])] if found]
        parts += [f"true instead: {found}" for found in [words.nearest(reading)] if found]
        parts += [reading["reason"]] if reading["reason"] else []
        yield f"::{level} {given}::{_message(chr(10).join(parts))}"


def _message(text: str) -> str:
    """Text with what ends a command, or opens another, written out."""
    shown = clean.block(text).replace("%", "%25")
    return shown.replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(clean.line(text)).replace(":", "%3A").replace(",", "%2C")

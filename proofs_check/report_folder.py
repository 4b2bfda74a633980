"""Writes a report: its files and the certificates, each there whole or not at all."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from gateproof.numerics import atomic
from gateproof.proofs_check import document, schema
from gateproof.proofs_check.decision_json import lines
from gateproof.proofs_check.guard import Guarded
from gateproof.proofs_check.refused import RefusedError

CERTIFICATES = "certificates"
_OURS = re.compile(r"[0-9a-f]{64}\.json")


def prepare(folder: Path) -> None:
    """Make the folder before the work is done. Raises RefusedError."""
    try:
        (folder / CERTIFICATES).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise RefusedError(f"--out {folder}: cannot be made: {why}") from None
    if (folder / CERTIFICATES).is_symlink():
        raise RefusedError(f"{folder / CERTIFICATES}: is a link to another place; remove it")
    if not os.access(folder, os.W_OK) or not os.access(folder / CERTIFICATES, os.W_OK):
        raise RefusedError(f"--out {folder}: cannot be written to")


def write(found: Guarded, folder: Path) -> dict[str, Any]:
    """Write all files and return the document. Certificates of an older report go."""
    from gateproof.proofs_check.render import html, junit, latex, markdown, sarif

    made, certificates = found.document(document.by_file)
    wrong = schema.faults(made)
    if wrong:
        raise RuntimeError(f"the report breaks its own schema: {wrong[0]}")
    files = {
        "report.json": document.to_text(made),
        "report.md": markdown.render(made),
        "report.html": html.render(made),
        "junit.xml": junit.render(made),
        "report.sarif": sarif.render(made),
        "report.tex": latex.render(made),
    }
    try:
        for name, certificate in certificates.items():
            _put(folder / document.by_file(name), lines(certificate))
        for name, text in files.items():
            _put(folder / name, text)
        for old in (folder / CERTIFICATES).iterdir():
            if _OURS.fullmatch(old.name) and old.stem not in certificates:
                old.unlink()
    except OSError as error:
        raise RefusedError(f"{folder}: cannot be written: {error.strerror}") from None
    return made


def _put(path: Path, text: str) -> None:
    """Write a file of a report. A link in its place goes: what it leads to is none of ours."""
    if path.is_symlink():
        path.unlink()
    atomic.write_text(path, text)

"""``--certificate FILE.json``: the certificate as a file of its own, whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateproof.proofs_check.refused import RefusedError

KINDS = ("range", "integral", "root", "finite", "floating", "parameter-lower-bound", "composite")
MAX_BYTES = 256_000_000


def refuse_early(path: str) -> None:
    """Raise RefusedError for a name that no certificate can be written to."""
    place = Path(path)
    if place.suffix != ".json":
        raise RefusedError(f"--certificate {path}: a certificate is named *.json")
    try:
        missing = not place.absolute().parent.is_dir()
        blocked = (place.exists() or place.is_symlink()) and not _is_certificate(place)
    except (OSError, ValueError) as error:
        raise RefusedError(f"--certificate {path}: {error}") from None
    if missing:
        raise RefusedError(f"--certificate {path}: there is no such folder")
    if blocked:
        raise RefusedError(f"--certificate {path}: is there and is no certificate; it is not overwritten")


def _is_certificate(path: Path) -> bool:
    """Whether the file holds a document that this option writes."""
    from gateproof.proofs_check.files.claims_text import read_bytes

    try:
        found = json.loads(read_bytes(path, MAX_BYTES, "a certificate"))
    except (RefusedError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("kind") in KINDS and "version" in found


def refusal(found: Mapping[str, Any]) -> str:
    """Why there is nothing to be written; empty where the checker accepts the answer's certificate."""
    from gateproof.proofs_check.checker import verify

    certificate = found["certificate"]
    if certificate is None:
        if found.get("verdict") in ("proved", "certified", "refuted"):
            return f"it is {found['verdict']} ({found['method']}), of which there is no certificate"
        return "there is no certificate of this"
    verdict = verify(certificate)
    return "" if verdict.accepted else f"the certificate is rejected ({verdict.reason})"


def fate(path: str) -> str:
    """What becomes of the file that is not written."""
    return "is left as it was" if os.path.lexists(path) else "is not written"


def write(path: str, certificate: Mapping[str, Any]) -> None:
    """Write the file. Raises RefusedError."""
    from gateproof.numerics.atomic import write_text

    try:
        write_text(Path(path), json.dumps(certificate, separators=(",", ":")) + "\n")
    except OSError as error:
        raise RefusedError(f"--certificate {path}: cannot be written: {error.strerror}") from None

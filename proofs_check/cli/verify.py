"""``gateproof verify``: have certificates checked again, by the independent checker."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.parser import Parser, text

HELP = "re-verify certificates with the independent checker (MPFR)"
DESCRIPTION = "Checks certificate files again, without search and without the engine that made them.\n"
MAX_BYTES = 64_000_000


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.add_argument("certificates", nargs="+", type=text, metavar="CERT")


def run(options: argparse.Namespace) -> int:
    """Read all, then verify each."""
    import json

    from gateproof.proofs_check import clean
    from gateproof.proofs_check.refused import FAILED, OK

    documents = [(name, _read(Path(name))) for name in options.certificates]
    results = [{"file": name, **_verified(document)} for name, document in documents]
    if options.json:
        output.put(json.dumps({"certificates": results}, indent=2) + "\n")
    else:
        for result in results:
            word = "accepted" if result["accepted"] else "REJECTED"
            reason = f": {result['reason']}" if result["reason"] else ""
            output.put(clean.line(f"{word}  {result['file']}{reason}", 600) + "\n")
    return OK if all(result["accepted"] for result in results) else FAILED


def _read(path: Path) -> dict[str, Any]:
    import json

    from gateproof.proofs_check.files.claims_text import read_bytes
    from gateproof.proofs_check.refused import RefusedError

    data = read_bytes(path, MAX_BYTES, "a certificate, certificates/*.json")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise RefusedError(f"{path}: is not JSON; a certificate is one JSON document") from None
    if not isinstance(found, dict) or "kind" not in found:
        raise RefusedError(f"{path}: is no certificate; it has no kind")
    return found


def _verified(document: dict[str, Any]) -> dict[str, Any]:
    from gateproof.proofs_check.checker import verify

    try:
        verdict = verify(document)
    except RecursionError:
        return {"accepted": False, "reason": "nested too deeply"}
    return {"accepted": bool(verdict.accepted), "reason": str(verdict.reason)}

"""``gateproof diff``: what changed between two reports."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateproof.proofs_check.cli import output
from gateproof.proofs_check.cli.parser import Parser, text

HELP = "compare two reports (report.json, or the folders that hold them)"
DESCRIPTION = "Lists readings whose statement, verdict, pin or value differs between two reports.\n"
COMPARED = ("formal", "verdict", "pin", "value")
#: Differences in these may stand between a value and none.
LOOSE = ("pin", "value")
#: Claims named where a report alone has them.
MAX_NAMED = 10
MAX_BYTES = 256_000_000


def add_arguments(parser: Parser) -> None:
    """Add what only this command takes."""
    parser.add_argument("old", type=text, metavar="A")
    parser.add_argument("new", type=text, metavar="B")


def run(options: argparse.Namespace) -> int:
    """Compare and print."""
    import json

    from gateproof.proofs_check import clean
    from gateproof.proofs_check.refused import FAILED, OK

    found = differences(_read(Path(options.old)), _read(Path(options.new)))
    if options.json:
        output.put(json.dumps({"schema_version": 1, "differences": found}, indent=2) + "\n")
    else:
        for entry in (
            e for e in found if (e["old"] is not None and e["new"] is not None) or e["what"] in LOOSE
        ):
            place = f"{entry['claim']} ({entry['reading']})"
            change = f"{entry['what']}: {_shown(entry['old'])} -> {_shown(entry['new'])}"
            output.put(clean.line(f"{place}: {change}", 600) + "\n")
        for which, side in (("A", "new"), ("B", "old")):
            alone = [e for e in found if e["what"] not in LOOSE and e[side] is None]
            if alone:
                output.put(clean.line(_only_in(which, alone), 600) + "\n")
        if not found:
            output.put("no difference\n")
    return FAILED if found else OK


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List what differs: claims in the order of the new report, then those that are gone."""
    before, after = _by_name(old), _by_name(new)
    found: list[dict[str, Any]] = []
    for claim, reading in dict.fromkeys([*after, *before]):
        one, two = before.get((claim, reading)), after.get((claim, reading))
        for what in COMPARED if one and two else ("verdict",):
            was, now = (entry[what] if entry else None for entry in (one, two))
            if was != now:
                found.append({"claim": claim, "reading": reading, "what": what, "old": was, "new": now})
    return found


def _only_in(which: str, alone: list[dict[str, Any]]) -> str:
    """Sum up the readings that one report alone has, with the first claims by id."""
    ids = list(dict.fromkeys(entry["claim"] for entry in alone))
    named = ", ".join(ids[:MAX_NAMED]) + (f" and {len(ids) - MAX_NAMED} more" if len(ids) > MAX_NAMED else "")
    what = f"{len(alone)} {'reading' if len(alone) == 1 else 'readings'} of {named}"
    return f"only in {which}: {what}"


def _by_name(document: Mapping[str, Any]) -> dict[tuple[str, str], Mapping[str, Any]]:
    from gateproof.proofs_check.status import readings

    return {(claim["id"], reading["name"]): reading for claim, reading in readings(document)}


def _read(path: Path) -> dict[str, Any]:
    import json

    from gateproof.proofs_check import schema
    from gateproof.proofs_check.files.claims_text import read_bytes
    from gateproof.proofs_check.refused import RefusedError

    if path.is_dir():
        path = path / "report.json"
    data = read_bytes(path, MAX_BYTES, "a report.json")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise RefusedError(f"{path}: is not JSON; name a report.json") from None
    wrong = schema.faults(found)
    if wrong:
        raise RefusedError(f"{path}: is no report: {wrong[0]}")
    document: dict[str, Any] = found
    return document


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return f"[{value['lo']}, {value['hi']}]"
    return "none" if value is None else str(value)

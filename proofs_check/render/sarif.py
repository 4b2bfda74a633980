"""SARIF 2.1.0: a result for each reading that is not as pinned, at the claim's file and line.

Code hosts show these beside the line. Claims of the package have the base GATEPROOF, the package's folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gateproof.proofs_check import clean
from gateproof.proofs_check.render import words
from gateproof.proofs_check.status import readings, state, unreached

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
PACKAGE = "gateproof/"
#: State of a reading: the rule's level and what it means.
RULES = {
    "drift": ("error", "The verdict differs from the one that was accepted."),
    "failed": ("error", "A reading without an accepted verdict is neither proved nor certified."),
    "open": ("warning", "The clock or a stop ended the work before the accepted verdict was reached."),
}


def render(document: Mapping[str, Any]) -> str:
    """Return the log as JSON text, in plain ASCII."""
    results = [
        _result(claim, reading)
        for claim, reading in readings(document)
        if state(reading) in RULES and not unreached(reading)
    ]
    driver = {
        "name": "gateproof",
        "version": document["run"]["versions"]["gateproof"],
        "rules": [
            {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": level}}
            for name, (level, text) in RULES.items()
        ],
    }
    log = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [log]}, indent=2) + "\n"


def _result(claim: Mapping[str, Any], reading: Mapping[str, Any]) -> dict[str, Any]:
    rule = state(reading)
    parts = [f"{claim['id']}, {reading['name']}: {reading['verdict']} ({words.pinned(reading)})"]
    parts += [reading["reason"], words.witness(reading["witness"]), words.nearest(reading)]
    found: dict[str, Any] = {
        "ruleId": rule,
        "level": RULES[rule][0],
        "message": {"text": clean.line("; ".join(part for part in parts if part), 2_000)},
        # The same reading keeps its identity when lines move.
        "partialFingerprints": {"reading/v1": f"{claim['id']}: {reading['name']}"},
    }
    if "source" in claim:
        found["locations"] = [{"physicalLocation": _place(claim["source"])}]
    return found


def _place(source: Mapping[str, Any]) -> dict[str, Any]:
    file = source["file"]
    base = "GATEPROOF" if file.startswith(PACKAGE) else "%SRCROOT%"
    place: dict[str, Any] = {"uri": _uri(file.removeprefix(PACKAGE))}
    if not file.startswith("/"):
        place["uriBaseId"] = base
    return {"artifactLocation": place, "region": {"startLine": source["line"]}}


def _uri(file: str) -> str:
    from urllib.parse import quote

    return ("file://" if file.startswith("/") else "") + quote(file)

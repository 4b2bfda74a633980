"""Readings, settings and decisions as JSON, for worker processes and for the cache."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from gateproof.proofs_check.records import VERDICTS, Controls, Decision, Reading, Settings

#: Reasons that say nothing about a statement: never cached, never pinned.
TIME = "time"
INTERRUPTED = "interrupted"
CRASHED = "the worker process ended"
FAULT = "engine fault"


def canonical(value: object) -> str:
    """Return the one JSON text of a value that hashes are taken of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def lines(value: Mapping[str, Any]) -> str:
    """Return an object as JSON with a line a key: long trees stay out of the way."""
    inner = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value[key])}" for key in value)
    return f"{{\n{inner}\n}}\n"


def digest(value: object) -> str:
    """Return the sha256 of a value's JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def statement_only(reading: Reading) -> Reading:
    """Return what a decision may see: no pin, no name, no prose."""
    return replace(reading, name="", pin=None, meaning="", evidence="", needs="")


def is_lasting(decision: Decision) -> bool:
    """Tell whether the same question would be answered the same way again."""
    passing = (TIME, INTERRUPTED, CRASHED, FAULT)
    return not (decision.verdict in ("inconclusive", "not-run") and decision.reason.startswith(passing))


def question(reading: Reading, settings: Settings) -> dict[str, Any]:
    """Return all that a verdict may depend on; wall clock is not part of it."""
    work = asdict(settings)
    del work["wall_seconds"]
    return {
        "formal": reading.formal,
        "controls": list(reading.controls),
        # As pairs: a definition may use those before it, so their order matters.
        "define": [list(pair) for pair in reading.define.items()],
        "settings": work,
        **({} if reading.proof is None else {"proof": list(reading.proof)}),
        **({} if reading.code is None else {"code": list(reading.code)}),
    }


def reading_from(data: Mapping[str, Any]) -> Reading:
    """Return the reading of a question."""
    return Reading(
        name="",
        formal=data["formal"],
        controls=tuple(data["controls"]),
        define=dict(data["define"]),
        proof=tuple(data["proof"]) if "proof" in data else None,
        code=tuple(data["code"]) if "code" in data else None,
    )


def to_json(decision: Decision) -> dict[str, Any]:
    """Return a decision as plain data."""
    return {
        "verdict": decision.verdict,
        "method": decision.method,
        "trust": list(decision.trust),
        "value": None if decision.value is None else dict(decision.value),
        "witness": None if decision.witness is None else dict(decision.witness),
        "controls": {
            "planted": decision.controls.planted,
            "caught": decision.controls.caught,
            "missed": list(decision.controls.missed),
        },
        "certificate": None if decision.certificate is None else dict(decision.certificate),
        "steps": list(decision.steps),
        "reason": decision.reason,
        "nearest": None if decision.nearest is None else dict(decision.nearest),
    }


def from_json(data: Mapping[str, Any]) -> Decision:
    """Return the decision of plain data. Raises ValueError, KeyError or TypeError."""
    if data["verdict"] not in VERDICTS:
        raise ValueError(f"no verdict: {data['verdict']!r}")
    controls = data["controls"]
    return Decision(
        verdict=data["verdict"],
        method=str(data["method"]),
        trust=tuple(map(str, data["trust"])),
        value=None if data["value"] is None else dict(data["value"]),
        witness=None if data["witness"] is None else dict(data["witness"]),
        controls=Controls(
            int(controls["planted"]), int(controls["caught"]), tuple(map(str, controls["missed"]))
        ),
        certificate=None if data["certificate"] is None else dict(data["certificate"]),
        steps=tuple(map(str, data["steps"])),
        reason=str(data["reason"]),
        nearest=None if data["nearest"] is None else dict(data["nearest"]),
    )

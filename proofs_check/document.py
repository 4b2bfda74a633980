"""report.json's document: the only thing that checks write; the rest is rendered from it.

Timings, versions and the machine stand in ``run``; without it two runs are identical.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gateproof.proofs_check.decision_json import digest
from gateproof.proofs_check.records import VERDICTS, ClaimSpec, Decision, Reading
from gateproof.proofs_check.status import is_drift, readings, set_effective, state

SCHEMA_VERSION = 1
#: The folder of the package's own claims, and how it is called wherever it is installed.
PACKAGED = Path(__file__).resolve().parent, "gateproof/proofs_check/"

Document = dict[str, Any]


def by_hash(name: str) -> str:
    """Name a certificate by its hash alone."""
    return name


def by_file(name: str) -> str:
    """Name a certificate by its file beside the report."""
    return f"certificates/{name}.json"


def build(
    claims: Sequence[ClaimSpec],
    decisions: Sequence[Decision],
    run: Mapping[str, Any],
    naming: Callable[[str], str] = by_hash,
) -> tuple[Document, dict[str, Mapping[str, Any]]]:
    """Return the document, and the certificates by hash.

    ``decisions`` holds one entry a reading, claim after claim.
    """
    certificates: dict[str, Mapping[str, Any]] = {}
    entries: list[Document] = []
    at = 0
    for claim in claims:
        shown: list[Document] = []
        for reading in claim.readings:
            decision = decisions[at]
            at += 1
            name = None
            if decision.certificate is not None:
                name = digest(decision.certificate)
                certificates[name] = decision.certificate
            shown.append(reading_entry(reading, decision, None if name is None else naming(name)))
        entries.append(_claim(claim, shown))
    set_effective(entries)
    document: Document = {"schema_version": SCHEMA_VERSION, "run": dict(run), "counts": {}}
    document["claims"] = entries
    document["counts"] = _counts(document)
    return document, certificates


def to_text(document: Mapping[str, Any]) -> str:
    """Return the document as JSON in plain ASCII, so that it is safe on any terminal."""
    return json.dumps(document, indent=2) + "\n"


def _claim(claim: ClaimSpec, shown: list[Document]) -> Document:
    return {
        "id": claim.id,
        "paper": claim.paper,
        "where": claim.where,
        "says": claim.says,
        "latex": claim.latex,
        "correction": claim.correction,
        "readings": shown,
        **({"source": _source(claim)} if claim.file and claim.line else {}),
        **({"ours": True} if claim.ours else {}),
        **({"uses": list(claim.uses)} if claim.uses else {}),
    }


def _source(claim: ClaimSpec) -> Document:
    """Where a claim stands: in the package, below the working folder, or as its file was named."""
    path = Path(claim.file)
    for base, prefix in (PACKAGED, (Path.cwd().resolve(), "")):
        try:
            return {"file": prefix + path.resolve().relative_to(base).as_posix(), "line": claim.line}
        except ValueError:
            continue
    return {"file": path.as_posix(), "line": claim.line}


def reading_entry(reading: Reading, decision: Decision, certificate: str | None = None) -> Document:
    """Return what the document holds of one reading."""
    controls: Document = {
        "planted": decision.controls.planted,
        "caught": decision.controls.caught,
    }
    if decision.controls.missed:
        controls["missed"] = list(decision.controls.missed)
    entry: Document = {
        "name": reading.name,
        "formal": reading.formal,
        "verdict": decision.verdict,
        "pin": reading.pin,
        "drift": is_drift(reading.pin, decision.verdict, decision.reason),
        "method": decision.method,
        "trust": list(decision.trust),
        "value": None if decision.value is None else dict(decision.value),
        "witness": None if decision.witness is None else dict(decision.witness),
        "controls": controls,
        "certificate": certificate,
        "meaning": reading.meaning,
        "reason": decision.reason,
        "steps": list(decision.steps),
    }
    if decision.nearest is not None:
        entry["nearest"] = dict(decision.nearest)
    if reading.evidence:
        record = {} if decision.evidence is None else {"record": dict(decision.evidence)}
        entry["evidence"] = {"name": reading.evidence, "needs": reading.needs, **record}
    used = _used(reading)
    if used:
        entry["define"] = used
    return entry


def _used(reading: Reading) -> dict[str, str]:
    """Return the claim's own functions that this reading needs, through others or itself."""
    used: dict[str, str] = {}
    texts = [reading.formal]
    # A definition may use those before it only, so one pass from the last to the first finds all.
    for name, text in reversed(list(reading.define.items())):
        if any(re.search(rf"\b{re.escape(name)}\b", other) for other in texts):
            used[name] = text
            texts.append(text)
    return dict(reversed(used.items()))


def _counts(document: Mapping[str, Any]) -> Document:
    papers: dict[str, Document] = {}
    for claim in document["claims"]:
        papers.setdefault(claim["paper"], {"claims": 0})["claims"] += 1
    for paper, counts in papers.items():
        inside = [reading for claim, reading in readings(document) if claim["paper"] == paper]
        counts.update(_tally(inside))
    inside = [reading for _, reading in readings(document)]
    return {"claims": len(document["claims"]), **_tally(inside), "papers": papers}


def _tally(inside: Sequence[Mapping[str, Any]]) -> Document:
    verdicts = Counter(reading["verdict"] for reading in inside)
    states = Counter(state(reading) for reading in inside)
    return {
        "readings": len(inside),
        "verdicts": {verdict: verdicts[verdict] for verdict in VERDICTS},
        **{name: states[name] for name in ("ok", "drift", "failed", "open")},
    }

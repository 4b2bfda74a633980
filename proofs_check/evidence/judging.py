"""Readings that rest on evidence: what is asked of the engine, and what its answer then means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gateproof.proofs_check.evidence import certificates
from gateproof.proofs_check.evidence.criterion import closed, definitions, fingerprint
from gateproof.proofs_check.evidence.record import Record, load, path_of
from gateproof.proofs_check.records import ClaimSpec, Decision, Reading
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula import FormulaError

METHOD = "a criterion fixed before the run, on its record"
#: A criterion that is met is no proof of what it is about.
MEANS = {"proved": "supported", "certified": "supported", "refuted": "unsupported"}


@dataclass(frozen=True)
class Plan:
    """A reading as the engine is to decide it, or the decision where there is nothing to decide."""

    reading: Reading
    decision: Decision | None = None
    record: Record | None = None
    stated: Reading | None = None

    def judged(self, decision: Decision) -> Decision:
        """What the engine's answer means for the reading."""
        if self.record is None:
            return decision
        verdict, reason = MEANS.get(decision.verdict, decision.verdict), decision.reason
        if verdict in ("supported", "unsupported") and not decision.controls.planted:
            verdict, reason = "inconclusive", "no near miss of the criterion is known: give it controls"
        if verdict == "supported" and not self._asks_something():
            verdict, reason = "inconclusive", "no numbers were found on which the criterion fails"
        return replace(
            decision,
            verdict=verdict,
            reason=reason,
            method=METHOD,
            trust=("sampling", *decision.trust),
            steps=(*account(self.record.data), *decision.steps),
            evidence=shown(self.record.data),
            certificate=None,
            nearest=None,
        )

    def _asks_something(self) -> bool:
        # Loaded here: it needs the engine, and most runs have no record.
        from gateproof.proofs_check.evidence.moved import can_fail

        return self.stated is None or self.record is None or can_fail(self.stated, self.record.numbers)


def plan(claim: ClaimSpec, reading: Reading) -> Plan:
    """Look the evidence of a reading up."""
    if not reading.evidence:
        return Plan(reading)
    if not reading.by_criterion:
        found = certificates.fingerprint(path_of(claim.file, reading))
        return Plan(replace(reading, proof=found)) if found else Plan(reading, missing(reading))
    try:
        record = load(path_of(claim.file, reading))
    except RefusedError as error:
        return Plan(reading, missing(reading, f"{error.lines[0]}; "))
    return Plan(reading, missing(reading)) if record is None else on(record, reading)


def on(record: Record, reading: Reading) -> Plan:
    """What is asked of the engine for a reading by criterion, with the numbers of a record."""
    try:
        changed = stale(reading, record)
        if changed:
            return Plan(reading, missing(reading, f"stale record: {changed}; "))
        extra, numbers = definitions(reading), record.numbers
        asked = replace(
            reading,
            formal=closed(reading.formal, extra, numbers),
            controls=tuple(closed(text, extra, numbers) for text in reading.controls),
        )
    except FormulaError as error:
        return Plan(reading, missing(reading, f"{str(error).splitlines()[0]}; "))
    return Plan(asked, record=record, stated=reading)


def missing(reading: Reading, why: str = "") -> Decision:
    """What a reading without evidence that speaks for it is."""
    return Decision("not-run", reason=f"{why}needs {reading.needs}")


def stale(reading: Reading, record: Record) -> str:
    """Why a record no longer speaks for a reading; empty where it does."""
    if fingerprint(reading) not in record.data["criteria"]:
        return "this criterion was not fixed before the run"
    changed = record.changed()
    return f"changed since it was made: {', '.join(changed)}" if changed else ""


def shown(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a report holds of a record."""
    keys = ("name", "about", "producer", "seeds", "ranges", "numbers", "intervals", "inputs", "sha256")
    return {key: data[key] for key in keys}


def account(data: Mapping[str, Any]) -> list[str]:
    """The record in words: where it comes from, ranges, seeds, intervals."""
    lines = [f"{data['about']} ({data['producer']})"]
    lines += [f"range: {name} {text}" for name, text in data["ranges"].items()]
    lines.append(f"seeds: {', '.join(map(str, data['seeds'])) or 'none'}")
    for name, found in data["intervals"].items():
        level = f"level {found['level']}, {found['method']}, n = {found['n']}"
        lines.append(f"{name} in [{found['lo']}, {found['hi']}] ({level})")
    lines += [f"{name} = {text}" for name, text in data["numbers"].items()]
    unseen = [entry["what"] for entry in data["inputs"] if entry["file"] is None]
    return [*lines, *(f"input not at hand, so not hashed again: {what}" for what in unseen)]

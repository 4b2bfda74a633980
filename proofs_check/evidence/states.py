"""All evidence that claims name, and how it stands: current, stale, refused or missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gateproof.proofs_check.evidence.judging import stale
from gateproof.proofs_check.evidence.record import load, path_of
from gateproof.proofs_check.records import ClaimSpec, Reading
from gateproof.proofs_check.refused import RefusedError


@dataclass(frozen=True)
class Evidence:
    """One record or certificate: its file, the readings that name it, its state and why."""

    name: str
    path: Path
    readings: tuple[tuple[str, Reading], ...]
    state: str
    why: str = ""

    @property
    def is_record(self) -> bool:
        """Whether it is a record and not a certificate."""
        return self.path.suffix == ".json"

    @property
    def needs(self) -> list[str]:
        """What makes it, in the words of the readings."""
        return list(dict.fromkeys(reading.needs for _, reading in self.readings))

    @property
    def claims(self) -> list[str]:
        """The claims that name it."""
        return list(dict.fromkeys(claim for claim, _ in self.readings))


def of(claims: Sequence[ClaimSpec]) -> list[Evidence]:
    """All evidence of claims, in their order."""
    found: dict[Path, list[tuple[str, Reading]]] = {}
    for claim in claims:
        for reading in claim.readings:
            if reading.evidence:
                found.setdefault(path_of(claim.file, reading), []).append((claim.id, reading))
    return [state_of(path, tuple(readings)) for path, readings in found.items()]


def state_of(path: Path, readings: tuple[tuple[str, Reading], ...]) -> Evidence:
    """How a piece of evidence stands now."""
    state, why = "missing", ""
    if path.suffix != ".json":
        state = "current" if path.is_file() else "missing"
    else:
        try:
            record = load(path)
            if record is not None:
                whys = [stale(reading, record) for _, reading in readings]
                why = next((text for text in whys if text), "")
                state = "stale" if why else "current"
        except RefusedError as error:
            state, why = "refused", error.lines[0]
    return Evidence(readings[0][1].evidence, path, readings, state, why)

"""Makes evidence once: finds the producer, keeps what it has finished, seals what it found."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from gateproof.proofs_check.decision_json import canonical, digest
from gateproof.proofs_check.evidence.criterion import fingerprint
from gateproof.proofs_check.evidence.record import Record, source, write
from gateproof.proofs_check.records import Reading
from gateproof.proofs_check.refused import RefusedError

GROUP = "gateproof.evidence"
PRODUCERS = Path(__file__).resolve().parent / "producers"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Findings:
    """What a producer found; ``intervals`` hold lo, hi, level, method, n, all numbers exact texts."""

    about: str
    seeds: Sequence[int]
    ranges: Mapping[str, str]
    intervals: Mapping[str, Mapping[str, Any]]
    numbers: Mapping[str, str] = field(default_factory=dict)
    inputs: Sequence[Mapping[str, Any]] = ()


class Kept:
    """Finished steps by name, a line each beside the record, for one question only.

    Lines of another question (other inputs or criteria) and damaged ones count as absent.
    """

    def __init__(self, path: Path, question: str) -> None:
        self.path, self.question = path, question
        self.steps: dict[str, Any] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
            try:
                asked, name, value = json.loads(line)
            except (ValueError, TypeError):
                continue
            if asked == question:
                self.steps[name] = value

    def step(self, name: str, work: Callable[[], Any]) -> Any:
        """The value of a step: what was kept, else what ``work`` gives, which must be plain JSON."""
        if name not in self.steps:
            value = json.loads(json.dumps(work()))
            with self.path.open("a", encoding="utf-8") as out:
                out.write(canonical([self.question, name, value]) + "\n")
            self.steps[name] = value
        return self.steps[name]


def producer(name: str) -> ModuleType | None:
    """The module that makes a piece of evidence, or None."""
    own = name.replace(".", "_").replace("-", "_")
    if (PRODUCERS / f"{own}.py").is_file() and own != "__init__":
        return import_module(f"gateproof.proofs_check.evidence.producers.{own}")
    for entry in metadata.entry_points(group=GROUP):
        if entry.name == name:
            found: ModuleType = entry.load()
            return found
    return None


def part_of(path: Path) -> Path:
    """Where finished steps are kept until the evidence is whole."""
    return path.with_name(path.name + ".part")


def make_record(
    path: Path, readings: Sequence[Reading], module: ModuleType, say: Say, command: str
) -> Record:
    """Fix the criteria of the readings, run the producer, write the record. Raises RefusedError."""
    criteria = {fingerprint(reading): reading.formal for reading in readings}
    if not criteria:
        raise RefusedError(
            f"{path.stem}: no reading has a criterion for it, and one must be fixed before the run"
        )
    inputs = [source(file) for file in module.INPUTS]
    kept = Kept(part_of(path), digest({"criteria": criteria, "inputs": inputs}))
    path.parent.mkdir(parents=True, exist_ok=True)
    started, clock = datetime.now(UTC), time.monotonic()
    found = module.produce(kept, say)
    run = {"started": started.isoformat(timespec="seconds"), "seconds": round(time.monotonic() - clock, 3)}
    return finish(path, found, criteria, inputs, command, run)


def finish(
    path: Path,
    found: Findings,
    criteria: Mapping[str, str],
    inputs: Sequence[Mapping[str, Any]],
    command: str,
    run: Mapping[str, Any],
) -> Record:
    """Write the record of a run, and forget its finished steps. Raises RefusedError."""
    data = json.loads(json.dumps(asdict(found)))
    data["inputs"] = [*inputs, *data["inputs"]]
    record = write(
        path, {"name": path.stem, "producer": command, "criteria": dict(criteria), "run": dict(run), **data}
    )
    part_of(path).unlink(missing_ok=True)
    return record


def make_certificate(path: Path, module: ModuleType, say: Say) -> None:
    """Have a certificate made. Raises RefusedError where the search finds none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    why = module.make(path, say)
    if why is not None:
        raise RefusedError(f"{path.name}: no certificate: {why}")
    part_of(path).unlink(missing_ok=True)

"""What a training run says to claims: its findings as records, decided by the criteria fixed before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateproof.numerics.decimals import decimal_enclosure
from gateproof.proofs_check.evidence import record
from gateproof.proofs_check.evidence.criterion import fingerprint
from gateproof.proofs_check.evidence.judging import Plan, missing, on
from gateproof.proofs_check.evidence.record import Record
from gateproof.proofs_check.records import ClaimSpec, Decision, Reading, Settings
from gateproof.proofs_check.refused import NothingSelectedError, RefusedError

if TYPE_CHECKING:
    from gateproof.kernels.runs.experiment import Finding, Interval

#: Digits of an interval's end; outward.
DIGITS = 6
#: What stands for infinity in a record, whose numbers are finite.
FAR = "1e99"


@dataclass(frozen=True)
class Said:
    """One reading of a claim, and what the run says to it."""

    claim: str
    reading: Reading
    decision: Decision


def readings(claims: Iterable[ClaimSpec]) -> list[tuple[str, Reading]]:
    """The readings that are decided by a criterion, with their claims."""
    return [(c.id, r) for c in claims for r in c.readings if r.evidence and r.by_criterion]


def criteria(claims: Iterable[ClaimSpec]) -> dict[str, dict[str, str]]:
    """All criteria as they are now: a record's name -> sha256 -> text."""
    found: dict[str, dict[str, str]] = {}
    for _, reading in readings(claims):
        found.setdefault(reading.evidence, {})[fingerprint(reading)] = reading.formal
    return found


def data_of(finding: Finding, run: Mapping[str, Any], command: str) -> dict[str, Any]:
    """A finding as the data of a record. Raises RefusedError for one that no record can hold."""
    fixed = run["criteria"].get(finding.record)
    if not fixed:
        raise RefusedError(f"{finding.record}: no claim had a criterion for it when the run began")
    intervals = {
        name: interval_of(found)
        for name, found in finding.intervals.items()
        # One without any end says nothing; a criterion that reads it is not decided.
        if isfinite(found.lo) or isfinite(found.hi)
    }
    if not intervals:
        raise RefusedError(f"{finding.record}: the run gave no interval with an end")
    configuration = {
        "file": None,
        "what": f"configuration {run['preset']}",
        "sha256": run["configuration_hash"],
    }
    return {
        "name": finding.record,
        "about": finding.about,
        "producer": command,
        "criteria": dict(fixed),
        "inputs": [*run["inputs"], configuration],
        "seeds": [int(seed) for seed in finding.seeds],
        "ranges": dict(finding.ranges),
        "numbers": {name: exact(value) for name, value in finding.numbers.items() if isfinite(value)},
        "intervals": intervals,
        "run": {"started": run["started"]},
    }


def interval_of(found: Interval) -> dict[str, Any]:
    """An interval as a record takes it, rounded outwards; an end that is infinite is written as 1e99."""
    ends = {
        "lo": f"-{FAR}" if not isfinite(found.lo) else _rounded(found.lo)["lo"],
        "hi": FAR if not isfinite(found.hi) else _rounded(found.hi)["hi"],
    }
    open_ended = not (isfinite(found.lo) and isfinite(found.hi))
    method = f"{found.method}; {FAR} stands for an infinite end" if open_ended else found.method
    return {**ends, "level": str(found.level), "method": method, "n": found.n}


def _rounded(value: float) -> Mapping[str, str]:
    return decimal_enclosure(Fraction(value), Fraction(value), DIGITS)


def exact(value: float) -> str:
    """A number as exact text that a record takes."""
    if isinstance(value, int):
        return str(value)
    plain = f"{Decimal(repr(value)):f}"
    return plain if len(plain.partition(".")[2]) <= 100 else str(Fraction(value))


def decided(
    findings: Sequence[Finding], run: Mapping[str, Any], claims: Iterable[ClaimSpec], command: str
) -> list[Said]:
    """Every reading that names a finding's record, decided on it as a report would."""
    from gateproof.proofs_check.worker import ENGINE, answer, find

    by_record = {finding.record: finding for finding in findings}
    decide, said = find(ENGINE), []
    for claim, reading in readings(claims):
        if reading.evidence not in by_record:
            continue
        plan = _plan(by_record[reading.evidence], reading, run, command)
        decision = plan.decision or plan.judged(answer(decide, plan.reading, Settings()))
        said.append(Said(claim, reading, decision))
    return said


def _plan(finding: Finding, reading: Reading, run: Mapping[str, Any], command: str) -> Plan:
    try:
        made = record.sealed(data_of(finding, run, command))
    except RefusedError as error:
        return Plan(reading, missing(reading, f"{error.lines[0]}; "))
    return on(Record(made, Path(f"{finding.record}.json")), reading)


def command_of(run: Mapping[str, Any]) -> str:
    """What made a run, in words."""
    return f"gateproof run {run['experiment']} --preset {run['preset']}"


def accept(out: Path, words: Sequence[str], store: Path = record.HERE / "records") -> list[Record]:
    """Seal what a finished run found as records of the package: all of it, or the names that fit a word.

    The findings are made again from the jobs' own files. Raises RefusedError for a run that is none
    of a preset for evidence, not finished, or of other code than there is now; and
    NothingSelectedError.
    """
    from gateproof.kernels.runs import engine
    from gateproof.kernels.runs.refused import RunRefusedError

    try:
        _, outcome = engine.reopened(out)
    except RunRefusedError as error:
        raise RefusedError(error.lines) from None
    run = outcome.run
    if not run["evidence"]:
        raise RefusedError(f"{out}: the preset {run['preset']} of {run['experiment']} is no evidence")
    if not outcome.complete:
        done = f"{len(outcome.jobs)} of {outcome.total} jobs are finished"
        raise RefusedError(f"{out}: {done}; {command_of(run)} --out {out} goes on")
    chosen = [
        finding
        for finding in outcome.findings
        if not words or any(fnmatchcase(finding.record, word) for word in words)
    ]
    if not chosen:
        there = ", ".join(finding.record for finding in outcome.findings) or "nothing"
        raise NothingSelectedError(f"{out}: found {there}")
    made = []
    for one in chosen:
        data = record.sealed(data_of(one, run, command_of(run)))
        made.append(Record(data, store / f"{one.record}.json"))
    changed = made[0].changed()
    if changed:
        raise RefusedError(f"{out}: {', '.join(changed)} changed since the run began; run it anew")
    seconds = round(sum(data["seconds"] for data in outcome.jobs), 3)
    machines = list({str(data["machine"]): data["machine"] for data in outcome.jobs}.values())
    spent = {"started": run["started"], "job_seconds": seconds, "machines": machines}
    return [record.write(one.path, {**one.data, "run": spent}) for one in made]


def entry(said: Said) -> dict[str, Any]:
    """One reading in claims.json."""
    decision, evidence = said.decision, said.decision.evidence
    return {
        "id": said.claim,
        "reading": said.reading.name,
        "record": said.reading.evidence,
        "criterion": said.reading.formal,
        "verdict": decision.verdict,
        "reason": decision.reason.removesuffix(f"; needs {said.reading.needs}"),
        "pin": said.reading.pin,
        "controls": {"planted": decision.controls.planted, "caught": decision.controls.caught},
        "intervals": dict(evidence["intervals"]) if evidence else {},
        "numbers": dict(evidence["numbers"]) if evidence else {},
        "meaning": said.reading.meaning,
    }
